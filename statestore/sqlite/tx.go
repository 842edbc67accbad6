package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"aesop/statestore"
)

var errOver = errors.New("the transaction is over")

// tx is one caller's transaction. In a View it has no group and is used as a Reader only.
type tx struct {
	conn    *conn
	group   *group
	now     time.Time
	over    bool
	failure error // the first of the database itself: nothing of this transaction may be kept after it
}

func (t *tx) end() { t.over = true }

// fail keeps err and names what was attempted.
func (t *tx) fail(what, name string, err error) error {
	err = fmt.Errorf("%s %q: %w", what, name, err)
	if t.failure == nil {
		t.failure = err
	}
	return err
}

func (t *tx) Now() time.Time { return t.now }

func (t *tx) Get(k statestore.Key) (statestore.Record, error) {
	if t.over {
		return statestore.Record{}, errOver
	}
	found := false
	r := statestore.Record{Key: k}
	err := t.conn.query("SELECT value, rev FROM records WHERE key = ?", func(row []driver.Value) error {
		found = true
		r.Value, _ = row[0].([]byte) // an empty one comes as nil
		r.Rev = statestore.Rev(row[1].(int64))
		return nil
	}, string(k))
	if err != nil {
		return statestore.Record{}, t.fail("get", string(k), err)
	}
	if !found {
		return statestore.Record{}, fmt.Errorf("record %q: %w", k, statestore.ErrNotFound)
	}
	return r, nil
}

// rev returns the revision of a record, or 0 where there is none.
func (t *tx) rev(k statestore.Key) (int64, error) {
	return t.conn.integer("SELECT rev FROM records WHERE key = ?", string(k))
}

func (t *tx) Put(k statestore.Key, value []byte, ifRev statestore.Rev) (statestore.Rev, error) {
	if t.over {
		return 0, errOver
	}
	if err := checkName("key", string(k)); err != nil {
		return 0, fmt.Errorf("put: %w", err)
	}
	if ifRev == statestore.Any {
		rev, err := t.rev(k)
		if err != nil {
			return 0, t.fail("put", string(k), err)
		}
		ifRev = statestore.Rev(rev)
	}
	if value == nil {
		value = []byte{} // nil would be a null
	}
	rev, written, err := t.write(k, value, int64(ifRev))
	if err != nil {
		return 0, t.fail("put", string(k), err)
	}
	if written == 0 {
		rev, err := t.rev(k)
		if err != nil {
			return 0, t.fail("put", string(k), err)
		}
		return 0, &statestore.ConflictError{What: string(k), Want: uint64(ifRev), Got: uint64(rev)}
	}
	return statestore.Rev(rev), nil
}

// write writes nothing where the record has another revision than it should; comparing in the query saves one more.
func (t *tx) write(k statestore.Key, value []byte, ifRev int64) (rev, written int64, err error) {
	if ifRev != 0 {
		written, err = t.conn.exec("UPDATE records SET value = ?, rev = rev + 1 WHERE key = ? AND rev = ?", value, string(k), ifRev)
		return ifRev + 1, written, err
	}
	deleted, err := t.conn.integer("SELECT rev FROM deleted")
	if err != nil {
		return 0, 0, err
	}
	written, err = t.conn.exec("INSERT INTO records VALUES (?, ?, ?) ON CONFLICT DO NOTHING", string(k), value, deleted+1)
	return deleted + 1, written, err
}

func (t *tx) Delete(k statestore.Key, ifRev statestore.Rev) error {
	if t.over {
		return errOver
	}
	rev, err := t.rev(k)
	switch {
	case err != nil:
		return t.fail("delete", string(k), err)
	case rev == 0:
		return fmt.Errorf("delete %q: %w", k, statestore.ErrNotFound)
	case ifRev != statestore.Any && uint64(ifRev) != uint64(rev):
		return &statestore.ConflictError{What: string(k), Want: uint64(ifRev), Got: uint64(rev)}
	}
	if _, err := t.conn.exec("DELETE FROM records WHERE key = ?", string(k)); err != nil {
		return t.fail("delete", string(k), err)
	}
	if _, err := t.conn.exec("UPDATE deleted SET rev = max(rev, ?)", rev); err != nil {
		return t.fail("delete", string(k), err)
	}
	return nil
}

func (t *tx) Append(stream string, ifVersion statestore.Version, events ...statestore.Entry) (statestore.Seq, error) {
	if t.over {
		return 0, errOver
	}
	if err := checkName("name of the stream", stream); err != nil {
		return 0, fmt.Errorf("append: %w", err)
	}
	version, err := t.conn.integer("SELECT version FROM events WHERE stream = ? ORDER BY seq DESC LIMIT 1", stream)
	if err != nil {
		return 0, t.fail("append to", stream, err)
	}
	if ifVersion != statestore.AnyVersion && uint64(ifVersion) != uint64(version) {
		return 0, &statestore.ConflictError{What: stream, Want: uint64(ifVersion), Got: uint64(version)}
	}
	var last int64
	for _, entry := range events {
		seq, err := t.had(stream, entry.ID)
		if err != nil {
			return 0, t.fail("append to", stream, err)
		}
		if seq == 0 {
			version++
			if seq, err = t.insert(stream, version, entry); err != nil {
				return 0, t.fail("append to", stream, err)
			}
		}
		last = seq
	}
	return statestore.Seq(last), nil
}

// had returns the event of a stream with a non-empty id, or 0.
func (t *tx) had(stream, id string) (int64, error) {
	if id == "" {
		return 0, nil
	}
	return t.conn.integer("SELECT seq FROM events WHERE stream = ? AND id = ? AND id <> ''", stream, id)
}

func (t *tx) insert(stream string, version int64, entry statestore.Entry) (int64, error) {
	data := entry.Data
	if data == nil {
		data = []byte{}
	}
	t.group.seq++
	_, err := t.conn.exec("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
		t.group.seq, stream, version, entry.ID, entry.Type, data, t.now.UnixMicro())
	return t.group.seq, err
}

// checkName refuses what SQLite cannot keep as a text.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s is empty", what)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("the %s %q contains a zero byte", what, name)
	}
	return nil
}
