package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// backup leaves a whole and consistent copy of a database beside it, under a name that says its schema version. The caller holds
// the gate. A backup that is there stays: one of the same content serves again, otherwise the new one is numbered.
func backup(path string, version int) error {
	unfinished := fmt.Sprintf("%s.v%d.backup.new", path, version)
	if err := removeDatabase(unfinished); err != nil { // of a backup that was killed
		return err
	}
	if err := copyDatabase(path, unfinished); err != nil {
		return errors.Join(err, removeDatabase(unfinished))
	}
	fail("backup_written")
	for n := 1; ; n++ {
		target := fmt.Sprintf("%s.v%d.backup", path, version)
		if n > 1 {
			target = fmt.Sprintf("%s.%d", target, n)
		}
		switch same, err := sameContent(target, unfinished); {
		case errors.Is(err, fs.ErrNotExist): // nobody else makes it, as the gate is ours
			if err := os.Rename(unfinished, target); err != nil {
				return err
			}
			fail("backup_renamed")
			if err := syncDir(filepath.Dir(path)); err != nil {
				return err
			}
			fail("backed_up")
			return nil
		case err != nil:
			return err
		case same:
			return removeDatabase(unfinished)
		}
	}
}

// copyDatabase writes a copy that is whole and on the disk when it returns, and that an older binary opens.
func copyDatabase(path, to string) error {
	source, err := dialReadOnly(path)
	if err != nil {
		return err
	}
	// The file is made first for its mode; VACUUM fills one that is empty.
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(err, source.close())
	}
	if err := file.Close(); err != nil {
		return errors.Join(err, source.close())
	}
	fail("backup_file")
	_, err = source.exec("VACUUM INTO ?", to)
	if err := errors.Join(err, source.close()); err != nil {
		return err
	}
	made, err := dial(to, "synchronous = FULL", "fullfsync = ON", "journal_mode = WAL")
	if err != nil {
		return err
	}
	if err := errors.Join(made.expect("PRAGMA integrity_check(1)", "ok"), made.close()); err != nil {
		return err
	}
	file, err = os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// sameContent compares two files that nobody has open.
func sameContent(a, b string) (bool, error) {
	first, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer first.Close()
	second, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer second.Close()
	left, right := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, errA := io.ReadFull(first, left)
		m, errB := io.ReadFull(second, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return false, err
			}
		}
		if errA != nil {
			return true, nil
		}
	}
}
