package sqlite

import (
	"database/sql/driver"
	"fmt"
	"iter"
	"math"
	"sort"
	"time"

	"aesop/statestore"
)

func (t *tx) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	return func(yield func(statestore.Stored, error) bool) {
		after := int64(min(q.After, math.MaxInt64))
		next := func(limit int) ([]statestore.Stored, error) {
			events, err := t.eventPage(allEvents, place{seq: after}, after, limit)
			if len(events) > 0 {
				after = int64(events[len(events)-1].Seq)
			}
			return events, err
		}
		if q.Stream != "" {
			next = t.streamPages(q.Stream, after)
		}
		pages(q.Limit, yield, next)
	}
}

// streamPages reads the events of a stream by version, whose order is that of Seq.
func (t *tx) streamPages(stream string, after int64) func(limit int) ([]statestore.Stored, error) {
	var last place
	begun := false
	return func(limit int) (events []statestore.Stored, err error) {
		if t.over {
			return nil, errOver
		}
		if !begun {
			if last, err = t.placeAfter(stream, after); err != nil {
				return nil, t.fail("read events of", stream, err)
			}
			begun = true
		}
		events, err = t.eventPage(streamEvents, last, last.version, limit, stream)
		if n := len(events); n > 0 {
			last.seq, last.version = int64(events[n-1].Seq), int64(events[n-1].Version)
		}
		return events, err
	}
}

// place is where a reader stands: after this event of all, or of a stream.
type place struct {
	seq     int64
	stream  string // "": all
	version int64
}

// placeAfter finds how many events of a stream are not newer than after, by halves, so that following a long stream costs as
// little as a short one.
func (t *tx) placeAfter(stream string, after int64) (place, error) {
	p := place{stream: stream, seq: after}
	if after <= 0 {
		return p, nil
	}
	newest, _, err := t.conn.integer(newestVersion, stream)
	if err != nil {
		return p, err
	}
	p.version = int64(sort.Search(int(newest), func(i int) bool {
		if err != nil {
			return true
		}
		seq, found, e := t.conn.integer("SELECT seq FROM events WHERE stream = ? AND version = ?", stream, int64(i)+1)
		if err = e; err == nil && !found {
			err = &DamagedError{t.conn.path, fmt.Errorf("version %d of stream %q is gone", i+1, stream)}
		}
		return seq > after
	}))
	return p, err
}

const (
	columns       = "SELECT seq, stream, version, id, type, data, at, sum FROM events "
	allEvents     = columns + "WHERE seq > ? ORDER BY seq LIMIT ?"
	streamEvents  = columns + "WHERE version > ? AND stream = ?3 ORDER BY version LIMIT ?2"
	newestEvent   = columns + "ORDER BY seq DESC LIMIT 1"
	newestVersion = "SELECT version FROM events WHERE stream = ? ORDER BY version DESC LIMIT 1"
)

func (t *tx) eventPage(query string, last place, after int64, limit int, stream ...driver.Value) ([]statestore.Stored, error) {
	if t.over {
		return nil, errOver
	}
	var events []statestore.Stored
	err := t.conn.query(query, func(row []driver.Value) error {
		e, err := event(row)
		if err == nil {
			err = last.step(e)
		}
		events = append(events, e)
		return err
	}, append([]driver.Value{after, int64(limit)}, stream...)...)
	if err != nil {
		return nil, t.fail("read events of", last.stream, err)
	}
	return events, nil
}

// step goes on to the next event, and does not go on where one between was lost.
func (p *place) step(e statestore.Stored) error {
	seq, version := int64(e.Seq), int64(e.Version)
	switch {
	case p.stream == "" && seq != p.seq+1:
		return fmt.Errorf("event %d follows %d: %w", seq, p.seq, errGap)
	case p.stream != "" && (e.Stream != p.stream || version != p.version+1 || seq <= p.seq):
		return fmt.Errorf("event %d, version %d of stream %q, follows event %d, version %d of stream %q: %w",
			seq, version, e.Stream, p.seq, p.version, p.stream, errGap)
	}
	p.seq, p.version = seq, version
	return nil
}

// event reads a row and compares its checksum.
func event(row []driver.Value) (statestore.Stored, error) {
	seq, isSeq := row[0].(int64)
	stream, isStream := row[1].(string)
	version, isVersion := row[2].(int64)
	id, isID := row[3].(string)
	kind, isKind := row[4].(string)
	data, isData := row[5].([]byte) // an empty one comes as nil, a null as no slice at all
	at, isAt := row[6].(int64)
	sum, isSum := row[7].(int64)
	switch {
	case !isSeq || !isStream || !isVersion || !isID || !isKind || !isData || !isAt || !isSum:
		return statestore.Stored{}, fmt.Errorf("event %d: %w", seq, errMalformed)
	case sum != eventSum(seq, stream, version, id, kind, data, at):
		return statestore.Stored{}, fmt.Errorf("event %d: %w", seq, errSum)
	}
	return statestore.Stored{
		Entry:   statestore.Entry{ID: id, Type: kind, Data: data},
		Seq:     statestore.Seq(seq),
		Stream:  stream,
		Version: statestore.Version(version),
		At:      time.UnixMicro(at).UTC(),
	}, nil
}
