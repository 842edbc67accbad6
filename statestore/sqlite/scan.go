package sqlite

import (
	"database/sql/driver"
	"fmt"
	"iter"
	"math"
	"time"

	"aesop/statestore"
)

// page is how many rows a loop reads at a time. No query is open while the caller's code runs, so that may write.
const page = 128

func (t *tx) Scan(r statestore.Range) iter.Seq2[statestore.Record, error] {
	return func(yield func(statestore.Record, error) bool) {
		from, query := string(r.Prefix), scanFrom
		if r.After >= r.Prefix {
			from, query = string(r.After), scanAfter
		}
		end := prefixEnd(string(r.Prefix))
		pages(r.Limit, yield, func(limit int) ([]statestore.Record, error) {
			records, err := t.scanPage(query, from, end, int64(limit))
			if len(records) > 0 {
				from, query = string(records[len(records)-1].Key), scanAfter
			}
			return records, err
		})
	}
}

func (t *tx) scanPage(query string, args ...driver.Value) ([]statestore.Record, error) {
	if t.over {
		return nil, errOver
	}
	var records []statestore.Record
	err := t.conn.query(query, func(row []driver.Value) error {
		value, _ := row[1].([]byte) // an empty one comes as nil
		records = append(records, statestore.Record{
			Key:   statestore.Key(row[0].(string)),
			Value: value,
			Rev:   statestore.Rev(row[2].(int64)),
		})
		return nil
	}, args...)
	if err != nil {
		return nil, t.fail("scan from", fmt.Sprint(args[0]), err)
	}
	return records, nil
}

const (
	scanFrom  = "SELECT key, value, rev FROM records WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
	scanAfter = "SELECT key, value, rev FROM records WHERE key > ? AND key < ? ORDER BY key LIMIT ?"
)

// prefixEnd is greater than all keys with the prefix and not than any other: the prefix with its last byte made one greater,
// or a blob, which SQLite orders after all text.
func prefixEnd(prefix string) driver.Value {
	for last := len(prefix) - 1; last >= 0; last-- {
		if prefix[last] < 0xff {
			return prefix[:last] + string([]byte{prefix[last] + 1})
		}
	}
	return []byte{}
}

func (t *tx) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	return func(yield func(statestore.Stored, error) bool) {
		after := int64(min(q.After, math.MaxInt64))
		pages(q.Limit, yield, func(limit int) ([]statestore.Stored, error) {
			events, err := t.eventPage(q.Stream, after, int64(limit))
			if len(events) > 0 {
				after = int64(events[len(events)-1].Seq)
			}
			return events, err
		})
	}
}

func (t *tx) eventPage(stream string, after, limit int64) ([]statestore.Stored, error) {
	if t.over {
		return nil, errOver
	}
	query, args := allEvents, []driver.Value{after, limit}
	if stream != "" {
		query, args = streamEvents, []driver.Value{after, limit, stream}
	}
	var events []statestore.Stored
	err := t.conn.query(query, func(row []driver.Value) error {
		events = append(events, event(row))
		return nil
	}, args...)
	if err != nil {
		return nil, t.fail("read events of", stream, err)
	}
	return events, nil
}

const (
	allEvents    = "SELECT seq, stream, version, id, type, data, at FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2"
	streamEvents = "SELECT seq, stream, version, id, type, data, at FROM events WHERE stream = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2"
)

// event reads a row; the table is strict, so that the types are certain.
func event(row []driver.Value) statestore.Stored {
	data, _ := row[5].([]byte) // an empty one comes as nil
	return statestore.Stored{
		Entry:   statestore.Entry{ID: row[3].(string), Type: row[4].(string), Data: data},
		Seq:     statestore.Seq(row[0].(int64)),
		Stream:  row[1].(string),
		Version: statestore.Version(row[2].(int64)),
		At:      time.UnixMicro(row[6].(int64)).UTC(),
	}
}

// pages yields up to limit rows, or all where that is 0, which next returns a page at a time.
func pages[T any](limit int, yield func(T, error) bool, next func(limit int) ([]T, error)) {
	for left := limit; limit <= 0 || left > 0; {
		size := page
		if limit > 0 {
			size = min(page, left)
		}
		rows, err := next(size)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
		if len(rows) < size {
			return
		}
		left -= size
	}
}
