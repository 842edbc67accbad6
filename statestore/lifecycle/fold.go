package lifecycle

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"aesop/statestore"
	"aesop/statestore/job"
)

// Fold makes an agent of the events of its job and of the advice on it, in the order of their Seq. It is pure. An event
// that cannot be read, or that could not follow those before it, is a *statestore.DamagedError that names it; an error of the
// sequence comes back as it is. No event at all is statestore.ErrNotFound.
func Fold(events iter.Seq2[statestore.Stored, error]) (Agent, error) {
	var f fold
	for stored, err := range events {
		if err != nil {
			return Agent{}, err
		}
		if err := f.apply(stored); err != nil {
			return Agent{}, err
		}
	}
	if f.job == nil {
		return Agent{}, fmt.Errorf("events of an agent: %w", statestore.ErrNotFound)
	}
	return f.agent, nil
}

// fold is an agent with what the next event needs.
type fold struct {
	agent Agent
	job   *job.Record // nil before the first event
	base  State       // what the agent's state is but for stalls
}

func (f *fold) apply(stored statestore.Stored) error {
	if f.job != nil && stored.Stream == Stream(f.job.ID) {
		if err := f.advise(stored); err != nil {
			return statestore.DamagedEvent(stored, err)
		}
		return nil
	}
	after, err := job.Replay(f.job, stored)
	if err != nil || after == nil {
		return err
	}
	f.job = after
	a := &f.agent
	a.Job, a.Item, a.Wave, a.Seat, a.Type = after.ID, after.Item, after.Wave, after.Seat, after.Type
	a.Attempt, a.Iteration, a.Final = after.Attempt, after.Iteration, after.Final
	state, known := stateOf(*after)
	switch {
	case !known:
		return statestore.DamagedEvent(stored, fmt.Errorf("its job is %q", after.Status))
	case stored.Type == job.Kind(job.Reserve{}):
		return nil // of the running attempt; nothing was heard of it
	case stored.Type == job.Kind(job.Progress{}):
		f.base, a.Progress = Working, after.UpdatedAt
		if a.State == Working {
			return nil
		}
		state = Working
	case after.Status == job.Running:
		a.Claimed = after.UpdatedAt
	default:
		a.Claimed, a.Progress = time.Time{}, time.Time{}
	}
	f.base = state
	f.step(state, stored.Seq, after.UpdatedAt, after.Reason)
	return nil
}

// stateOf is the state of the agent of a job of which nothing else is known, and false where its status is none.
func stateOf(r job.Record) (State, bool) {
	switch r.Status {
	case job.Pending:
		return Queued, true
	case job.Running:
		return Dispatched, true
	case job.Completed:
		return Done, true
	case job.Failed:
		return Failed, true
	case job.Cancelled:
		return Cancelled, true
	case job.TimedOut:
		return TimedOut, true
	}
	return "", false
}

// advise applies an event of the advice on the agent.
func (f *fold) advise(stored statestore.Stored) error {
	a, err := readAdvice(stored.Data, f.job.ID)
	if err != nil {
		return err
	}
	switch stored.Type {
	case StalledKind:
		if f.job.Status != job.Running || f.job.Attempt != a.Attempt {
			return errors.New("it is of an attempt that does not run")
		}
		f.step(Stalled, stored.Seq, a.At, a.reason())
	case recoveredEvent:
		if f.agent.State == Stalled {
			f.step(f.base, stored.Seq, a.At, recovered)
		}
	case endedEvent: // what the job came to has ended the stall already
	default:
		return fmt.Errorf("its type is %q", stored.Type)
	}
	return nil
}

func (f *fold) step(state State, seq statestore.Seq, at time.Time, reason string) {
	a := &f.agent
	a.State, a.Since = state, at
	a.History = append(a.History, Step{State: state, At: at, Attempt: a.Attempt, Iteration: a.Iteration, Reason: reason, Seq: seq})
}

// recovered is the reason of the step with which a stall is over.
const recovered = "recovered"

// hear puts what the heartbeat tells into the history: since when the attempt works.
func (a *Agent) hear(h Heartbeat) {
	at := 0 // where the step belongs
	for i, s := range a.History {
		if s.Attempt == h.Attempt && !s.At.After(h.First) {
			at = i + 1
		}
	}
	if at == 0 || a.History[at-1].State == Working || a.History[at-1].State.Ended() {
		return
	}
	if at < len(a.History) && a.History[at].Attempt == h.Attempt && a.History[at].State == Working {
		a.History[at].At = h.First // progress came after the heartbeat
	} else {
		a.History = slices.Insert(a.History, at, Step{State: Working, At: h.First, Attempt: h.Attempt, Iteration: a.History[at-1].Iteration})
	}
	for i := range a.History[at:] {
		if s := &a.History[at+i]; s.Attempt == h.Attempt && s.State == Dispatched {
			s.State = Working // again, after a stall
		}
	}
	last := a.History[len(a.History)-1]
	a.State, a.Since = last.State, last.At
}
