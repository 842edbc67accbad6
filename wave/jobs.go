package wave

import (
	"cmp"
	"errors"
	"fmt"

	"aesop/statestore"
	"aesop/statestore/job"
)

func compareStrings(a, b string) int { return cmp.Compare(a, b) }

// apply carries out a job request that must be granted.
func apply(tx statestore.Tx, request job.Request) error {
	decision, err := job.Apply(tx, request)
	if err != nil {
		return err
	}
	if !decision.OK() {
		return fmt.Errorf("job: %s: %s", decision.Reason, decision.Text)
	}
	return nil
}

// startJob brings the item's job to running under a new token, from wherever it is: pending, ended by a round that failed, or
// running for a process that is dead.
func (r *run) startJob(item, token string, round int) func(statestore.Tx) error {
	id := r.jobID(item)
	return func(tx statestore.Tx) error {
		record, err := job.Get(tx, id)
		if err != nil {
			return err
		}
		switch record.Status {
		case job.Pending:
		case job.Running:
			err = apply(tx, job.Requeue{ID: id, By: operator(record), Reason: "taken over"})
		default:
			err = apply(tx, job.Redispatch{ID: id, By: job.Engine{TransitionSeq: record.TransitionSeq}, Iteration: record.Iteration + 1, Reason: fmt.Sprintf("round %d", round)})
		}
		if err != nil {
			return err
		}
		return apply(tx, job.Claim{ID: id, Token: token, Deadline: tx.Now().Add(r.s.config.AgentTimeout + r.s.config.TestTimeout)})
	}
}

// failJob ends the item's running job as failed.
func (r *run) failJob(item, reason string) func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		by, err := r.authority(tx, item)
		if err != nil {
			return err
		}
		return apply(tx, job.Fail{ID: r.jobID(item), By: by, Reason: reason})
	}
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
	return apply(tx, job.Complete{ID: r.jobID(item), By: by, Reason: "shipped"})
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
		return apply(tx, job.Cancel{ID: id, By: operator(record), Reason: reason})
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

// ensureJob makes the item's job where the wave died before it did, and returns its epoch.
func (r *run) ensureJob(item string) (epoch int, err error) {
	err = r.recordWith(func(tx statestore.Tx) error {
		record, err := job.Get(tx, r.jobID(item))
		if errors.Is(err, statestore.ErrNotFound) {
			var decision job.Decision
			decision, err = job.Apply(tx, r.createJob(item))
			record = decision.Record
		}
		epoch = record.Epoch
		return err
	})
	return epoch, err
}

func (r *run) createJob(item string) job.Create {
	return job.Create{ID: r.jobID(item), Item: item, Wave: r.id, Seat: "worker", MinEpoch: r.item(item).Epoch}
}
