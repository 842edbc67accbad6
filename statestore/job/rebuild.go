package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"aesop/statestore"
	"aesop/statestore/outbox"
)

// Check compares all records of jobs, and the indexes over them, with what the events and the outbox say. It reads the whole log. An event
// that cannot be read is a *statestore.DamagedError that names it.
func Check(r statestore.Reader) ([]statestore.Drift, error) {
	want, err := project(r)
	if err != nil {
		return nil, err
	}
	return statestore.Compare(r, want, jobKey(""), itemKey(""), attemptKey(""), reservedKey(""), waveJobs)
}

// project makes all records of jobs from the events: what write keeps transition by transition.
func project(r statestore.Reader) (map[statestore.Key][]byte, error) {
	jobs, items, records := map[string]*Record{}, map[string]itemIndex{}, map[statestore.Key][]byte{}
	for stored, err := range r.Events(statestore.EventQuery{}) {
		if err != nil {
			return nil, err
		}
		id, ours := strings.CutPrefix(stored.Stream, Stream(""))
		if !ours {
			continue
		}
		after, err := Replay(jobs[id], stored)
		if err != nil {
			return nil, err
		}
		if after == nil {
			continue
		}
		jobs[id] = after
		index := items[after.Item]
		index.Epoch = max(index.Epoch, after.Epoch)
		if after.Status.Live() {
			index.Live = id
		} else if index.Live == id {
			index.Live = ""
		}
		items[after.Item] = index
		if after.Attempt != "" {
			records[attemptKey(after.Attempt)] = encode(id)
		}
	}
	for id, after := range jobs {
		record := *after
		var err error
		if record.Intent, err = outbox.Newest(r, Stream(id)); err != nil {
			return nil, err
		}
		records[jobKey(id)], records[waveKey(record.Wave, id)] = encode(record), encode(id)
		if record.Reserved != nil {
			records[reservedKey(id)] = encode(id)
		}
	}
	for item, index := range items {
		records[itemKey(item)] = encode(index)
	}
	return records, nil
}

// Replay is the job after an event of its stream, given the job before it, or nil where the event is no transition: it was refused, or came
// late. An event that cannot be read, or that the table has no row for, is a *statestore.DamagedError: no Apply has appended it.
func Replay(before *Record, stored statestore.Stored) (*Record, error) {
	after, err := replay(before, stored)
	if err != nil {
		return nil, statestore.DamagedEvent(stored, err)
	}
	return after, nil
}

func replay(before *Record, stored statestore.Stored) (*Record, error) {
	var event Event
	if err := json.Unmarshal(stored.Data, &event); err != nil {
		return nil, err
	}
	switch event.Outcome {
	case Applied:
	case Idempotent, Refused, Conflict, Invalid:
		return nil, nil
	default:
		return nil, fmt.Errorf("its outcome is %q", event.Outcome)
	}
	var had Record
	if before != nil {
		had = *before
	}
	after := event.Job
	if after.TransitionSeq != had.TransitionSeq+1 {
		return nil, fmt.Errorf("it is transition %d, after %d", after.TransitionSeq, had.TransitionSeq)
	}
	if Stream(after.ID) != stored.Stream {
		return nil, errors.New("it is of another job")
	}
	request, named := strings.CutPrefix(stored.Type, kind(""))
	row, _ := find(table(), request, place(before))
	if !named || row == nil || row.quiet || row.to != "" && after.Status != row.to || row.to == "" && after.Status != had.Status {
		return nil, fmt.Errorf("%s makes no job that is %q one that is %q", stored.Type, had.Status, after.Status)
	}
	return &after, nil
}

// encode is the stored form of what marshals without fail.
func encode(value any) []byte {
	data, _ := json.Marshal(value)
	return data
}
