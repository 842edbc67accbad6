package sink

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aesop/internal/filelock"
	"aesop/statestore/outbox"
)

// Mirror is an outbox.Sink that keeps the newest intent of each subject in a file, as an outbox.Document: folders of subjects in one folder, and
// in each the file status.json. It is on the disk when Send returns nil, and readers see the one before it or the whole of it.
//
// The file never goes back, in whatever order and from however many processes it is written: an intent whose seq is not greater than that of the
// file is skipped. A file that is not an outbox.Document of its subject is replaced; one of a newer version is an error. Files are private to
// their user.
type Mirror struct {
	dir string
}

// NewMirror returns the mirror in a folder, which is made where it is missing.
func NewMirror(dir string) *Mirror { return &Mirror{dir: dir} }

// Path is where the file of a subject is.
func (m *Mirror) Path(subject string) string {
	return filepath.Join(m.dir, escape(subject), "status.json")
}

// Send implements outbox.Sink.
func (m *Mirror) Send(ctx context.Context, i outbox.Intent) error {
	text, err := outbox.Document(i)
	if err != nil {
		return err
	}
	if err := m.write(ctx, i, append(text, '\n')); err != nil {
		return fmt.Errorf("mirror %s: %w", i.Subject, err)
	}
	return nil
}

// write reads, compares and writes while it holds the subject's lock, and nothing else.
func (m *Mirror) write(ctx context.Context, i outbox.Intent, text []byte) (err error) {
	path := m.Path(i.Subject)
	unlock, err := filelock.Lock(ctx, filepath.Join(filepath.Dir(path), ".lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	seq, err := seqOf(path, i.Subject)
	if err != nil {
		return err
	}
	if seq >= i.Seq {
		return syncNew(path) // whoever wrote it may have died before that
	}
	return replace(path, text)
}

// seqOf is the seq in the file of a subject, 0 where there is none that can be trusted.
func seqOf(path, subject string) (int, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 2*outbox.MaxSize))
	if err != nil {
		return 0, err
	}
	there, err := outbox.ParseDocument(text)
	switch {
	case errors.Is(err, outbox.ErrNewer):
		return 0, fmt.Errorf("%s: %w", path, err)
	case err != nil || there.Subject != subject:
		return 0, nil
	}
	return there.Seq, nil
}

// replace puts text in the place of a file, and is alone in its folder: temporary files there are of writers that died.
func replace(path string, text []byte) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, left := range entries {
		if strings.HasPrefix(left.Name(), ".status-") {
			if err := os.Remove(filepath.Join(dir, left.Name())); err != nil {
				return err
			}
		}
	}
	temp, err := os.CreateTemp(dir, ".status-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return syncNew(path)
}

// escape is a name for a folder that no other subject has, on any file system: all but small letters, digits, _ and - is written as % and two
// digits in hex; of a long one only the beginning, with its digest.
func escape(subject string) string {
	var name strings.Builder
	for _, b := range []byte(subject) {
		if b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '-' {
			name.WriteByte(b)
		} else {
			fmt.Fprintf(&name, "%%%02X", b)
		}
	}
	if name.Len() > 200 {
		return fmt.Sprintf("%s%%x%x", name.String()[:120], sha256.Sum256([]byte(subject)))
	}
	return name.String()
}
