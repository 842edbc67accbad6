package wave

import (
	"context"
	"encoding/json"

	"aesop/statestore"
	"aesop/wave/journal"
)

// Approver is the wave's side of the desk: it waits for the decision about a commit.
func (d Desk) Approver() Approver { return deskApprover{d.Store} }

type deskApprover struct{ store statestore.Store }

// Approve returns the decision about this very commit, as it was shown. The record stays: it is the wave's events that say that it
// was carried out, so that a process that dies in between finds it again.
func (a deskApprover) Approve(ctx context.Context, c Change) (Judgement, error) {
	asked := journal.Asked{Item: c.Item.ID, Commit: c.Commit, Corrections: len(c.Corrected)}
	for {
		var d decision
		seq, err := look(ctx, a.store, func(r statestore.Reader) error {
			record, err := r.Get(decisionKey(c.Wave, c.Item.ID))
			if notFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			return json.Unmarshal(record.Value, &d)
		})
		if err != nil {
			return Judgement{}, err
		}
		if d.answers(&asked) {
			return Judgement{OK: d.Verdict == verdictApprove, Reason: d.Reason, By: d.By, Correction: d.Correction}, nil
		}
		if err := a.store.Changed(ctx, seq); err != nil {
			return Judgement{}, err
		}
	}
}

// look reads the store; what it did not see yet has a greater place than the one that comes back, the newest of all events.
func look(ctx context.Context, store statestore.Store, fn func(statestore.Reader) error) (newest statestore.Seq, err error) {
	err = store.View(ctx, func(r statestore.Reader) (err error) {
		if newest, err = statestore.Newest(r, 0); err != nil {
			return err
		}
		return fn(r)
	})
	return newest, err
}
