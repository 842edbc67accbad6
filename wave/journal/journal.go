package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"aesop/statestore"
	"aesop/statestore/outbox"
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
	news    func(*Wave, Event) (kind string, data []byte)

	appending sync.Mutex // one append at a time, so that the fold has the order of the store
	mu        sync.Mutex
	wave      *Wave
	pending   []seen     // not durable yet, go with the next append
	unseen    []seen     // stored, not yet handed to observe
	handing   bool       // somebody is handing unseen over
	idle      *sync.Cond // signalled when nobody is
}

// seen is an event with the fold right after it.
type seen struct {
	event Event
	wave  *Wave
}

// Config of a Journal.
type Config struct {
	Store statestore.Store
	Place string // names the state that runs the wave; Open finds waves by it
	// Observe is called after each event is durable, one call at a time and in order, with a copy of the fold as it was right after
	// that event. A slow one holds up no append; Drain waits for it. Nil: nobody.
	Observe func(*Wave, Event)
	Redact  func([]byte) []byte // what store, fold and Observe may have of an event's JSON; nil: all
	// News is what sinks of the store's outbox are told of the newest event of an append, in its transaction: a kind, and JSON about the
	// wave as it is then. "" is nothing. It may be called again, and must not touch the store. Nil: they are told nothing.
	News func(*Wave, Event) (kind string, data []byte)
}

// Create makes the journal of a new wave. Nothing is stored before the first Append.
func Create(c Config, id string) *Journal {
	j := &Journal{store: c.Store, place: c.Place, observe: c.Observe, redact: c.Redact, news: c.News, wave: New(id)}
	j.idle = sync.NewCond(&j.mu)
	return j
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

// Fold reads the state of a wave. An event that cannot be read, or that does not fit, is a *statestore.DamagedError that names it.
func Fold(r statestore.Reader, id string) (*Wave, error) {
	wave := New(id)
	count := 0
	for stored, err := range r.Events(statestore.EventQuery{Stream: streamPrefix + id}) {
		if err != nil {
			return nil, err
		}
		event, err := decode(stored.Type, stored.Data)
		if err == nil {
			err = wave.Apply(stored.At, event)
		}
		if err != nil {
			return nil, statestore.DamagedEvent(stored, err)
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
	if err := j.append(ctx, along, events); err != nil {
		return err
	}
	j.handOver()
	return nil
}

func (j *Journal) append(ctx context.Context, along func(statestore.Tx) error, events []Event) error {
	j.appending.Lock()
	defer j.appending.Unlock()
	if along == nil && !slices.ContainsFunc(events, Durable) {
		next, err := j.apply(time.Time{}, events)
		if err != nil {
			return err
		}
		j.pending = append(j.pending, next...)
		j.set(next)
		return nil
	}
	entries, err := j.entries(j.pending, events)
	if err != nil {
		return err
	}
	version := statestore.AnyVersion
	if slices.ContainsFunc(events, begins) {
		version = 0 // an id that was used before is no new wave
	}
	var next []seen
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
		if err := j.list(tx, next); err != nil {
			return err
		}
		seq, err := tx.Append(streamPrefix+j.wave.ID, version, entries...)
		if err != nil {
			return err
		}
		return j.tell(tx, seq, next)
	})
	if err != nil {
		return err
	}
	j.set(next)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.observe != nil {
		j.unseen = append(append(j.unseen, j.pending...), next...)
	}
	j.pending = nil
	return nil
}

func begins(e Event) bool { _, ok := e.(Planned); return ok }

// tell owes the news of the newest of some events, which is at seq. The subject is the wave's stream.
func (j *Journal) tell(tx statestore.Tx, seq statestore.Seq, events []seen) error {
	if j.news == nil || len(events) == 0 {
		return nil
	}
	newest := events[len(events)-1]
	kind, data := j.news(newest.wave, newest.event)
	if kind == "" {
		return nil
	}
	_, err := outbox.Add(tx, seq, outbox.Intent{Kind: kind, Subject: streamPrefix + j.wave.ID, Seq: int(seq), Data: data})
	return err
}

// handOver calls the observer for what is stored, unless somebody is doing so already, who then does it.
func (j *Journal) handOver() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handing {
		return
	}
	j.handing = true
	for len(j.unseen) > 0 {
		next := j.unseen[0]
		j.unseen = j.unseen[1:]
		j.mu.Unlock()
		j.observe(next.wave.Clone(), next.event)
		j.mu.Lock()
	}
	j.handing = false
	j.idle.Broadcast()
}

// Drain returns when the observer has had every event that is stored.
func (j *Journal) Drain() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.handing {
		j.idle.Wait()
	}
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

// apply is the fold after each of more events.
func (j *Journal) apply(at time.Time, events []Event) ([]seen, error) {
	next := j.Wave()
	var all []seen
	for _, e := range events {
		if err := next.Apply(at, e); err != nil {
			return nil, err
		}
		all = append(all, seen{e, next})
		next = next.Clone()
	}
	return all, nil
}

func (j *Journal) set(next []seen) {
	if len(next) == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wave = next[len(next)-1].wave
}

func (j *Journal) entries(pending []seen, events []Event) ([]statestore.Entry, error) {
	var all []Event
	for _, p := range pending {
		all = append(all, p.event)
	}
	var entries []statestore.Entry
	for _, e := range append(all, events...) {
		data, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", e.Type(), err)
		}
		entries = append(entries, statestore.Entry{Type: e.Type(), Data: data})
	}
	return entries, nil
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
