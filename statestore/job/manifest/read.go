package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Want is whose manifest is looked for. Both are required.
type Want struct {
	Job     string
	Attempt string
}

// Verified is a manifest whose report was found to be the declared one. Only Read makes one that Prove accepts.
type Verified struct {
	Job         string
	Attempt     string // both as wanted
	Session     string // as declared, like FinalizedAt and SideEffects: words of the agent's
	Report      string // path of the file that was read, absolute
	SHA256      string // of what was read
	Size        int64  // of what was read, in bytes
	FinalizedAt time.Time
	SideEffects []SideEffect
	read        bool
}

// Read reads the manifest in the folder of an attempt and the report beside it. Its error is ErrNone where there is no manifest, an *Error
// where there is one that does not count, and any other where nobody could look: such as a missing folder, or an ended ctx.
//
// It may run beside a Finalize, and then returns the old, the new, none or a void one.
func Read(ctx context.Context, dir string, want Want) (Verified, error) {
	if want.Job == "" || want.Attempt == "" {
		return Verified{}, errors.New("read a manifest: no job or no attempt is wanted")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Verified{}, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Verified{}, fmt.Errorf("read a manifest: %w", err)
	}
	defer func() { _ = root.Close() }()
	file, m, err := open(root, filepath.Join(dir, Name))
	if err != nil {
		return Verified{}, err
	}
	defer file.close()
	if err := m.belongs(dir, want); err != nil {
		return Verified{}, err
	}
	if err := m.matches(ctx, root, dir); err != nil {
		return Verified{}, err
	}
	if err := file.unchanged(); err != nil {
		return Verified{}, verdict(filepath.Join(dir, Name), err, ErrVoid)
	}
	return Verified{Job: m.Job, Attempt: m.Attempt, Session: m.Session, Report: filepath.Join(dir, ReportName), SHA256: m.SHA256, Size: m.Size,
		FinalizedAt: m.FinalizedAt, SideEffects: m.SideEffects, read: true}, nil
}

// open opens and parses the manifest.
func open(root *os.Root, path string) (*held, Manifest, error) {
	file, err := hold(root, Name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Manifest{}, fmt.Errorf("%s: %w", path, ErrNone)
	}
	if err != nil {
		return nil, Manifest{}, verdict(path, err, ErrDamaged)
	}
	data, err := io.ReadAll(io.LimitReader(file.file, MaxManifest+1))
	var m Manifest
	switch {
	case err != nil:
		err = fmt.Errorf("read %s: %w", path, err)
	case len(data) > MaxManifest:
		err = &Error{File: path, Message: fmt.Sprintf("has more than %d bytes", MaxManifest), Err: ErrDamaged}
	default:
		m, err = parse(path, data)
	}
	if err != nil {
		file.close()
		return nil, Manifest{}, err
	}
	return file, m, nil
}

// belongs checks whose manifest it is. The path of the report is compared and never followed.
func (m Manifest) belongs(dir string, want Want) error {
	file := filepath.Join(dir, Name)
	switch {
	case m.Job != want.Job:
		return &Error{File: file, Field: "job", Message: fmt.Sprintf("is %q, wanted is %q", m.Job, want.Job), Err: ErrOther}
	case m.Attempt != want.Attempt:
		return &Error{File: file, Field: "attempt", Message: fmt.Sprintf("is %q, wanted is %q", m.Attempt, want.Attempt), Err: ErrOther}
	case filepath.Clean(m.Report) == filepath.Join(dir, ReportName):
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.Clean(m.Report) == filepath.Join(real, ReportName) {
		return nil // the folder has several names
	}
	return &Error{File: file, Field: "report", Message: fmt.Sprintf("names %s and not the file beside it", m.Report), Err: ErrVoid}
}

// matches checks that the report beside the manifest is the declared one.
func (m Manifest) matches(ctx context.Context, root *os.Root, dir string) error {
	path := filepath.Join(dir, ReportName)
	report, err := hold(root, ReportName, os.O_RDONLY)
	if err != nil {
		return verdict(path, err, ErrVoid)
	}
	defer report.close()
	if size := report.info.Size(); size != m.Size {
		return &Error{File: path, Field: "size", Message: fmt.Sprintf("has %d bytes, declared are %d", size, m.Size), Err: ErrVoid}
	}
	sum, err := report.hash(ctx, MaxReport)
	if err == nil {
		err = report.unchanged()
	}
	if err != nil {
		return verdict(path, err, ErrVoid)
	}
	if sum != m.SHA256 {
		return &Error{File: path, Field: "sha256", Message: fmt.Sprintf("has hash %s, declared is %s", sum, m.SHA256), Err: ErrVoid}
	}
	return nil
}

// verdict is an *Error of the given kind where err says something about the file, and err where nobody could look at it.
func verdict(path string, err, kind error) error {
	for _, known := range []error{errNotRegular, errChanged, errTooLarge} {
		if errors.Is(err, known) {
			return &Error{File: path, Message: known.Error(), Err: kind}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{File: path, Message: "is not there", Err: kind}
	}
	return fmt.Errorf("read %s: %w", path, err)
}
