package lifecycle_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
)

// FuzzFold: an event after two that are sound either leaves an agent whose newest step is its state, or is an error that names it.
func FuzzFold(f *testing.F) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	record := job.Record{ID: "j", Item: "i", Wave: "w", Seat: "s", Status: job.Pending, Iteration: 1, TransitionSeq: 1, CreatedAt: at, UpdatedAt: at}
	stored := func(stream, kind string, version statestore.Version, data []byte) statestore.Stored {
		return statestore.Stored{Entry: statestore.Entry{Type: kind, Data: data}, Stream: stream, Version: version, Seq: statestore.Seq(version), At: at}
	}
	encode := func(r job.Record) []byte {
		data, err := json.Marshal(job.Event{Outcome: job.Applied, By: "operator", Job: r})
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	sound := []statestore.Stored{stored("job/j", "job.create", 1, encode(record))}
	record.Status, record.Attempt, record.TransitionSeq = job.Running, "a", 2
	sound = append(sound, stored("job/j", "job.claim", 2, encode(record)))
	record.Status, record.TransitionSeq = job.Completed, 3
	f.Add(false, "job.complete", encode(record))
	f.Add(false, "job.progress", encode(record))
	f.Add(false, "job.complete", []byte(`{"outcome":"refused"}`))
	f.Add(true, "agent.stalled", []byte(`{"job":"j","attempt":"a","level":"dead","at":"2026-01-02T03:04:05Z"}`))
	f.Add(true, "agent.recovered", []byte(`{"job":"j","attempt":"a","level":"ok","at":"2026-01-02T03:04:05Z"}`))
	f.Add(true, "agent.bored", []byte(`{`))
	f.Fuzz(func(t *testing.T, advice bool, kind string, data []byte) {
		stream := "job/j"
		if advice {
			stream = "agent/j"
		}
		events := append(slices.Clone(sound), stored(stream, kind, 3, data))
		a, err := lifecycle.Fold(func(yield func(statestore.Stored, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		})
		if err != nil {
			damaged := (*statestore.DamagedError)(nil)
			if !errors.As(err, &damaged) || damaged.What != "event 3 of "+stream {
				t.Errorf("error is %v", err)
			}
			return
		}
		if last := a.History[len(a.History)-1]; last.State != a.State || len(a.History) < 2 || len(a.History) > 3 {
			t.Errorf("the agent is %+v", a)
		}
	})
}
