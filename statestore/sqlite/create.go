package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// create makes the database beside path and renames it there when it is whole, so that no crash leaves half of one. The caller
// holds the gate.
func create(path string) (err error) {
	switch _, err := os.Stat(path); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	for _, left := range []string{path + "-wal", path + "-journal"} {
		if _, err := os.Lstat(left); err == nil {
			return fmt.Errorf("the database is gone but %s is there: restore it, or remove that file to start anew", left)
		}
	}
	unfinished := path + ".new"
	if err := removeDatabase(unfinished); err != nil { // of a creation that was killed
		return err
	}
	file, err := os.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	fail("create_file")
	if err := fill(unfinished); err != nil {
		return errors.Join(err, removeDatabase(unfinished))
	}
	fail("create_filled")
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	fail("create_renamed")
	if err := syncDir(filepath.Dir(path)); err != nil {
		return err
	}
	fail("created")
	return nil
}

func fill(path string) (err error) {
	c, err := dial(path, "synchronous = FULL", "fullfsync = ON", "journal_mode = WAL")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	for _, statement := range append([]string{"BEGIN IMMEDIATE"}, schema()...) {
		if _, err := c.exec(statement); err != nil {
			return err
		}
	}
	fail("create_filling")
	if _, err := c.exec("COMMIT"); err != nil {
		return err
	}
	return c.emptyLog()
}

// emptyLog moves all into the file, so that it is whole without a log beside it. Closing does that too, but says nothing where the
// disk is full.
func (c *conn) emptyLog() error {
	return c.query("PRAGMA wal_checkpoint(TRUNCATE)", func(row []driver.Value) error {
		if row[0] != int64(0) {
			return fmt.Errorf("%s: another program uses it", c.path)
		}
		return nil
	})
}

// removeDatabase removes a database that nobody uses and all that belongs to it.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// makeDir makes a directory and its parents where they are missing, durably: what is synced within a directory is lost with it.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no such call
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
