//go:build !windows

package tracker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace puts data in the place of the file at path, durably, if its content is still old; else it returns errSaved.
func replace(path string, old, data []byte, sync func(*os.File) error) (err error) {
	dir := filepath.Dir(path)
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer func() {
		if _, stranded := errors.AsType[*strandedError](err); stranded {
			_ = pending.File.Close() // not Cleanup, which would remove somebody's save
			return
		}
		_ = pending.Cleanup() // what is left is swept later
	}()
	if _, err := pending.Write(data); err != nil {
		return err
	}
	if err := sync(pending.File); err != nil {
		return fmt.Errorf("sync %s: %w", pending.Name(), err)
	}
	if err := takePlace(pending, path, old, data); err != nil {
		return err
	}
	return syncDir(dir, sync)
}

// strandedError says that a save by somebody else was displaced and could not be put back. The save is kept.
type strandedError struct {
	path  string
	cause error
}

func (e *strandedError) Error() string {
	return fmt.Sprintf("a save by somebody else is in %s, move it back by hand: %v", e.path, e.cause)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string, sync func(*os.File) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(sync(d), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}

// renameOver renames the pending file over path after a last look. A save between look and rename would be lost, which only
// an exchange can prevent.
func renameOver(pending *renameio.PendingFile, path string, old []byte) error {
	if !holds(path, old) {
		return errSaved
	}
	return pending.CloseAtomicallyReplace()
}
