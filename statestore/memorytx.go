package statestore

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"aesop/statestore/internal/backend"
)

var errOver = errors.New("the transaction is over")

// memoryTx is a transaction on one state, and a Reader of it as long as nothing is written.
type memoryTx struct {
	state   *memoryState
	records []*Record // the state's until owned
	owned   bool
	added   []Stored
	rev     Rev
	now     time.Time
	over    bool
}

func (tx *memoryTx) end() { tx.over = true }

// commit makes the next state. Only the writer whose turn it is may call it.
func (tx *memoryTx) commit() *memoryState {
	for _, event := range tx.added {
		stream := tx.state.streams[event.Stream]
		if stream == nil {
			stream = &memoryStream{ids: map[string]Seq{}}
			tx.state.streams[event.Stream] = stream
		}
		stream.version = event.Version
		if event.ID != "" {
			stream.ids[event.ID] = event.Seq
		}
	}
	return &memoryState{
		records: tx.records,
		events:  append(tx.state.events, tx.added...),
		rev:     tx.rev,
		streams: tx.state.streams,
	}
}

func (tx *memoryTx) Now() time.Time { return tx.now }

// find returns where the record of k is or would be.
func (tx *memoryTx) find(k Key) (int, bool) {
	return slices.BinarySearchFunc(tx.records, k, func(r *Record, k Key) int {
		return strings.Compare(string(r.Key), string(k))
	})
}

func (tx *memoryTx) Get(k Key) (Record, error) {
	if tx.over {
		return Record{}, errOver
	}
	i, found := tx.find(k)
	if !found {
		return Record{}, fmt.Errorf("record %q: %w", k, ErrNotFound)
	}
	return tx.records[i].copy(), nil
}

func (r *Record) copy() Record {
	return Record{Key: r.Key, Value: bytes.Clone(r.Value), Rev: r.Rev}
}

func (tx *memoryTx) Scan(r Range) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		after := r.After
		for n := 0; r.Limit <= 0 || n < r.Limit; n++ {
			if tx.over {
				yield(Record{}, errOver)
				return
			}
			// Each step searches anew: the loop's body may have written.
			i, found := tx.find(max(after, r.Prefix))
			if found && tx.records[i].Key == after {
				i++
			}
			if i == len(tx.records) || !strings.HasPrefix(string(tx.records[i].Key), string(r.Prefix)) {
				return
			}
			after = tx.records[i].Key
			if !yield(tx.records[i].copy(), nil) {
				return
			}
		}
	}
}

func (tx *memoryTx) Events(q EventQuery) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		seq, n := q.After, 0
		for q.Limit <= 0 || n < q.Limit {
			if tx.over {
				yield(Stored{}, errOver)
				return
			}
			event, found := tx.event(seq)
			if !found {
				return
			}
			seq = event.Seq
			if q.Stream != "" && event.Stream != q.Stream {
				continue
			}
			n++
			event.Data = bytes.Clone(event.Data)
			if !yield(event, nil) {
				return
			}
		}
	}
}

// event returns the event that follows after.
func (tx *memoryTx) event(after Seq) (Stored, bool) {
	old := Seq(len(tx.state.events))
	switch {
	case after < old:
		return tx.state.events[after], true
	case after-old < Seq(len(tx.added)):
		return tx.added[after-old], true
	}
	return Stored{}, false
}

func (tx *memoryTx) Put(k Key, value []byte, ifRev Rev) (Rev, error) {
	if tx.over {
		return 0, errOver
	}
	if err := backend.CheckName("key", string(k)); err != nil {
		return 0, fmt.Errorf("put: %w", err)
	}
	i, found := tx.find(k)
	if err := tx.compare(k, i, found, ifRev); err != nil {
		return 0, err
	}
	tx.own()
	tx.rev++
	record := &Record{Key: k, Value: bytes.Clone(value), Rev: tx.rev}
	if found {
		tx.records[i] = record
	} else {
		tx.records = slices.Insert(tx.records, i, record)
	}
	return tx.rev, nil
}

func (tx *memoryTx) Delete(k Key, ifRev Rev) error {
	if tx.over {
		return errOver
	}
	i, found := tx.find(k)
	if !found {
		return fmt.Errorf("delete %q: %w", k, ErrNotFound)
	}
	if err := tx.compare(k, i, found, ifRev); err != nil {
		return err
	}
	tx.own()
	tx.records = slices.Delete(tx.records, i, i+1)
	return nil
}

func (tx *memoryTx) compare(k Key, i int, found bool, ifRev Rev) error {
	var rev Rev
	if found {
		rev = tx.records[i].Rev
	}
	if ifRev != Any && ifRev != rev {
		return &ConflictError{What: string(k), Want: uint64(ifRev), Got: uint64(rev)}
	}
	return nil
}

// own makes the records this transaction's to change.
func (tx *memoryTx) own() {
	if !tx.owned {
		tx.records, tx.owned = slices.Clone(tx.records), true
	}
}

func (tx *memoryTx) Append(stream string, ifVersion Version, events ...Entry) (Seq, error) {
	if tx.over {
		return 0, errOver
	}
	if err := backend.CheckName("name of the stream", stream); err != nil {
		return 0, fmt.Errorf("append: %w", err)
	}
	for _, entry := range events {
		if err := backend.CheckTexts(entry.ID, entry.Type); err != nil {
			return 0, fmt.Errorf("append to %q: %w", stream, err)
		}
	}
	version := tx.version(stream)
	if ifVersion != AnyVersion && ifVersion != version {
		return 0, &ConflictError{What: stream, Want: uint64(ifVersion), Got: uint64(version)}
	}
	var last Seq
	for _, entry := range events {
		if seq, found := tx.had(stream, entry.ID); found {
			last = seq
			continue
		}
		version++
		last = Seq(len(tx.state.events) + len(tx.added) + 1)
		entry.Data = bytes.Clone(entry.Data)
		tx.added = append(tx.added, Stored{Entry: entry, Seq: last, Stream: stream, Version: version, At: tx.now})
	}
	return last, nil
}

func (tx *memoryTx) version(stream string) Version {
	for _, event := range slices.Backward(tx.added) {
		if event.Stream == stream {
			return event.Version
		}
	}
	if s := tx.state.streams[stream]; s != nil {
		return s.version
	}
	return 0
}

// had finds the event of a stream that has the non-empty id.
func (tx *memoryTx) had(stream, id string) (Seq, bool) {
	if id == "" {
		return 0, false
	}
	for _, event := range tx.added {
		if event.Stream == stream && event.ID == id {
			return event.Seq, true
		}
	}
	if s := tx.state.streams[stream]; s != nil {
		seq, found := s.ids[id]
		return seq, found
	}
	return 0, false
}
