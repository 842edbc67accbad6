package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// DamagedError says that a database does not hold what was written to it. Whoever meets it has no answer: what is damaged is
// never taken for empty, absent or old. Nothing was changed.
type DamagedError struct {
	Path string // of the database
	Err  error  // what is wrong
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: %v: restore it from a copy, or move it away with its -wal and -shm to start anew", e.Path, e.Err)
}

// Unwrap returns what is wrong.
func (e *DamagedError) Unwrap() error { return e.Err }

// errMalformed is of a row that does not hold what every row holds.
var errMalformed = errors.New("a row has no value of its type")

// errGap is of events that do not follow each other.
var errGap = errors.New("events between are gone")

// errSum is of a row whose checksum differs.
var errSum = errors.New("the checksum is not that of the content")

// explain makes a DamagedError of an error that says so, and names what SQLite leaves to be guessed.
func (c *conn) explain(err error) error {
	var already *DamagedError
	var native *sqlite.Error
	switch {
	case err == nil, errors.As(err, &already):
		return err
	case errors.Is(err, errMalformed), errors.Is(err, errSum), errors.Is(err, errGap):
		return &DamagedError{c.path, err}
	case !errors.As(err, &native):
		return err
	}
	switch native.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return &DamagedError{c.path, err}
	case lib.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: its folder is gone, read-only or full; who only reads writes there too", err)
	}
	return err
}

// recordSum is the checksum of a record. SQLite has none of its own: without, a flipped bit in a value would be an answer.
func recordSum(key string, value []byte, rev int64) int64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(0, table, binary.BigEndian.AppendUint64([]byte(key), uint64(rev)))
	return int64(crc32.Update(sum, table, value))
}

// eventSum is the checksum of an event.
func eventSum(seq int64, stream string, version int64, id, kind string, data []byte, at int64) int64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	place := make([]byte, 0, 128)
	for _, n := range []int64{seq, version, at} {
		place = binary.BigEndian.AppendUint64(place, uint64(n))
	}
	for _, text := range []string{stream, id, kind} {
		place = binary.BigEndian.AppendUint64(place, uint64(len(text)))
		place = append(place, text...)
	}
	return int64(crc32.Update(crc32.Update(0, table, place), table, data))
}
