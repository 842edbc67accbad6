package journal

import (
	"bytes"
	"encoding/json"
	"strings"

	"aesop/statestore"
)

// Check compares the records by which waves are found with what the events say. A wave that is not finished and has no record would never
// be resumed. It reads the whole log. An event that cannot be read is a *statestore.DamagedError that names it.
func Check(r statestore.Reader) ([]statestore.Drift, error) {
	waves, summaries, err := foldAll(r)
	if err != nil {
		return nil, err
	}
	want := map[statestore.Key][]byte{}
	for id, wave := range waves {
		place := placeOf(r, wave)
		if want[statestore.Key(listPrefix+id)], err = listed(r, summaries[id], place); err != nil {
			return nil, err
		}
		open := statestore.Key(openPrefix + id)
		_, missing := r.Get(open)
		// A wave that ended keeps its record until its report is written too.
		if wave.End == nil || len(wave.Unfinished()) > 0 || missing == nil {
			if want[open], err = json.Marshal(began{At: wave.StartedAt, Place: place}); err != nil {
				return nil, err
			}
		}
	}
	return statestore.Compare(r, want, listPrefix, openPrefix)
}

// foldAll folds all waves of the log, and what the list of all tells of each.
func foldAll(r statestore.Reader) (map[string]*Wave, map[string]Summary, error) {
	waves, summaries := map[string]*Wave{}, map[string]Summary{}
	for stored, err := range r.Events(statestore.EventQuery{}) {
		if err != nil {
			return nil, nil, err
		}
		id, ours := strings.CutPrefix(stored.Stream, streamPrefix)
		if !ours {
			continue
		}
		event, err := decode(stored.Type, stored.Data)
		if err == nil {
			if waves[id] == nil {
				waves[id] = New(id)
			}
			err = waves[id].Apply(stored.At, event)
		}
		if err != nil {
			return nil, nil, statestore.DamagedEvent(stored, err)
		}
		if listable(event) {
			summaries[id] = waves[id].summary("")
		}
	}
	return waves, summaries, nil
}

// placeOf is the place that runs a wave. Where the events do not name it, as those of older versions, one of the records does.
func placeOf(r statestore.Reader, w *Wave) string {
	place := w.Plan.Place
	for _, prefix := range []string{listPrefix, openPrefix} {
		record, err := r.Get(statestore.Key(prefix + w.ID))
		var stored began
		if place == "" && err == nil && json.Unmarshal(record.Value, &stored) == nil {
			place = stored.Place
		}
	}
	return place
}

// listed is the record of a wave in the list of all. Older versions wrote less, which is good enough where it is right.
func listed(r statestore.Reader, s Summary, place string) ([]byte, error) {
	s.Place = place
	short, err := json.Marshal(began{At: s.At, Place: place})
	if err != nil {
		return nil, err
	}
	if record, err := r.Get(statestore.Key(listPrefix + s.ID)); err == nil && bytes.Equal(record.Value, short) {
		return short, nil
	}
	return json.Marshal(s)
}
