package lifecycle

import (
	"errors"
	"fmt"
	"iter"

	"aesop/statestore"
	"aesop/statestore/job"
)

// Of reads the agent of a job with its whole history: what Fold makes of the events, and the heartbeat. The error is
// statestore.ErrNotFound where there is no such job, and a *statestore.DamagedError where an event or the heartbeat cannot be read.
func Of(r statestore.Reader, job string) (Agent, error) {
	a, _, err := of(r, job)
	return a, err
}

// of is Of, with the heartbeat of the agent's attempt, or nil.
func of(r statestore.Reader, job string) (Agent, *Heartbeat, error) {
	a, err := Fold(events(r, job))
	if err != nil {
		return Agent{}, nil, fmt.Errorf("agent of job %s: %w", job, err)
	}
	h, err := BeatOf(r, job)
	if errors.Is(err, statestore.ErrNotFound) {
		return a, nil, nil
	}
	if err != nil {
		return Agent{}, nil, err
	}
	a.hear(h)
	if h.Attempt != a.Attempt {
		return a, nil, nil
	}
	return a, &h, nil
}

// events are those of a job and of the advice on it, by Seq.
func events(r statestore.Reader, id string) iter.Seq2[statestore.Stored, error] {
	return func(yield func(statestore.Stored, error) bool) {
		var advice []statestore.Stored // few: a stall has two
		for stored, err := range r.Events(statestore.EventQuery{Stream: Stream(id)}) {
			if err != nil {
				yield(stored, err)
				return
			}
			advice = append(advice, stored)
		}
		for stored, err := range r.Events(statestore.EventQuery{Stream: job.Stream(id)}) {
			for len(advice) > 0 && err == nil && advice[0].Seq < stored.Seq {
				if !yield(advice[0], nil) {
					return
				}
				advice = advice[1:]
			}
			if !yield(stored, err) || err != nil {
				return
			}
		}
		for _, stored := range advice {
			if !yield(stored, nil) {
				return
			}
		}
	}
}

// now is the agent of a job without its history, with the heartbeat of the running attempt, or nil.
func now(r statestore.Reader, record job.Record) (Agent, *Heartbeat, error) {
	if record.Status == job.Running {
		a, h, err := of(r, record.ID)
		a.History = nil
		return a, h, err
	}
	state, known := stateOf(record)
	if !known {
		return Agent{}, nil, &statestore.DamagedError{What: "record of job " + record.ID, Err: fmt.Errorf("its status is %q", record.Status)}
	}
	a := named(record)
	a.State, a.Since, a.Iteration, a.Final = state, record.UpdatedAt, record.Iteration, record.Final
	return a, nil, nil
}

// named is an agent of whom only the names are known.
func named(r job.Record) Agent {
	return Agent{Job: r.ID, Item: r.Item, Wave: r.Wave, Seat: r.Seat, Type: r.Type, Attempt: r.Attempt}
}

// Sight is an agent without its history, the heartbeat of its running attempt, and how it is judged.
type Sight struct {
	Agent
	Beat    *Heartbeat `json:"heartbeat,omitempty"` // nil: none of that attempt, or none runs
	Verdict Verdict    `json:"verdict"`
}

// Look judges the agent of a job. It costs a row or two where the job does not run, and the events of the one job where it does. What is
// damaged makes it Unknown, with the names of the job and of what cannot be read, and is no error.
func Look(r statestore.Reader, record job.Record, t Thresholds) (Sight, error) {
	a, beat, err := now(r, record)
	if damaged := (*statestore.DamagedError)(nil); errors.As(err, &damaged) {
		return unreadable(record, damaged), nil
	}
	if err != nil {
		return Sight{}, err
	}
	return Sight{Agent: a, Beat: beat, Verdict: Judge(a, beat, r.Now(), t)}, nil
}

// unreadable is an agent of whom something is damaged.
func unreadable(record job.Record, damage *statestore.DamagedError) Sight {
	return Sight{Agent: named(record), Verdict: Unread(record, damage)}
}
