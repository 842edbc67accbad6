package wave

import (
	"errors"

	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/wave/journal"
)

// endAbandoned writes down the end of an attempt that died with its process. Nobody knows what it used, so all that it had reserved is charged.
func (r *run) endAbandoned(item string, a *journal.Attempt, end journal.AttemptEnded) error {
	dead, err := r.jobNow(item)
	if err != nil {
		return err
	}
	if dead.Attempt != a.ID { // somebody else ended the job since, and what it had reserved is charged
		dead = job.Record{Wave: r.id, Item: item, Attempt: a.ID, Seat: string(driver.Worker)}
	}
	end.Charge = charge(r.s.lapsed(dead, r.s.config.Clock()), nil)
	return r.recordWith(r.chargeDead(dead), end)
}

// chargeLeft charges what agents of seats had reserved that died with their process.
func (r *run) chargeLeft() error {
	for _, id := range r.journal.Wave().Order {
		dead, err := r.jobNow(id)
		if err != nil {
			return err
		}
		if dead.Reserved == nil {
			continue
		}
		if err := r.recordWith(r.chargeDead(dead)); err != nil {
			return err
		}
	}
	return nil
}

// chargeDead charges what an attempt had reserved that died, and gives it back.
func (r *run) chargeDead(dead job.Record) func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		if err := ledger.Append(tx, r.s.lapsed(dead, tx.Now())...); err != nil || dead.Reserved == nil {
			return err
		}
		_, err := r.s.apply(tx, job.Reserve{ID: dead.ID, By: operator(dead)})
		return err
	}
}

// jobNow is the item's job, the zero one where there is none.
func (r *run) jobNow(item string) (record job.Record, err error) {
	err = r.s.config.Store.View(r.stop.ctx, func(reader statestore.Reader) (err error) {
		record, err = job.Get(reader, r.jobID(item))
		return ignoreMissing(err)
	})
	return record, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, statestore.ErrNotFound) {
		return nil
	}
	return err
}
