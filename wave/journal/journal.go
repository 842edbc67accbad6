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
}

// Create makes the journal of a new wave. Nothing is stored before the first Append.
func Create(c Config, id string) *Journal {
	j := &Journal{store: c.Store, place: c.Place, observe: c.Observe, redact: c.Redact, wave: New(id)}
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

// Newest is the place of a wave's newest event among all of the store, 0 where it has none.
func Newest(r statestore.Reader, id string) (statestore.Seq, error) {
	var newest statestore.Seq
	for stored, err := range r.Events(statestore.EventQuery{Stream: streamPrefix + id}) {
		if err != nil {
			return 0, err
		}
		newest = stored.Seq
	}
	return newest, nil
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
		if version == 0 {
			if err := j.list(tx); err != nil {
				return err
			}
		}
		_, err = tx.Append(streamPrefix+j.wave.ID, version, entries...)
		return err
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

// list makes the records by which waves are found; one of them goes with Close.
func (j *Journal) list(tx statestore.Tx) error {
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

// Open are the ids of a place's waves that are not finished, oldest first; of all waves where place is "". Those of other places are
// theirs to finish: only there can it be known whether their process is alive.
func Open(r statestore.Reader, place string) ([]string, error) {
	return find(r, openPrefix, func(b began) bool { return place == "" || b.Place == place })
}

// List are the ids of all waves that have events, oldest first.
func List(r statestore.Reader) ([]string, error) {
	return find(r, listPrefix, func(began) bool { return true })
}

// Of are the ids of all waves of a place that have events, oldest first.
func Of(r statestore.Reader, place string) ([]string, error) {
	return find(r, listPrefix, func(b began) bool { return b.Place == place })
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
