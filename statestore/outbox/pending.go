package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"time"

	"aesop/statestore"
)

// Owed is an intent that a sink has not got yet, and how sending it went.
type Owed struct {
	Intent    Intent
	Sink      string
	Event     statestore.Seq // that the intent tells of
	Tries     int            // that failed
	LastTry   time.Time      // the newest of them, by the store's clock
	LastError string
}

// tries is what is kept of an Owed in the queue.
type tries struct {
	Tries     int       `json:"tries,omitempty"`
	LastTry   time.Time `json:"lastTry,omitzero"`
	LastError string    `json:"lastError,omitempty"`
}

// entry is a place in the queue of a sink.
type entry struct {
	key    statestore.Key
	sink   string
	intent Intent
	event  statestore.Seq
	tries  tries
}

// Pending yields what a sink is owed, oldest first. What cannot be read comes as a *statestore.DamagedError, after which the rest can still be
// had; any other error is the last.
func Pending(r statestore.Reader, sink string) iter.Seq2[Owed, error] {
	return func(yield func(Owed, error) bool) {
		for e, err := range entries(r, sink, statestore.Range{Prefix: queueOf(sink)}) {
			if !yield(e.owed(), err) {
				return
			}
		}
	}
}

func (e entry) owed() Owed {
	return Owed{Intent: e.intent, Sink: e.sink, Event: e.event, Tries: e.tries.Tries, LastTry: e.tries.LastTry, LastError: e.tries.LastError}
}

// Owing returns to which sinks an intent is still owed, in the order of their names: none, once all have it.
func Owing(r statestore.Reader, id string) ([]Owed, error) {
	var all []Owed
	for record, err := range r.Scan(statestore.Range{Prefix: owedKey(id, "")}) {
		if err != nil {
			return nil, err
		}
		i, err := load(r, id)
		if err != nil {
			return nil, err
		}
		sink := path.Base(string(record.Key))
		queued, err := r.Get(queueKey(sink, i.Event, i.Intent))
		if err != nil {
			return nil, fmt.Errorf("what %s is owed: %w", sink, err)
		}
		e, err := read(r, sink, queued)
		if err != nil {
			return nil, err
		}
		all = append(all, e.owed())
	}
	return all, nil
}

// Newest is the id of the newest intent of a subject that is still owed to any sink, "" where none is.
func Newest(r statestore.Reader, subject string) (id string, err error) {
	for record, err := range r.Scan(statestore.Range{Prefix: newestOf(subject), Limit: 1}) {
		return path.Base(string(record.Key)), err
	}
	return "", nil
}

// entries yields places of a queue; an entry that comes with a *statestore.DamagedError has its key.
func entries(r statestore.Reader, sink string, of statestore.Range) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for record, err := range r.Scan(of) {
			if err != nil {
				yield(entry{sink: sink}, err)
				return
			}
			e, err := read(r, sink, record)
			bad := (*statestore.DamagedError)(nil)
			if !yield(e, err) || err != nil && !errors.As(err, &bad) {
				return
			}
		}
	}
}

func read(r statestore.Reader, sink string, record statestore.Record) (entry, error) {
	e := entry{key: record.Key, sink: sink}
	if err := json.Unmarshal(record.Value, &e.tries); err != nil {
		return e, damaged(record.Key, err)
	}
	i, err := load(r, path.Base(string(record.Key)))
	if err == nil && queueKey(sink, i.Event, i.Intent) != record.Key {
		err = damaged(intentKey(i.ID), fmt.Errorf("it does not belong to %s", record.Key))
	}
	e.intent, e.event = i.Intent, i.Event
	return e, err
}

func load(r statestore.Reader, id string) (stored, error) {
	var i stored
	key := intentKey(id)
	record, err := r.Get(key)
	if err == nil {
		if err = json.Unmarshal(record.Value, &i); err == nil {
			err = i.check()
		}
	} else if !errors.Is(err, statestore.ErrNotFound) {
		return i, err
	}
	if err == nil && i.ID != id {
		err = fmt.Errorf("it is the intent %s", i.ID)
	}
	if err != nil {
		return i, damaged(key, err)
	}
	return i, nil
}
