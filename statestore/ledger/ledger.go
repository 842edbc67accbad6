// Package ledger keeps calls in a statestore: a cost.Ledger whose rows commit together with whatever else a transaction changes.
//
// The rows are the events of one stream, a call each. Append puts them there as a part of a transaction of the caller's. A Ledger
// reads: it holds in memory what it has read before, so that its book costs the rows that are new, and In tells what a transaction
// would commit on, its own rows included.
package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"aesop/cost"
	"aesop/statestore"
)

// Stream has the rows.
const Stream = "ledger"

// eventType is that of all its events.
const eventType = "ledger.call"

// Append adds calls in a transaction. A call whose id the ledger has changes nothing, and no error: the first one stays. A call
// that Check refuses is an error, and then the transaction must not commit.
func Append(tx statestore.Tx, calls ...cost.Call) error {
	entries := make([]statestore.Entry, 0, len(calls))
	for _, c := range calls {
		if err := c.Check(); err != nil {
			return fmt.Errorf("append to the ledger: %w", err)
		}
		data, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("append call %q to the ledger: %w", c.ID, err)
		}
		entries = append(entries, statestore.Entry{ID: c.ID, Type: eventType, Data: data})
	}
	_, err := tx.Append(Stream, statestore.AnyVersion, entries...)
	return err
}

// Read is the call of an event of the stream, or an error where it has none.
func Read(event statestore.Stored) (cost.Call, error) {
	var c cost.Call
	if event.Type != eventType {
		return c, fmt.Errorf("event %d of the ledger is a %q", event.Seq, event.Type)
	}
	if err := json.Unmarshal(event.Data, &c); err != nil {
		return c, fmt.Errorf("event %d of the ledger: %w", event.Seq, err)
	}
	if c.ID != event.ID {
		return c, fmt.Errorf("event %d of the ledger is named %q and has call %q", event.Seq, event.ID, c.ID)
	}
	return c, c.Check()
}

// Health is what a ledger is made of.
type Health struct {
	Rows    int `json:"rows"`
	Corrupt int `json:"corrupt"` // events that are no calls: what they cost is in no total
	Differ  int `json:"differ"`  // calls that this Ledger was given under an id that had another content, and that were not taken
	Future  int `json:"future"`  // rows that are later than the store's clock
}

// Ledger is a cost.Ledger. It is safe for concurrent use, and any number of them may sit on one store.
type Ledger struct {
	store statestore.Store
	turn  chan struct{} // held by who reads on

	mu     sync.Mutex
	cached cache
	differ int
}

// cache is what was read of committed events. It never holds what only a transaction shows: that may be undone.
type cache struct {
	book  *cost.Book
	marks []mark // how far the book goes; ascending, the first is the empty ledger
}

// mark says that the first rows of the book are the events up to one.
type mark struct {
	seq     statestore.Seq
	id      string // of that event, to tell another store's from it
	rows    int
	corrupt int
}

// maxMarks is how many states a cache can go back to for readers that began before it was read on.
const maxMarks = 16

// New returns the ledger of a store, which may have none yet.
func New(store statestore.Store) *Ledger {
	return &Ledger{store: store, turn: make(chan struct{}, 1), cached: newCache()}
}

func newCache() cache { return cache{book: new(cost.Book), marks: []mark{{}}} }

// Record implements cost.Ledger.
func (l *Ledger) Record(ctx context.Context, calls ...cost.Call) (cost.Recorded, error) {
	if err := l.readOn(ctx, nil); err != nil { // so that the transaction has little to read
		return cost.Recorded{}, err
	}
	var done cost.Recorded
	err := l.store.Update(ctx, func(tx statestore.Tx) error {
		book, err := l.In(tx)
		if err != nil {
			return err
		}
		if err := Append(tx, calls...); err != nil {
			return err
		}
		done = book.Add(calls...)
		return nil
	})
	if err != nil {
		return cost.Recorded{}, fmt.Errorf("record %d calls: %w", len(calls), err)
	}
	l.mu.Lock()
	l.differ += done.Differ
	l.mu.Unlock()
	return done, nil
}

// Book implements cost.Ledger. The Book does not change with the ledger, and calls added to it go nowhere else.
func (l *Ledger) Book(ctx context.Context) (*cost.Book, error) {
	var book *cost.Book
	err := l.readOn(ctx, func(r statestore.Reader) (err error) {
		book, err = l.In(r)
		return err
	})
	return book, err
}

// Health tells what the ledger is made of now.
func (l *Ledger) Health(ctx context.Context) (Health, error) {
	var health Health
	err := l.readOn(ctx, func(r statestore.Reader) error {
		book, corrupt, err := l.in(r)
		if err != nil {
			return err
		}
		future := cost.Query{Window: cost.Window{From: r.Now().Add(1)}}
		health = Health{Rows: book.Len(), Corrupt: corrupt, Future: book.Total(future).Calls}
		return nil
	})
	l.mu.Lock()
	health.Differ = l.differ
	l.mu.Unlock()
	return health, err
}

// Calls yields the calls that a reader sees, in the order in which they were recorded, to be exported. Corrupt events are not among
// them: Health counts those.
func Calls(r statestore.Reader) iter.Seq2[cost.Call, error] {
	return func(yield func(cost.Call, error) bool) {
		for event, err := range r.Events(statestore.EventQuery{Stream: Stream}) {
			if err != nil {
				yield(cost.Call{}, fmt.Errorf("read the ledger: %w", err))
				return
			}
			if c, err := Read(event); err == nil && !yield(c, nil) {
				return
			}
		}
	}
}
