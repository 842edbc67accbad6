// Package statestore is where facts are kept: records that are compared and swapped, and streams of events, changed together
// in transactions that are serializable and durable. Backends implement Store and nothing else; jobs, ledgers and outboxes
// sit on Tx.
package statestore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"
)

// Store is a transactional store. It is safe for concurrent use by goroutines and, unless a backend says otherwise, by
// processes.
type Store interface {
	// View runs fn on one consistent state.
	View(ctx context.Context, fn func(Reader) error) error
	// Update runs fn in a serializable transaction that is durable when Update returns nil. An error of fn undoes everything
	// that fn did and comes back as it is. fn may run again, so it must touch nothing but tx, and the Reader and Tx are not
	// valid after it returned.
	Update(ctx context.Context, fn func(Tx) error) error
	// Changed returns nil once events with a sequence greater than after exist, or the error of ctx. It is a wake-up, never
	// truth: it may return early.
	Changed(ctx context.Context, after Seq) error
	// Close releases the store; transactions under way end first, later ones fail with ErrClosed.
	Close() error
}

// Reader reads.
type Reader interface {
	// Now is the store's clock. Every lease and deadline is judged by it. It does not change within a transaction, never goes
	// back, and is never before an event that is there.
	Now() time.Time
	// Get returns the record, or an error that is ErrNotFound.
	Get(Key) (Record, error)
	// Scan yields records in the order of their keys. A Tx sees its own writes; records written while the loop runs may or may
	// not be yielded.
	Scan(Range) iter.Seq2[Record, error]
	// Events yields events by Seq; the order of Seq is the order of commits.
	Events(EventQuery) iter.Seq2[Stored, error]
}

// Tx reads and writes. All of it happens or none.
type Tx interface {
	Reader
	// Put writes a record. ifRev is the revision that the record must have: 0 that it must not exist, Any that it does not
	// matter; otherwise the error is ErrConflict. The value is copied.
	Put(k Key, value []byte, ifRev Rev) (Rev, error)
	// Delete removes a record that has revision ifRev, or Any. Deleting what does not exist is ErrNotFound.
	Delete(k Key, ifRev Rev) error
	// Append adds events to the end of a stream, which has a name like a Key and is created by its first event. ifVersion is the number
	// of events that the stream must have, or AnyVersion; otherwise the error is ErrConflict. It returns the Seq of the last
	// one, 0 for none. An entry whose non-empty ID the stream has already is not added again, and no error.
	Append(stream string, ifVersion Version, events ...Entry) (Seq, error)
}

// Key names a record: a path such as job/w1/greet, never empty, UTF-8 without the zero byte. Keys are ordered by their bytes.
type Key string

// Rev is the revision of a record: 1 or more, growing with each write of that record, and never used again for it, also after
// it was deleted and made anew.
type Rev uint64

// Seq numbers the events of a store from 1.
type Seq uint64

// Version is a number of events in a stream.
type Version uint64

// Any and AnyVersion compare with everything.
const (
	Any        Rev     = math.MaxUint64
	AnyVersion Version = math.MaxUint64
)

// Record is a stored value. Value belongs to the caller.
type Record struct {
	Key   Key
	Value []byte
	Rev   Rev
}

// Range selects records.
type Range struct {
	Prefix Key // of the key; "" selects all
	After  Key // only keys greater than this
	Limit  int // 0: no limit
}

// Entry is an event to append.
type Entry struct {
	ID   string // for idempotence within the stream, or ""; like Type, UTF-8 without the zero byte
	Type string
	Data []byte // JSON
}

// Stored is an event with its place.
type Stored struct {
	Entry
	Seq     Seq
	Stream  string
	Version Version // place in the stream, from 1
	At      time.Time
}

// EventQuery selects events.
type EventQuery struct {
	Stream string // "" selects all streams
	After  Seq
	Limit  int // 0: no limit
}

// The decisions of a caller.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	ErrClosed   = errors.New("store is closed")
)

// ConflictError is an ErrConflict with what was compared.
type ConflictError struct {
	What string // the key or stream
	Want uint64
	Got  uint64
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: expected revision %d, is %d", e.What, e.Want, e.Got)
}

// Is makes a ConflictError an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
