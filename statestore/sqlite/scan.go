package sqlite

import (
	"database/sql/driver"
	"fmt"
	"iter"

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
		key, isText := row[3].(string)
		if !isText {
			return errMalformed
		}
		r, err := record(key, row)
		records = append(records, r)
		return err
	}, args...)
	if err != nil {
		return nil, t.fail("scan from", fmt.Sprint(args[0]), err)
	}
	return records, nil
}

const (
	scanFrom  = "SELECT value, rev, sum, key FROM records WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
	scanAfter = "SELECT value, rev, sum, key FROM records WHERE key > ? AND key < ? ORDER BY key LIMIT ?"
)

// record reads the row of a key and compares its checksum.
func record(key string, row []driver.Value) (statestore.Record, error) {
	value, isBlob := row[0].([]byte) // an empty one comes as nil, a null as no slice at all
	rev, isRev := row[1].(int64)
	sum, isSum := row[2].(int64)
	switch {
	case !isBlob || !isRev || !isSum:
		return statestore.Record{}, fmt.Errorf("record %q: %w", key, errMalformed)
	case sum != recordSum(key, value, rev):
		return statestore.Record{}, fmt.Errorf("record %q: %w", key, errSum)
	}
	return statestore.Record{Key: statestore.Key(key), Value: value, Rev: statestore.Rev(rev)}, nil
}

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
