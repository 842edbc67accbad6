package wave

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/wave/journal"
)

// apply carries out a job request that must be granted. Where it ends an attempt that died with what it had reserved, that is charged.
func (s *Scheduler) apply(tx statestore.Tx, request job.Request) (job.Record, error) {
	decision, err := job.Apply(tx, request)
	if err != nil {
		return job.Record{}, err
	}
	if !decision.OK() {
		return job.Record{}, &jobError{decision}
	}
	if left := decision.Released; left != nil {
		err = ledger.Append(tx, s.lapsed(*left, tx.Now())...)
	}
	return decision.Record, err
}

// jobError is a request that was not granted.
type jobError struct{ job.Decision }

func (e *jobError) Error() string { return fmt.Sprintf("job: %s: %s", e.Reason, e.Text) }
func (e *jobError) Unwrap() error { return e.Ceiling }

// taken says that the item's job is not this wave's to change any more: another wave has a job of the item, or ended this one's when
// it took the item.
func taken(err error) bool {
	e, ok := errors.AsType[*jobError](err)
	return ok && slices.Contains([]job.Reason{job.ItemBusy, job.AlreadyEnded, job.StaleAttempt, job.NoAttempt, job.AlreadyFinal}, e.Reason)
}

// startJob brings the item's job to running under a new token, with what the purse grants, from wherever it is: pending, ended by a round
// that failed, or running for a process that is dead.
func (r *run) startJob(item, token string, round int, from job.Purse) func(statestore.Tx) error {
	id := r.jobID(item)
	return func(tx statestore.Tx) error {
		record, err := job.Get(tx, id)
		if err != nil {
			return err
		}
		switch record.Status {
		case job.Pending:
		case job.Running:
			_, err = r.s.apply(tx, job.Requeue{ID: id, By: operator(record), Reason: "taken over"})
		default:
			_, err = r.s.apply(tx, redispatch(record, round))
		}
		if err != nil {
			return err
		}
		_, err = r.s.apply(tx, job.Claim{ID: id, Token: token, Deadline: r.s.deadline(tx), Reserve: from})
		return err
	}
}

// deadline is when an agent that starts now has ended for certain.
func (s *Scheduler) deadline(tx statestore.Tx) time.Time {
	return tx.Now().Add(s.config.AgentTimeout + s.config.TestTimeout)
}

// failJob ends the item's running job as failed.
func (r *run) failJob(item, reason string) func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		by, err := r.authority(tx, item)
		if err != nil {
			return err
		}
		_, err = r.s.apply(tx, job.Fail{ID: r.jobID(item), By: by, Reason: reason})
		return err
	}
}

// repeatJob ends the item's running job as failed and makes it pending again for the next round, at once, so that no other wave's
// job comes between.
func (r *run) repeatJob(item string, round int) func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		if err := r.failJob(item, "not_verified")(tx); err != nil {
			return err
		}
		record, err := job.Get(tx, r.jobID(item))
		if err != nil {
			return err
		}
		_, err = r.s.apply(tx, redispatch(record, round))
		return err
	}
}

func redispatch(record job.Record, round int) job.Request {
	return job.Redispatch{ID: record.ID, By: job.Engine{TransitionSeq: record.TransitionSeq}, Iteration: record.Iteration + 1, Reason: fmt.Sprintf("round %d", round)}
}

// completeJob ends the item's job as completed, unless it has ended: a push that lands late does not change how.
func (r *run) completeJob(tx statestore.Tx, item string) error {
	record, err := job.Get(tx, r.jobID(item))
	if err != nil || record.Status.Ended() {
		return err
	}
	by, err := r.authority(tx, item)
	if err != nil {
		return err
	}
	_, err = r.s.apply(tx, job.Complete{ID: r.jobID(item), By: by, Reason: "shipped"})
	return err
}

// authority is what ends the item's job: the token of its attempt, or, where that died with an earlier process, the engine's own word.
func (r *run) authority(tx statestore.Tx, item string) (job.Authority, error) {
	r.mu.Lock()
	token := r.jobs[item]
	r.mu.Unlock()
	if token != "" {
		return job.Worker{Token: token}, nil
	}
	record, err := job.Get(tx, r.jobID(item))
	return operator(record), err
}

// cancelJob ends the item's job, whatever runs, unless it has ended.
func (r *run) cancelJob(item, reason string) func(statestore.Tx) error {
	id := r.jobID(item)
	return func(tx statestore.Tx) error {
		record, err := job.Get(tx, id)
		if errors.Is(err, statestore.ErrNotFound) || err == nil && record.Status != job.Pending && record.Status != job.Running {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = r.s.apply(tx, job.Cancel{ID: id, By: operator(record), Reason: r.s.redact(reason)})
		return err
	}
}

// operator is the engine's own word, on the record as it was just read: it holds the wave, and can open the state.
func operator(record job.Record) job.Operator {
	return job.Operator{TransitionSeq: record.TransitionSeq}
}

func (r *run) setJobToken(item, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs[item] = token
}

// createJob makes the item's job, unless this wave has made it already, and returns its epoch. A job of another wave is no obstacle,
// unless it is so young that its wave may still be about to claim the item: the item was found free in the tracker, so whoever had it
// has let the claim lapse, or a person has taken it away. A job of no wave, which somebody made by hand, has no claim there that could lapse.
func (r *run) createJob(tx statestore.Tx, item string) (epoch int, err error) {
	if record, err := job.Get(tx, r.jobID(item)); !errors.Is(err, statestore.ErrNotFound) {
		return record.Epoch, err
	}
	live, exists, err := job.Live(tx, item)
	if err != nil {
		return 0, err
	}
	ofWave, err := journal.Knows(tx, live.Wave)
	if err != nil {
		return 0, err
	}
	if exists && ofWave && tx.Now().Sub(live.UpdatedAt) > claimTime {
		if _, err := r.s.apply(tx, job.Cancel{ID: live.ID, By: operator(live), Reason: "its claim lapsed, and wave " + r.id + " takes the item"}); err != nil {
			return 0, err
		}
	}
	record, err := r.s.apply(tx, job.Create{ID: r.jobID(item), Item: item, Wave: r.id, Seat: "worker", MinEpoch: r.item(item).Epoch})
	return record.Epoch, err
}

// claimTime is far more than passes between a wave's job for an item and its claim of it.
const claimTime = 30 * time.Second
