package stateapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/statestore/outbox"
)

// Event is an event of the store.
type Event struct {
	Seq     statestore.Seq     `json:"seq"`
	Stream  string             `json:"stream"`
	Version statestore.Version `json:"version"` // place in its stream, from 1
	ID      string             `json:"id,omitempty"`
	Type    string             `json:"type"`
	At      time.Time          `json:"at"`
	Data    json.RawMessage    `json:"data,omitempty"`
	Damage  string             `json:"damage,omitempty"` // why there is no Data though there should be
}

// EventQuery selects events.
type EventQuery struct {
	Stream string         // "": of all streams
	Types  []string       // types, or beginnings of types up to a dot: "job."; none: all
	Since  statestore.Seq // only those after it; a Cursor takes its place
}

// Events are a page of events, oldest first. A page with Types may be short, or empty, and have a Next all the same.
// Whoever follows the log asks with Since, from Newest on. A place that the log has not come to is ErrBadPage.
func (a *ReadAPI) Events(ctx context.Context, q EventQuery, p Page) (Of[Event], error) {
	filter := filterOf(EventQuery{Stream: q.Stream, Types: q.Types})
	return pageOf(ctx, a, "events", filter, p, func(r statestore.Reader, after string, page *page[Event]) error {
		since, err := seqAfter(after, q.Since)
		if err != nil {
			return err
		}
		for e, err := range r.Events(statestore.EventQuery{Stream: q.Stream, After: since}) {
			if err != nil {
				return err
			}
			var entry *Event
			if outbox.Match(q.Types, e.Type) {
				entry = eventOf(e)
			}
			if !page.add(seqName(e.Seq), entry) {
				return nil
			}
		}
		return reached(r, since, page.looked)
	})
}

func eventOf(e statestore.Stored) *Event {
	event := &Event{Seq: e.Seq, Stream: e.Stream, Version: e.Version, ID: e.ID, Type: e.Type, At: e.At}
	switch {
	case json.Valid(e.Data):
		event.Data = e.Data
	case len(e.Data) > 0:
		event.Damage = "its data is not JSON"
	}
	return event
}

// Newest is the Seq of the newest event, 0 where there is none.
func (a *ReadAPI) Newest(ctx context.Context) (newest statestore.Seq, err error) {
	err = a.view(ctx, "events", func(r statestore.Reader) (err error) {
		newest, err = statestore.Newest(r, 0)
		return err
	})
	return newest, err
}

// Row is a row of the ledger that is in the store.
type Row struct {
	Seq    statestore.Seq `json:"seq"`
	Call   *cost.Call     `json:"call,omitempty"`   // nil where the row is damaged: what it cost is in no total
	Damage string         `json:"damage,omitempty"` // what is wrong with it
}

// Rows are a page of the ledger, in the order in which calls were recorded.
func (a *ReadAPI) Rows(ctx context.Context, p Page) (Of[Row], error) {
	return pageOf(ctx, a, "ledger", "", p, func(r statestore.Reader, after string, page *page[Row]) error {
		since, err := seqAfter(after, 0)
		if err != nil {
			return err
		}
		for e, err := range r.Events(statestore.EventQuery{Stream: ledger.Stream, After: since}) {
			if err != nil {
				return err
			}
			row := Row{Seq: e.Seq}
			if call, err := ledger.Read(e); err == nil {
				row.Call = &call
			} else {
				row.Damage = err.Error()
			}
			if !page.add(seqName(e.Seq), &row) {
				return nil
			}
		}
		return reached(r, since, page.looked)
	})
}

// Spent is what calls add up to.
type Spent struct {
	Query  cost.Query   `json:"-"`     // that was meant, with its window
	Found  bool         `json:"found"` // false: no wave is in the ledger of which to tell, and Total is of no call
	Total  cost.Total   `json:"total"`
	Groups []cost.Group `json:"groups,omitempty"` // Total by what was asked for
	// Corrupt are rows that cannot be read. Where there are any, Total is less than what was spent.
	Corrupt int `json:"corrupt"`
}

// Spent answers a question about money, as summaries, projections and ceilings answer it. A zero Now of the question is
// the store's clock.
func (a *ReadAPI) Spent(ctx context.Context, q cost.Question, by ...cost.Dimension) (Spent, error) {
	if a.c.Ledger == nil {
		return Spent{}, notConfigured("ledger")
	}
	if q.Now.IsZero() {
		if err := a.view(ctx, "clock of the ledger", func(r statestore.Reader) error { q.Now = r.Now(); return nil }); err != nil {
			return Spent{}, err
		}
	}
	health, err := a.c.Ledger.Health(ctx)
	if err != nil {
		return Spent{}, err
	}
	book, err := a.c.Ledger.Book(ctx)
	if err != nil {
		return Spent{}, err
	}
	s := Spent{Corrupt: health.Corrupt}
	s.Query, s.Found = q.Select(book)
	if !s.Found {
		return s, nil
	}
	s.Total = book.Total(s.Query)
	if len(by) > 0 {
		s.Groups = book.Groups(s.Query, by...)
	}
	return s, nil
}

// seqName is a Seq in a cursor.
func seqName(seq statestore.Seq) string { return strconv.FormatUint(uint64(seq), 10) }

func seqAfter(after string, since statestore.Seq) (statestore.Seq, error) {
	if after == "" {
		return since, nil
	}
	seq, err := strconv.ParseUint(after, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("cursor at %q: %w", after, ErrBadPage)
	}
	return statestore.Seq(seq), nil
}

// reached refuses a place behind the end of the log, after which nothing was found: the store was put back to an older one, and who follows
// it from there would miss all that comes until it is as long again.
func reached(r statestore.Reader, since statestore.Seq, found int) error {
	if since == 0 || found > 0 {
		return nil
	}
	for _, err := range r.Events(statestore.EventQuery{After: since - 1, Limit: 1}) {
		return err
	}
	return fmt.Errorf("after event %d: %w: the log ends before it; begin anew", since, ErrBadPage)
}
