package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/outbox"
)

// The types of the events of advice, and the kinds of the news of them. The data is the Advice.
const (
	StalledKind    = "agent.stalled"   // opened, or it has got another level
	recoveredEvent = "agent.recovered" // closed: the agent gets on
	endedEvent     = "agent.ended"     // closed: the attempt runs no more
)

// Advice is kept of an agent that has stalled, from when that was seen until the agent gets on or its attempt has ended.
type Advice struct {
	Job     string    `json:"job"`
	Attempt string    `json:"attempt"`
	Level   Level     `json:"level"` // stalled or dead; in the event that closes it, how the agent is judged now
	Reasons []Reason  `json:"reasons,omitempty"`
	Next    []Action  `json:"next,omitempty"` // suggested steps, in order
	Opened  time.Time `json:"opened"`
	At      time.Time `json:"at"` // of the newest change of it
}

func (a Advice) reason() string {
	words := []string{string(a.Level)}
	for _, r := range a.Reasons {
		words = append(words, string(r))
	}
	return strings.Join(words, " ")
}

// Kinds are those of the news of agents, which sinks of the store's outbox can hear of.
func Kinds() []string { return []string{StalledKind, recoveredEvent, endedEvent} }

func readAdvice(data []byte, of string) (Advice, error) {
	var a Advice
	if err := json.Unmarshal(data, &a); err != nil {
		return a, err
	}
	if a.Job != of || a.Attempt == "" || a.Level == "" || a.At.IsZero() {
		return a, errors.New("it is not advice on that job")
	}
	return a, nil
}

// AdviceOf is the advice that is open on a job. The error is statestore.ErrNotFound where there is none, and a
// *statestore.DamagedError where it cannot be read.
func AdviceOf(r statestore.Reader, job string) (Advice, error) {
	record, err := r.Get(adviceKey(job))
	if err != nil {
		return Advice{}, fmt.Errorf("advice on job %s: %w", job, err)
	}
	a, err := readAdvice(record.Value, job)
	if err != nil {
		return Advice{}, statestore.DamagedRecord(record.Key, err)
	}
	return a, nil
}

// Advise opens and closes advice as agents are judged, each with its event, and says of how many it changed any. A
// verdict on what is not so any more changes nothing: one of an attempt that does not run opens none. Unknown and Future
// neither open nor close. Repeating it changes nothing.
func Advise(tx statestore.Tx, verdicts ...Verdict) (changed int, err error) {
	for _, v := range verdicts {
		did, err := advise(tx, v)
		if err != nil {
			return changed, fmt.Errorf("advise on job %s: %w", v.Job, err)
		}
		if did {
			changed++
		}
	}
	return changed, nil
}

func advise(tx statestore.Tx, v Verdict) (changed bool, err error) {
	record, err := job.Get(tx, v.Job)
	if err != nil {
		return false, err
	}
	open, err := AdviceOf(tx, v.Job)
	if err != nil && !errors.Is(err, statestore.ErrNotFound) {
		return false, err
	}
	opened := err == nil
	runs := record.Status == job.Running
	if opened && (!runs || record.Attempt != open.Attempt) {
		if err := shut(tx, open, endedEvent, Ended); err != nil {
			return false, err
		}
		open, opened, changed = Advice{}, false, true // the attempt that runs now may need its own
	}
	if !runs || v.Attempt != record.Attempt || !v.wants(open, opened) {
		return changed, nil
	}
	if !v.Level.Stalls() {
		return true, shut(tx, open, recoveredEvent, v.Level)
	}
	a := Advice{Job: v.Job, Attempt: v.Attempt, Level: v.Level, Reasons: v.Reasons, Next: v.Level.next(), Opened: tx.Now(), At: tx.Now()}
	if opened {
		a.Opened = open.Opened
	}
	data, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	if err := tell(tx, v.Job, StalledKind, data); err != nil {
		return false, err
	}
	_, err = tx.Put(adviceKey(v.Job), data, statestore.Any)
	return true, err
}

// wants says whether the advice on the job is to become another than it is.
func (v Verdict) wants(open Advice, opened bool) bool {
	switch {
	case v.Level.Stalls():
		return !opened || open.Attempt != v.Attempt || open.Level != v.Level
	case v.Level == Unknown || v.Level == Future:
		return opened && open.Attempt != v.Attempt
	}
	return opened
}

// shut closes advice.
func shut(tx statestore.Tx, open Advice, event string, level Level) error {
	data, err := json.Marshal(Advice{Job: open.Job, Attempt: open.Attempt, Level: level, Opened: open.Opened, At: tx.Now()})
	if err != nil {
		return err
	}
	if err := tell(tx, open.Job, event, data); err != nil {
		return err
	}
	return tx.Delete(adviceKey(open.Job), statestore.Any)
}

// tell appends the event and owes it to the sinks that want it.
func tell(tx statestore.Tx, job, event string, data []byte) error {
	at, err := tx.Append(Stream(job), statestore.AnyVersion, statestore.Entry{Type: event, Data: data})
	if err != nil {
		return err
	}
	_, err = outbox.Add(tx, at, outbox.Intent{Kind: event, Subject: Stream(job), Seq: int(at), Data: data})
	return err
}
