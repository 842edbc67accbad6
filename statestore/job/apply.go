package job

import (
	"encoding/json"
	"errors"
	"fmt"

	"aesop/cost"
	"aesop/statestore"
	"aesop/tracker"
)

// Event is the data of what Apply appends to the stream job/ID: each request that was applied, and those on a job that had
// ended already. The type is job. with the request's name: job.claim.
type Event struct {
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason,omitempty"` // where it was not applied
	Text    string  `json:"text,omitempty"`
	By      string  `json:"by"` // worker, operator or engine
	From    Status  `json:"from,omitempty"`
	Job     Record  `json:"job"` // afterwards
}

// Apply decides a request in the caller's transaction and carries it out: record, indexes and event. It is the only writer of
// jobs. An error is one of the store; that a request was not applied is in the Decision. Where the caller's other writes
// depend on it, the caller returns an error of its own from the transaction.
func Apply(tx statestore.Tx, request Request) (Decision, error) {
	if request == nil {
		return Decide(nil, nil, tx.Now()), nil
	}
	a := request.ask()
	before, rev, err := load(tx, a.id)
	if err != nil {
		return Decision{}, err
	}
	if err := learn(tx, &a, before); err != nil {
		return Decision{}, err
	}
	d := decide(table(), before, a, tx.Now())
	if d.Outcome == Applied {
		if err := write(tx, a, before, rev, d.Record); err != nil {
			return Decision{}, fmt.Errorf("%s of job %s: %w", a.name, a.id, err)
		}
	}
	if d.Outcome == Applied || d.audit {
		if err := audit(tx, a, before, d); err != nil {
			return Decision{}, fmt.Errorf("%s of job %s: %w", a.name, a.id, err)
		}
	}
	return d, nil
}

// learn reads the facts that a decision needs beside the record.
func learn(r statestore.Reader, a *ask, before *Record) error {
	switch a.name {
	case "create", "redispatch":
		item := a.create.Item
		if before != nil {
			item = before.Item
		}
		index, _, err := loadItem(r, item)
		a.live, a.epoch = index.Live, index.Epoch
		return err
	case "claim":
		_, err := r.Get(attemptKey(tracker.AttemptID(a.by.authority().token)))
		a.spent = err == nil
		if err != nil && !errors.Is(err, statestore.ErrNotFound) {
			return err
		}
	}
	return learnRoom(r, a, before)
}

// learnRoom asks the purse of a request.
func learnRoom(r statestore.Reader, a *ask, before *Record) error {
	if a.purse == nil || before == nil {
		return nil
	}
	granted, err := a.purse.Grant(r, *before)
	if errors.Is(err, cost.ErrCeiling) {
		a.ceiling = err
		return nil
	}
	a.granted = granted
	return err
}

// write stores the job and keeps its indexes.
func write(tx statestore.Tx, a ask, before *Record, rev statestore.Rev, after Record) error {
	if err := put(tx, jobKey(after.ID), after, rev); err != nil {
		return err
	}
	if before == nil {
		if err := put(tx, waveKey(after.Wave, after.ID), after.ID, 0); err != nil {
			return err
		}
	}
	if after.Attempt != "" && (before == nil || before.Attempt != after.Attempt) {
		if err := put(tx, attemptKey(after.Attempt), after.ID, 0); err != nil {
			return err
		}
	}
	if err := keepReserved(tx, before, after); err != nil {
		return err
	}
	live := after.Status.Live()
	if before != nil && before.Status.Live() == live {
		return nil
	}
	index, rev, err := loadItem(tx, after.Item)
	if err != nil {
		return err
	}
	index.Epoch, index.Live = max(index.Epoch, after.Epoch), ""
	if live {
		index.Live = after.ID
	}
	return put(tx, itemKey(after.Item), index, rev)
}

// keepReserved keeps the index of jobs that have something reserved.
func keepReserved(tx statestore.Tx, before *Record, after Record) error {
	had := before != nil && before.Reserved != nil
	switch {
	case after.Reserved != nil && !had:
		return put(tx, reservedKey(after.ID), after.ID, 0)
	case after.Reserved == nil && had:
		return tx.Delete(reservedKey(after.ID), statestore.Any)
	}
	return nil
}

func put(tx statestore.Tx, k statestore.Key, value any, rev statestore.Rev) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = tx.Put(k, data, rev)
	return err
}

// audit appends the event of a decision.
func audit(tx statestore.Tx, a ask, before *Record, d Decision) error {
	event := Event{Outcome: d.Outcome, Reason: d.Reason, Text: d.Text, By: string(a.by.authority().role), Job: d.Record}
	if before != nil {
		event.From = before.Status
	}
	data, err := json.Marshal(event)
	if err != nil {
		return err
	}
	_, err = tx.Append(Stream(a.id), statestore.AnyVersion, statestore.Entry{Type: "job." + a.name, Data: data})
	return err
}
