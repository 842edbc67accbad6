package ledger

import (
	"context"
	"fmt"

	"aesop/cost"
	"aesop/statestore"
)

// In returns what a reader sees of the ledger: for a transaction what it would commit on, with the rows that it has appended
// itself. Only the events that the Ledger has not read before are read. The Book is good as long as the reader.
func (l *Ledger) In(r statestore.Reader) (*cost.Book, error) {
	book, _, err := l.in(r)
	return book, err
}

func (l *Ledger) in(r statestore.Reader) (*cost.Book, int, error) {
	l.mu.Lock()
	cached := l.cached // its marks are never changed in place
	l.mu.Unlock()
	from, err := cached.seen(r)
	if err != nil {
		return nil, 0, err
	}
	book := cached.book.Fork(from.rows)
	to, err := load(r, from, book)
	return book, to.corrupt, err
}

// seen is the newest mark that the reader sees too. It may be older than the cache, or of a store that was put back from a copy.
func (c cache) seen(r statestore.Reader) (mark, error) {
	for i := len(c.marks) - 1; i > 0; i-- {
		m := c.marks[i]
		for event, err := range r.Events(statestore.EventQuery{Stream: Stream, After: m.seq - 1, Limit: 1}) {
			if err != nil {
				return mark{}, fmt.Errorf("read the ledger: %w", err)
			}
			if event.Seq == m.seq && event.ID == m.id {
				return m, nil
			}
		}
	}
	return mark{}, nil
}

// load adds the events after a mark to a book that has what was before, and returns the mark of where that ends.
func load(r statestore.Reader, m mark, book *cost.Book) (mark, error) {
	for event, err := range r.Events(statestore.EventQuery{Stream: Stream, After: m.seq}) {
		if err != nil {
			return m, fmt.Errorf("read the ledger: %w", err)
		}
		m.seq, m.id = event.Seq, event.ID
		call, err := Read(event)
		if err != nil {
			m.corrupt++
			continue
		}
		m.rows += book.Add(call).Added
	}
	return m, nil
}

// readOn reads what was committed since, and then calls also, if that is not nil, in the same view. One reads at a time: the others
// would only read the same.
func (l *Ledger) readOn(ctx context.Context, also func(statestore.Reader) error) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return fmt.Errorf("read the ledger: %w", ctx.Err())
	}
	return l.store.View(ctx, func(r statestore.Reader) error {
		if err := l.cache(r); err != nil || also == nil {
			return err
		}
		return also(r)
	})
}

// cache reads on to what r sees, which is committed. The caller has the turn.
func (l *Ledger) cache(r statestore.Reader) error {
	l.mu.Lock()
	cached := l.cached
	l.mu.Unlock()
	from, err := cached.seen(r)
	if err != nil {
		return err
	}
	if last := cached.marks[len(cached.marks)-1]; from != last {
		cached, from = newCache(), mark{} // the store is another than it was: put back from a copy
	}
	to, err := load(r, from, cached.book)
	if to != from { // also where an error ended it: what was read was read
		keep := cached.marks
		if len(keep) == maxMarks {
			keep = append([]mark{{}}, keep[2:]...)
		}
		cached.marks = append(keep[:len(keep):len(keep)], to)
	}
	l.mu.Lock()
	l.cached = cached
	l.mu.Unlock()
	return err
}
