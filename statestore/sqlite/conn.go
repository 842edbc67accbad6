package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// conn is one connection with its prepared statements. It talks to the driver and not to database/sql, whose pool, locks and
// conversions would cost a grouped transaction a fifth of its time. Only one goroutine at a time may use it.
type conn struct {
	path       string
	raw        driver.Conn
	statements map[string]*statement
}

type statement struct {
	prepared
	row []driver.Value // of the size of the answer; nil until that is known
}

type prepared interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// dial opens an existing database file.
func dial(path string, pragmas ...string) (*conn, error) { return dialMode(path, "rw", pragmas...) }

// dialReadOnly opens a file so that not even closing it writes what a log still holds into it.
func dialReadOnly(path string) (*conn, error) { return dialMode(path, "ro", busyTimeout) }

func dialMode(path, mode string, pragmas ...string) (*conn, error) {
	raw, err := new(sqlite.Driver).Open(uri(path, mode))
	if err != nil {
		return nil, err
	}
	c := &conn{path: path, raw: raw, statements: map[string]*statement{}}
	for _, pragma := range pragmas {
		if err := c.query("PRAGMA "+pragma, func([]driver.Value) error { return nil }); err != nil {
			return nil, errors.Join(fmt.Errorf("set %s: %w", pragma, err), c.close())
		}
	}
	return c, nil
}

// uri names a file in SQLite's own syntax, in which modes other than rwc mean that a missing file is not made.
func uri(path, mode string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/… on Windows
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=" + mode}).String()
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// prepare returns the statement of a query, which is one of a few constants.
func (c *conn) prepare(query string) (*statement, error) {
	if s, ok := c.statements[query]; ok {
		return s, nil
	}
	raw, err := c.raw.Prepare(query)
	if err != nil {
		return nil, err
	}
	p, ok := raw.(prepared)
	if !ok {
		return nil, fmt.Errorf("the driver's statement is an unexpected %T", raw)
	}
	s := &statement{prepared: p}
	c.statements[query] = s
	return s, nil
}

// exec runs a query that returns nothing and says how many rows it changed.
func (c *conn) exec(query string, args ...driver.Value) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, c.explain(err)
	}
	result, err := s.ExecContext(context.Background(), named(args))
	if err != nil {
		return 0, c.explain(err)
	}
	return result.RowsAffected()
}

// query calls row for each row of the answer; row must not keep the slice nor run queries.
func (c *conn) query(query string, row func([]driver.Value) error, args ...driver.Value) error {
	return c.explain(c.rows(query, row, args))
}

func (c *conn) rows(query string, row func([]driver.Value) error, args []driver.Value) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), named(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if s.row == nil {
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		switch err := rows.Next(s.row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := row(s.row); err != nil {
			return err
		}
	}
}

// integer returns the first column of the only row of an answer. Where there is none, or a null, found is false.
func (c *conn) integer(query string, args ...driver.Value) (n int64, found bool, err error) {
	err = c.query(query, func(row []driver.Value) error {
		if row[0] == nil { // what max says of no rows
			return nil
		}
		if n, found = row[0].(int64); !found {
			return fmt.Errorf("%T: %w", row[0], errMalformed)
		}
		return nil
	}, args...)
	return n, found, err
}

func named(args []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return out
}
