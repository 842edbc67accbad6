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

const (
	schemaVersion = 1          // of this binary, in the database's user_version
	applicationID = 0x6165736f // "aeso": tells our databases from other programs'
)

// schema makes an empty database. Keys and streams are text so that people can look with any SQLite program; text compares by
// its bytes. An index on stream holds seq as well, so it orders the events of a stream. The only row of deleted is the greatest
// revision that a deleted record had: new records begin above it, so that no key has a revision twice.
func schema() []string {
	return []string{
		"CREATE TABLE records (key TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL, rev INTEGER NOT NULL) STRICT",
		"CREATE TABLE events (seq INTEGER PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL, id TEXT NOT NULL, " +
			"type TEXT NOT NULL, data BLOB NOT NULL, at INTEGER NOT NULL) STRICT",
		"CREATE INDEX events_stream ON events (stream)",
		"CREATE UNIQUE INDEX events_id ON events (stream, id) WHERE id <> ''",
		"CREATE TABLE deleted (rev INTEGER NOT NULL) STRICT",
		"INSERT INTO deleted VALUES (0)",
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion),
	}
}

// SchemaError says that a database is not of the schema that this binary knows.
type SchemaError struct {
	Path  string
	Found int // in the database
	Known int // to this binary
}

func (e *SchemaError) Error() string {
	if e.Found > e.Known {
		return fmt.Sprintf("%s has schema version %d and this binary knows %d: use a newer binary", e.Path, e.Found, e.Known)
	}
	return fmt.Sprintf("%s has schema version %d, which this binary (version %d) does not know", e.Path, e.Found, e.Known)
}

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
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} { // of a creation that was killed
		if err := os.Remove(unfinished + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	file, err := os.OpenFile(unfinished, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := fill(unfinished); err != nil {
		return errors.Join(err, os.Remove(unfinished))
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func fill(path string) (err error) {
	c, err := dial(path, "synchronous = FULL", "journal_mode = WAL")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }() // the last connection moves all into the file and syncs it
	statements := append(append([]string{"BEGIN IMMEDIATE"}, schema()...), "COMMIT")
	for _, statement := range statements {
		if _, err := c.exec(statement); err != nil {
			return err
		}
	}
	return nil
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

// check refuses what is not a whole database of ours and of this version. It writes nothing.
func (c *conn) check(path string) error {
	id, err := c.integer("PRAGMA application_id")
	if err != nil {
		return err
	}
	if id != applicationID {
		return errors.New("it is not a state store of aesop")
	}
	version, err := c.integer("PRAGMA user_version")
	if err != nil {
		return err
	}
	if version != schemaVersion {
		return &SchemaError{Path: path, Found: int(version), Known: schemaVersion}
	}
	if err := c.checkSize(path); err != nil {
		return err
	}
	if err := c.expect("PRAGMA journal_mode", "wal"); err != nil {
		return err
	}
	return c.expect("PRAGMA quick_check(1)", "ok")
}

// expect asks for one word.
func (c *conn) expect(query, want string) error {
	return c.query(query, func(row []driver.Value) error {
		if row[0] != want {
			return fmt.Errorf("%s says %v and not %s", query, row[0], want)
		}
		return nil
	})
}

// checkSize refuses a file that ends within a page, which SQLite would fill up with zeroes. With a log beside it the rest may
// be there.
func (c *conn) checkSize(path string) error {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil
	}
	file, err := os.Stat(path)
	if err != nil {
		return err
	}
	page, err := c.integer("PRAGMA page_size")
	if err != nil {
		return err
	}
	if file.Size()%page != 0 {
		return fmt.Errorf("it is truncated: %d bytes are no whole pages of %d", file.Size(), page)
	}
	return nil
}
