package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// upgrade makes a database of an older schema one of this binary's, in one transaction and after a backup. The caller holds the
// gate; a process that has the older one open is told by its next transaction, which looks at the version or fails for the
// changed columns.
func upgrade(path string, from int) (err error) {
	if err := check(path); err != nil {
		return err
	}
	if err := backup(path, from); err != nil {
		return fmt.Errorf("upgrade from schema version %d: back up first: %w", from, err)
	}
	c, err := dial(path, busyTimeout, "synchronous = FULL", "fullfsync = ON", "temp_store = MEMORY")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }() // also ends a transaction that went wrong
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fail("upgrade_begun")
	if err := c.upgradeToSums(); err != nil {
		return fmt.Errorf("upgrade from schema version %d: %w", from, err)
	}
	if err := c.expect("PRAGMA integrity_check(1)", "ok"); err != nil {
		return err
	}
	fail("upgrade_checked")
	if _, err := c.exec("COMMIT"); err != nil {
		return err
	}
	fail("upgraded")
	return nil
}

// upgradeToSums is what version 2 brought: checksums, and that no stream has a version twice.
func (c *conn) upgradeToSums() error {
	err := c.query("SELECT stream, version, place FROM (SELECT stream, version, row_number() OVER (PARTITION BY stream ORDER BY seq) AS place "+
		"FROM events) WHERE version <> place LIMIT 1", func(row []driver.Value) error {
		return &DamagedError{c.path, fmt.Errorf("event %v of stream %q has version %v", row[2], row[0], row[1])}
	})
	if err != nil {
		return err
	}
	err = c.query("SELECT count(*), max(seq) FROM events HAVING count(*) <> max(seq)", func(row []driver.Value) error {
		return &DamagedError{c.path, fmt.Errorf("it has %v events and the last is %v: %w", row[0], row[1], errGap)}
	})
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"ALTER TABLE records ADD COLUMN sum INTEGER NOT NULL DEFAULT -1",
		"ALTER TABLE events ADD COLUMN sum INTEGER NOT NULL DEFAULT -1",
		"DROP INDEX events_stream",
		uniqueVersion,
	} {
		if _, err := c.exec(statement); err != nil {
			return err
		}
	}
	fail("upgrade_altered")
	err = c.sumRows("records", "key, value, rev", func(row []driver.Value) int64 {
		return recordSum(row[0].(string), row[1].([]byte), row[2].(int64)) // of these types, as the check before has seen
	})
	if err != nil {
		return err
	}
	err = c.sumRows("events", "seq, stream, version, id, type, data, at", func(row []driver.Value) int64 {
		return eventSum(row[0].(int64), row[1].(string), row[2].(int64), row[3].(string), row[4].(string), row[5].([]byte), row[6].(int64))
	})
	if err != nil {
		return err
	}
	_, err = c.exec(fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
	return err
}

// sumRows fills the column of checksums, some rows at a time.
func (c *conn) sumRows(table, columns string, sum func(row []driver.Value) int64) error {
	width := strings.Count(columns, ",") + 1
	type summed struct{ rowid, sum driver.Value }
	for last := driver.Value(int64(-1 << 63)); ; {
		var rows []summed
		err := c.query("SELECT "+columns+", rowid FROM "+table+" WHERE rowid > ? ORDER BY rowid LIMIT 1000", func(row []driver.Value) error {
			last = row[width]
			rows = append(rows, summed{last, sum(row[:width])})
			return nil
		}, last)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if _, err := c.exec("UPDATE "+table+" SET sum = ? WHERE rowid = ?", row.sum, row.rowid); err != nil {
				return err
			}
		}
	}
}
