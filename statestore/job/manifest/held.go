package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

var (
	errNotRegular = errors.New("is not a regular file")
	errChanged    = errors.New("changed while it was read")
	errTooLarge   = errors.New("is too large")
)

// held is an open regular file together with the name under which it was found.
type held struct {
	root *os.Root
	name string
	file *os.File
	info fs.FileInfo // when it was opened
}

// hold opens a regular file. Somebody else owns the folder: the file is looked at before, so that no device is touched, and after it is
// open, for it can have been swapped. It does not block on a fifo.
func hold(root *os.Root, name string, flag int) (*held, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, errNotRegular
	}
	file, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = errChanged
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &held{root: root, name: name, file: file, info: info}, nil
}

// unchanged is nil where the file is still what it was and stands under its name, and errChanged where not. A clock of the file system
// that stands still between two writes hides the second, as does one that is set back; on Linux the time of the last change, which nobody
// can set, is compared too.
func (h *held) unchanged() error {
	now, err := h.file.Stat()
	if err != nil {
		return err
	}
	named, err := h.root.Lstat(h.name)
	if errors.Is(err, fs.ErrNotExist) {
		return errChanged
	}
	if err != nil {
		return err
	}
	if !os.SameFile(now, named) || now.Size() != h.info.Size() || !now.ModTime().Equal(h.info.ModTime()) || changeTime(now) != changeTime(h.info) {
		return errChanged
	}
	return nil
}

// hash reads the file to its end, but not more than limit bytes.
func (h *held) hash(ctx context.Context, limit int64) (sum string, err error) {
	if h.info.Size() > limit {
		return "", errTooLarge
	}
	digest := sha256.New()
	block := make([]byte, 256<<10)
	for size := int64(0); ; {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := h.file.Read(block)
		digest.Write(block[:n])
		if size += int64(n); size > h.info.Size() {
			return "", errChanged
		}
		if err == io.EOF {
			if size != h.info.Size() {
				return "", errChanged
			}
			return hex.EncodeToString(digest.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

func (h *held) close() { _ = h.file.Close() } // nothing was written through it
