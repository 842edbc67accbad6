package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"aesop/statestore"
)

// Where things are kept:
//
//	job/ID               the Record
//	item/ITEM            the item's newest epoch and its live job
//	attempt/ATTEMPT      the ID of the job that it was an attempt of, so that no token serves twice
//	wave-job/WAVE/ID     the ID, for List
//	reserved/ID          the ID of a job whose attempt has something reserved
//
// and the events of a job in the stream job/ID.

// Stream is the stream of a job's events.
func Stream(id string) string { return "job/" + id }

func jobKey(id string) statestore.Key          { return statestore.Key("job/" + id) }
func itemKey(item string) statestore.Key       { return statestore.Key("item/" + item) }
func attemptKey(attempt string) statestore.Key { return statestore.Key("attempt/" + attempt) }
func reservedKey(id string) statestore.Key     { return statestore.Key("reserved/" + id) }
func waveKey(wave, id string) statestore.Key   { return statestore.Key("wave-job/" + wave + "/" + id) }

// itemIndex is what is known of all jobs of an item.
type itemIndex struct {
	Epoch int    `json:"epoch"`
	Live  string `json:"live,omitempty"` // the pending or running one
}

// Get returns a job, or an error that is statestore.ErrNotFound.
func Get(r statestore.Reader, id string) (Record, error) {
	record, _, err := get[Record](r, jobKey(id))
	return record, err
}

// Live returns the pending or running job of an item, of which there is at most one, or false.
func Live(r statestore.Reader, item string) (Record, bool, error) {
	index, _, err := loadItem(r, item)
	if err != nil || index.Live == "" {
		return Record{}, false, err
	}
	record, err := Get(r, index.Live)
	return record, err == nil, err
}

// List yields the jobs of a wave in the order of their ids.
func List(r statestore.Reader, wave string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for entry, err := range r.Scan(statestore.Range{Prefix: waveKey(wave, "")}) {
			var record Record
			if err == nil {
				record, err = listed(r, entry)
			}
			if err == nil && record.Wave != wave {
				continue // of a wave whose name goes on after the slash
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Reserving yields the running jobs that have something reserved, in the order of their ids.
func Reserving(r statestore.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for entry, err := range r.Scan(statestore.Range{Prefix: reservedKey("")}) {
			var record Record
			if err == nil {
				record, err = listed(r, entry)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Alive yields the pending and running jobs, in the order of their items.
func Alive(r statestore.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for entry, err := range r.Scan(statestore.Range{Prefix: itemKey("")}) {
			var index itemIndex
			if err == nil {
				err = json.Unmarshal(entry.Value, &index)
			}
			var record Record
			if err == nil && index.Live == "" {
				continue
			}
			if err == nil {
				record, err = Get(r, index.Live)
			}
			if err != nil {
				err = fmt.Errorf("record %s: %w", entry.Key, err)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func listed(r statestore.Reader, entry statestore.Record) (Record, error) {
	var id string
	if err := json.Unmarshal(entry.Value, &id); err != nil {
		return Record{}, fmt.Errorf("record %s: %w", entry.Key, err)
	}
	return Get(r, id)
}

// load returns a job and its revision, or nil and 0 where there is none.
func load(r statestore.Reader, id string) (*Record, statestore.Rev, error) {
	record, rev, err := get[Record](r, jobKey(id))
	if errors.Is(err, statestore.ErrNotFound) {
		return nil, 0, nil
	}
	return &record, rev, err
}

func loadItem(r statestore.Reader, item string) (itemIndex, statestore.Rev, error) {
	index, rev, err := get[itemIndex](r, itemKey(item))
	if errors.Is(err, statestore.ErrNotFound) {
		return itemIndex{}, 0, nil
	}
	return index, rev, err
}

func get[T any](r statestore.Reader, k statestore.Key) (T, statestore.Rev, error) {
	var value T
	record, err := r.Get(k)
	if err != nil {
		return value, 0, err
	}
	if err := json.Unmarshal(record.Value, &value); err != nil {
		return value, 0, fmt.Errorf("record %s: %w", k, err)
	}
	return value, record.Rev, nil
}
