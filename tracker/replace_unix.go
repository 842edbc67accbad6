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
func replace(path string, old, data []byte, sync func(*os.File) error) error {
	dir := filepath.Dir(path)
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer func() { _ = pending.Cleanup() }() // closes; what is left under its first name is ours, and swept later
	if _, err := pending.Write(data); err != nil {
		return err
	}
	if err := sync(pending.File); err != nil {
		return fmt.Errorf("sync %s: %w", pending.Name(), err)
	}
	return takePlace(pending.Name(), path, old, data, func() error { return syncDir(dir, sync) })
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
