package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"aesop/statestore"
	"aesop/statestore/internal/backend"
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
	var r statestore.Record
	found := false
	err := t.conn.query("SELECT value, rev, sum FROM records WHERE key = ?", func(row []driver.Value) (err error) {
		found = true
		r, err = record(string(k), row) // the sum is another one where a damaged index led to another row
		return err
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
	rev, found, err := t.conn.integer("SELECT rev FROM records WHERE key = ?", string(k))
	if found && rev < 1 {
		err = &DamagedError{t.conn.path, fmt.Errorf("revision %d", rev)}
	}
	return rev, err
}

func (t *tx) Put(k statestore.Key, value []byte, ifRev statestore.Rev) (statestore.Rev, error) {
	if t.over {
		return 0, errOver
	}
	if err := backend.CheckName("key", string(k)); err != nil {
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
		rev = ifRev + 1
		written, err = t.conn.exec("UPDATE records SET value = ?, rev = rev + 1, sum = ? WHERE key = ? AND rev = ?",
			value, recordSum(string(k), value, rev), string(k), ifRev)
		return rev, written, err
	}
	deleted, found, err := t.conn.integer("SELECT rev FROM deleted")
	if err == nil && !found { // counting anew would use revisions twice
		err = &DamagedError{t.conn.path, errors.New("the greatest revision of deleted records is gone")}
	}
	if err != nil {
		return 0, 0, err
	}
	rev = deleted + 1
	written, err = t.conn.exec("INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		string(k), value, rev, recordSum(string(k), value, rev))
	return rev, written, err
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
	if err := backend.CheckName("name of the stream", stream); err != nil {
		return 0, fmt.Errorf("append: %w", err)
	}
	for _, entry := range events {
		if err := backend.CheckTexts(entry.ID, entry.Type); err != nil {
			return 0, fmt.Errorf("append to %q: %w", stream, err)
		}
	}
	version, _, err := t.conn.integer(newestVersion, stream)
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
	seq, found, err := t.conn.integer("SELECT seq FROM events WHERE stream = ? AND id = ? AND id <> ''", stream, id)
	if found && seq < 1 {
		err = &DamagedError{t.conn.path, fmt.Errorf("event %d", seq)}
	}
	return seq, err
}

func (t *tx) insert(stream string, version int64, entry statestore.Entry) (int64, error) {
	data := entry.Data
	if data == nil {
		data = []byte{}
	}
	t.group.seq++
	seq, at := t.group.seq, t.now.UnixMicro()
	_, err := t.conn.exec("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		seq, stream, version, entry.ID, entry.Type, data, at, eventSum(seq, stream, version, entry.ID, entry.Type, data, at))
	return seq, err
}
