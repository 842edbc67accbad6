package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/tracker"
)

// Event is the data of what Apply appends to the stream job/ID: each transition, and each signal of an end that came late, once more or
// on another record than it expected. One that comes again before the job has gone on is not appended again: nobody fills the log with an old
// token. The type is job. with the request's name: job.claim.
type Event struct {
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason,omitempty"` // where it was not applied
	Text    string  `json:"text,omitempty"`
	By      string  `json:"by"` // worker, operator, engine or gate
	From    Status  `json:"from,omitempty"`
	Job     Record  `json:"job"` // afterwards; without the Intent, which is the notifier's, and where it was not applied without Progress
}

// Apply decides a request in the caller's transaction and carries it out: record, indexes, event, and the news of it that is owed to the
// sinks of the store's outbox. It is the only writer of jobs. An error is one of the store; that a request was not applied is in the
// Decision. Where the caller's other writes depend on it, the caller returns an error of its own from the transaction.
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
	if err := carryOut(tx, a, before, rev, &d); err != nil {
		return Decision{}, fmt.Errorf("%s of job %s: %w", a.name, a.id, err)
	}
	return d, nil
}

// carryOut writes what was decided.
func carryOut(tx statestore.Tx, a ask, before *Record, rev statestore.Rev, d *Decision) error {
	if d.audit {
		at, err := audit(tx, a, before, *d)
		if err != nil {
			return err
		}
		if d.Outcome == Applied {
			if err := tell(tx, at, a, &d.Record); err != nil {
				return err
			}
		}
	}
	if d.Outcome != Applied {
		return nil
	}
	return write(tx, before, rev, d.Record)
}

// tell owes the news of a transition to the sinks that want it.
func tell(tx statestore.Tx, at statestore.Seq, a ask, after *Record) error {
	if wanted, err := outbox.Wanted(tx, kind(a.name)); !wanted {
		return err
	}
	news := *after
	news.Intent = ""
	data, err := json.Marshal(news)
	if err != nil {
		return err
	}
	i := outbox.Intent{Kind: kind(a.name), Subject: Stream(after.ID), Seq: after.TransitionSeq, At: after.UpdatedAt, Data: data}
	i.ID = outbox.ID(i.Subject, i.Seq, i.Kind)
	owed, err := outbox.Add(tx, at, i)
	if owed {
		after.Intent = i.ID
	}
	return err
}

// Kind is the type of the event that a request is recorded as, and of its news: job.claim of a Claim.
func Kind(request Request) string { return kind(request.ask().name) }

// Kinds are those of all transitions, which sinks of the store's outbox can hear of.
func Kinds() []string {
	var kinds []string
	for _, r := range table() {
		if k := kind(r.request); !r.quiet && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func kind(request string) string { return "job." + request }

// Settled is outbox.Config.Settled: it settles the news of a job, and leaves that of other subjects alone.
func Settled(tx statestore.Tx, sent outbox.Intent) error {
	id, ours := strings.CutPrefix(sent.Subject, Stream(""))
	if !ours {
		return nil
	}
	_, err := Apply(tx, Settle{ID: id, By: Notifier{Intent: sent.ID}})
	return err
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
		of, err := jobOf(r, tracker.AttemptID(a.by.authority().token))
		a.spent = of != ""
		if err != nil {
			return err
		}
	case "complete", "fail", "cancel", "infer":
		return learnLate(r, a, before)
	case "settle":
		owed, err := outbox.Newest(r, Stream(a.id))
		a.owed = owed
		return err
	}
	return learnRoom(r, a, before)
}

// learnLate finds out whether the token or attempt of a request was the job's before.
func learnLate(r statestore.Reader, a *ask, before *Record) error {
	if before == nil || a.by == nil {
		return nil
	}
	by := a.by.authority()
	attempt := by.attempt
	if by.token != "" {
		attempt = tracker.AttemptID(by.token)
	}
	if attempt == before.Attempt {
		return nil // nobody asks then
	}
	of, err := jobOf(r, attempt)
	a.late = of == before.ID
	return err
}

// jobOf is the job that an attempt is, or was, one of; "" where there is none.
func jobOf(r statestore.Reader, attempt string) (string, error) {
	id, _, err := get[string](r, attemptKey(attempt))
	if errors.Is(err, statestore.ErrNotFound) {
		return "", nil
	}
	return id, err
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
func write(tx statestore.Tx, before *Record, rev statestore.Rev, after Record) error {
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
func audit(tx statestore.Tx, a ask, before *Record, d Decision) (statestore.Seq, error) {
	event := Event{Outcome: d.Outcome, Reason: d.Reason, Text: d.Text, By: string(a.by.authority().role), Job: d.Record}
	event.Job.Intent = ""
	if before != nil {
		event.From = before.Status
	}
	if d.Outcome != Applied {
		event.Job.Progress = nil
	}
	data, err := json.Marshal(event)
	if err != nil {
		return 0, err
	}
	entry := statestore.Entry{Type: kind(a.name), Data: data}
	if d.Outcome != Applied { // once, until the job goes on
		digest := sha256.Sum256(append([]byte(entry.Type), data...))
		entry.ID = hex.EncodeToString(digest[:])
	}
	return tx.Append(Stream(a.id), statestore.AnyVersion, entry)
}
