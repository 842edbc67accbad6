package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
)

// thorough is up to what size of a database Open compares every index with its table, which takes about a second for as much.
// Of a larger one it compares those of the records; the events' are compared where they are used: a version that is missing
// or leads elsewhere is a DamagedError then.
const thorough = 64 << 20

// examine refuses what is not a whole database of ours and returns its schema version. It writes nothing.
func examine(path string) (version int, err error) {
	c, err := dialReadOnly(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	id, _, err := c.integer("PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	if id != applicationID {
		return 0, errors.New("it is not a state store of aesop")
	}
	n, _, err := c.integer("PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	if n > schemaVersion || n < 1 {
		return 0, &SchemaError{Path: path, Found: int(n), Known: schemaVersion}
	}
	return int(n), nil
}

// check looks for damage. It writes nothing.
func check(path string) (err error) {
	c, err := dialReadOnly(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.checkSize(); err != nil {
		return err
	}
	if err := c.expect("PRAGMA journal_mode", "wal"); err != nil {
		return err
	}
	return c.checkContent()
}

func (c *conn) checkContent() error {
	file, err := os.Stat(c.path)
	if err != nil {
		return err
	}
	checks := []string{"PRAGMA integrity_check(1)"}
	if file.Size() > thorough {
		checks = []string{"PRAGMA quick_check(1)", "PRAGMA integrity_check('records')"}
	}
	for _, query := range checks {
		if err := c.expect(query, "ok"); err != nil {
			return err
		}
	}
	return nil
}

// expect asks for one word.
func (c *conn) expect(query, want string) error {
	return c.query(query, func(row []driver.Value) error {
		if row[0] != want {
			return &DamagedError{c.path, fmt.Errorf("%s says %v and not %s", query, row[0], want)}
		}
		return nil
	})
}

// checkSize refuses a file that ends within a page, which SQLite would fill up with zeroes. With a log beside it the rest may
// be there.
func (c *conn) checkSize() error {
	if log, err := os.Stat(c.path + "-wal"); err == nil && log.Size() > 0 {
		return nil
	}
	file, err := os.Stat(c.path)
	if err != nil {
		return err
	}
	page, _, err := c.integer("PRAGMA page_size")
	if err != nil {
		return err
	}
	if page == 0 || file.Size()%page != 0 {
		return &DamagedError{c.path, fmt.Errorf("it is truncated: %d bytes are no whole pages of %d", file.Size(), page)}
	}
	return nil
}
