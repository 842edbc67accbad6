package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"aesop/statestore"
)

// began is what the records of waves that are not finished say: ids of the same second have no order of their own.
type began struct {
	At    time.Time `json:"at"`
	Place string    `json:"place"`
}

// Summary is what a list tells of a wave.
type Summary struct {
	ID      string         `json:"-"`
	At      time.Time      `json:"at"` // when it began
	Place   string         `json:"place"`
	Driver  string         `json:"driver,omitempty"`
	EndedAt time.Time      `json:"endedAt,omitzero"`  // or stopped
	Outcome Outcome        `json:"outcome,omitempty"` // "" while it runs
	Items   map[string]int `json:"items,omitempty"`   // by state, as they were when the wave began, stopped or ended; open where one has none yet
}

// summary is that of a fold.
func (w *Wave) summary(place string) Summary {
	s := Summary{ID: w.ID, At: w.StartedAt, Place: place, Driver: w.Driver, EndedAt: w.EndedAt, Items: map[string]int{}}
	switch {
	case w.End != nil:
		s.Outcome = w.End.Outcome
	case w.Stop != nil:
		s.Outcome = w.Stop.Outcome
	}
	for _, i := range w.Items {
		switch {
		case i.Commit != "":
			s.Items[string(StateShipped)]++
		case i.End != nil:
			s.Items[string(i.End.State)]++
		default:
			s.Items["open"]++
		}
	}
	return s
}

// list keeps the records by which waves are found, where one of some events changes what they say. That of an open wave goes with Close.
func (j *Journal) list(tx statestore.Tx, events []seen) error {
	for _, e := range events {
		begins := begins(e.event)
		if begins {
			if err := putJSON(tx, openPrefix+j.wave.ID, began{At: e.wave.StartedAt, Place: j.place}); err != nil {
				return err
			}
		}
		if !listable(e.event) {
			continue
		}
		place := j.place
		if stored, err := summaryOf(tx, j.wave.ID); err == nil && !begins {
			place = stored.Place
		} else if err != nil && !errors.Is(err, statestore.ErrNotFound) {
			return err
		}
		if err := putJSON(tx, listPrefix+j.wave.ID, e.wave.summary(place)); err != nil {
			return err
		}
	}
	return nil
}

// listable says that an event changes what the list of all waves tells. Between those the list is behind.
func listable(e Event) bool {
	switch e.(type) {
	case Planned, Stopped, TakenOver, Ended:
		return true
	}
	return false
}

func putJSON(tx statestore.Tx, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = tx.Put(statestore.Key(key), data, statestore.Any)
	return err
}

func summaryOf(r statestore.Reader, id string) (Summary, error) {
	record, err := r.Get(statestore.Key(listPrefix + id))
	if err != nil {
		return Summary{}, err
	}
	return readSummary(record)
}

func readSummary(record statestore.Record) (Summary, error) {
	s := Summary{ID: strings.TrimPrefix(string(record.Key), listPrefix)}
	if err := json.Unmarshal(record.Value, &s); err != nil {
		return s, statestore.DamagedRecord(record.Key, err)
	}
	return s, nil
}

// Summaries yields the waves after one in the order of their ids, "" is before the first, and reads no further than it is asked to. Those of
// older versions are folded for it.
func Summaries(r statestore.Reader, after string) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		for record, err := range r.Scan(statestore.Range{Prefix: listPrefix, After: statestore.Key(listPrefix + after)}) {
			var s Summary
			if err == nil {
				s, err = readSummary(record)
			}
			if err == nil && s.Driver == "" {
				var wave *Wave
				if wave, err = Fold(r, s.ID); err == nil {
					s = wave.summary(s.Place)
				}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Knows says whether there is a wave of that id.
func Knows(r statestore.Reader, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	_, err := r.Get(statestore.Key(listPrefix + id))
	if errors.Is(err, statestore.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
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
			return nil, statestore.DamagedRecord(record.Key, err)
		}
		if keep(b) {
			times[strings.TrimPrefix(string(record.Key), prefix)] = b.At
		}
	}
	return slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(times[a].Compare(times[b]), strings.Compare(a, b)) }), nil
}
