package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

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
func waveKey(wave, id string) statestore.Key   { return waveJobs + statestore.Key(wave+"/"+id) }

const waveJobs = statestore.Key("wave-job/")

// itemIndex is what is known of all jobs of an item.
type itemIndex struct {
	Epoch int    `json:"epoch"`
	Live  string `json:"live,omitempty"` // the pending or running one
}

// Get returns a job, or an error that is statestore.ErrNotFound. A record that cannot be read is a *statestore.DamagedError, here and wherever jobs
// are read.
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

// Of returns the job that an attempt is, or was, one of, or an error that is statestore.ErrNotFound.
func Of(r statestore.Reader, attempt string) (Record, error) {
	id, _, err := get[string](r, attemptKey(attempt))
	if err != nil {
		return Record{}, err
	}
	return Get(r, id)
}

// All yields all jobs after one in the order of their ids; "" is before the first.
func All(r statestore.Reader, after string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for entry, err := range r.Scan(statestore.Range{Prefix: jobKey(""), After: jobKey(after)}) {
			var record Record
			if err == nil {
				err = decode(entry, &record)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// List yields the jobs of a wave after one in the order of their ids; "" is before the first.
func List(r statestore.Reader, wave, after string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for entry, err := range r.Scan(statestore.Range{Prefix: waveKey(wave, ""), After: waveKey(wave, after)}) {
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
		for item, err := range Items(r, "") {
			var record Record
			if err == nil && item.Live == "" {
				continue
			}
			if err == nil {
				if record, err = Get(r, item.Live); err != nil {
					err = fmt.Errorf("live job of item %s: %w", item.ID, err)
				}
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Item is what is known of all jobs of an item.
type Item struct {
	ID    string
	Epoch int    // of its newest job
	Live  string // id of its pending or running job; "": none is
}

// Items yields the items that ever had a job, after one, in the order of their ids; "" is before the first.
func Items(r statestore.Reader, after string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for entry, err := range r.Scan(statestore.Range{Prefix: itemKey(""), After: itemKey(after)}) {
			var index itemIndex
			if err == nil {
				err = decode(entry, &index)
			}
			id := strings.TrimPrefix(string(entry.Key), string(itemKey("")))
			if !yield(Item{ID: id, Epoch: index.Epoch, Live: index.Live}, err) || err != nil {
				return
			}
		}
	}
}

func decode(entry statestore.Record, value any) error {
	if err := json.Unmarshal(entry.Value, value); err != nil {
		return statestore.DamagedRecord(entry.Key, err)
	}
	return nil
}

func listed(r statestore.Reader, entry statestore.Record) (Record, error) {
	var id string
	if err := decode(entry, &id); err != nil {
		return Record{}, err
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
	if err := decode(record, &value); err != nil {
		return value, 0, err
	}
	return value, record.Rev, nil
}
