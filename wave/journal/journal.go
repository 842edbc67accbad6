package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"aesop/statestore"
)

const (
	streamPrefix = "wave/"
	listPrefix   = "wave/" // records of all waves
	openPrefix   = "open/" // records of waves that are not finished
)

// Journal appends the events of one wave and keeps their fold. It is safe for concurrent use.
type Journal struct {
	store   statestore.Store
	place   string
	observe func(*Wave, Event)
	redact  func([]byte) []byte

	appending sync.Mutex // one append at a time, so that the fold has the order of the store
	mu        sync.Mutex
	wave      *Wave
	pending   []Event // not durable yet, go with the next append
}

// Config of a Journal.
type Config struct {
	Store   statestore.Store
	Place   string              // names the state that runs the wave; Open finds waves by it
	Observe func(*Wave, Event)  // called after each event is durable, with a copy; nil: nobody
	Redact  func([]byte) []byte // what store, fold and Observe may have of an event's JSON; nil: all
}

// Create makes the journal of a new wave. Nothing is stored before the first Append.
func Create(c Config, id string) *Journal {
	return &Journal{store: c.Store, place: c.Place, observe: c.Observe, redact: c.Redact, wave: New(id)}
}

// Load reads the journal of a wave; ErrNotFound of statestore where there is none.
func Load(ctx context.Context, c Config, id string) (*Journal, error) {
	j := Create(c, id)
	err := c.Store.View(ctx, func(r statestore.Reader) error {
		wave, err := Fold(r, id)
		j.wave = wave
		return err
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// Fold reads the state of a wave.
func Fold(r statestore.Reader, id string) (*Wave, error) {
	wave := New(id)
	count := 0
	for stored, err := range r.Events(statestore.EventQuery{Stream: streamPrefix + id}) {
		if err != nil {
			return nil, err
		}
		event, err := decode(stored.Type, stored.Data)
		if err != nil {
			return nil, fmt.Errorf("wave %s: %w", id, err)
		}
		if err := wave.Apply(stored.At, event); err != nil {
			return nil, fmt.Errorf("wave %s: %w", id, err)
		}
		count++
	}
	if count == 0 {
		return nil, fmt.Errorf("wave %s: %w", id, statestore.ErrNotFound)
	}
	return wave, nil
}

// Wave is a copy of the current fold.
func (j *Journal) Wave() *Wave {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.wave.Clone()
}

// Item is a copy of one item of the current fold, or nil.
func (j *Journal) Item(id string) *ItemState { return j.Wave().Items[id] }

// Append stores events, and with them what along writes in the same transaction. Events that are not Durable wait, when they
// come alone, for the next that is; the fold has them at once. along may be nil. After an error none of it happened.
func (j *Journal) Append(ctx context.Context, along func(statestore.Tx) error, events ...Event) error {
	events, err := j.redacted(events)
	if err != nil {
		return err
	}
	j.appending.Lock()
	defer j.appending.Unlock()
	if along == nil && !slices.ContainsFunc(events, Durable) {
		next, err := j.apply(time.Time{}, events)
		if err != nil {
			return err
		}
		j.pending = append(j.pending, events...)
		j.set(next)
		return nil
	}
	all := slices.Concat(j.pending, events)
	entries, err := j.entries(all)
	if err != nil {
		return err
	}
	var next *Wave
	err = j.store.Update(ctx, func(tx statestore.Tx) error {
		if along != nil {
			if err := along(tx); err != nil {
				return err
			}
		}
		var err error
		if next, err = j.apply(tx.Now(), events); err != nil || len(entries) == 0 {
			return err
		}
		if err := j.list(tx, all); err != nil {
			return err
		}
		_, err = tx.Append(streamPrefix+j.wave.ID, statestore.AnyVersion, entries...)
		return err
	})
	if err != nil {
		return err
	}
	j.set(next)
	j.pending = nil
	if j.observe != nil {
		for _, e := range all {
			j.observe(next.Clone(), e)
		}
	}
	return nil
}

// redacted are events as they may leave the process. The fold gets nothing else, so that what is made of it, now or after a
// resume, is the same and needs no second look.
func (j *Journal) redacted(events []Event) ([]Event, error) {
	if j.redact == nil {
		return events, nil
	}
	clean := make([]Event, len(events))
	for i, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", e.Type(), err)
		}
		if clean[i], err = decode(e.Type(), j.redact(data)); err != nil {
			return nil, err
		}
	}
	return clean, nil
}

// apply is the fold with more events.
func (j *Journal) apply(at time.Time, events []Event) (*Wave, error) {
	next := j.Wave()
	for _, e := range events {
		if err := next.Apply(at, e); err != nil {
			return nil, err
		}
	}
	return next, nil
}

func (j *Journal) set(w *Wave) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wave = w
}

func (j *Journal) entries(events []Event) ([]statestore.Entry, error) {
	entries := make([]statestore.Entry, 0, len(events))
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", e.Type(), err)
		}
		entries = append(entries, statestore.Entry{Type: e.Type(), Data: data})
	}
	return entries, nil
}

// list keeps, from the event that begins a wave, the records by which waves are found; one of them goes with Close.
func (j *Journal) list(tx statestore.Tx, events []Event) error {
	if !slices.ContainsFunc(events, func(e Event) bool { _, ok := e.(Planned); return ok }) {
		return nil
	}
	began, err := json.Marshal(began{tx.Now(), j.place})
	if err != nil {
		return err
	}
	for _, prefix := range []string{listPrefix, openPrefix} {
		if _, err := tx.Put(statestore.Key(prefix+j.wave.ID), began, statestore.Any); err != nil {
			return err
		}
	}
	return nil
}

// began is what the records by which waves are found say: ids of the same second have no order of their own.
type began struct {
	At    time.Time `json:"at"`
	Place string    `json:"place"`
}

// Close marks the wave as finished: its end is stored, settled and reported.
func (j *Journal) Close(ctx context.Context) error {
	j.appending.Lock()
	defer j.appending.Unlock()
	return j.store.Update(ctx, func(tx statestore.Tx) error {
		err := tx.Delete(statestore.Key(openPrefix+j.wave.ID), statestore.Any)
		if errors.Is(err, statestore.ErrNotFound) {
			return nil
		}
		return err
	})
}

// Open are the ids of a place's waves that are not finished, oldest first. Those of other places are theirs to finish: only there
// can it be known whether their process is alive.
func Open(r statestore.Reader, place string) ([]string, error) {
	return find(r, openPrefix, func(b began) bool { return b.Place == place })
}

// List are the ids of all waves that have events, oldest first.
func List(r statestore.Reader) ([]string, error) {
	return find(r, listPrefix, func(began) bool { return true })
}

func find(r statestore.Reader, prefix string, keep func(began) bool) ([]string, error) {
	times := map[string]time.Time{}
	for record, err := range r.Scan(statestore.Range{Prefix: statestore.Key(prefix)}) {
		if err != nil {
			return nil, err
		}
		var b began
		if err := json.Unmarshal(record.Value, &b); err != nil {
			return nil, fmt.Errorf("record %s: %w", record.Key, err)
		}
		if keep(b) {
			times[strings.TrimPrefix(string(record.Key), prefix)] = b.At
		}
	}
	return slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(times[a].Compare(times[b]), strings.Compare(a, b)) }), nil
}
