package wave

import (
	"context"

	"golang.org/x/sync/semaphore"

	"aesop/wave/journal"
)

// approve asks the approver about every verified item that the reviewer let pass, about all of them at once, so that a person can
// answer in any order. Where none is configured now, a wave that had one waits at the Desk.
func (r *run) approve() error {
	wave := r.journal.Wave()
	if !wave.Approve || len(wave.Order) == 0 {
		return nil
	}
	seat := r.s.config.Approver
	if seat == nil {
		seat = Desk{Store: r.s.config.Store}.Approver()
	}
	tests := semaphore.NewWeighted(int64(r.s.config.Parallel)) // of corrections, at once
	return r.eachItem(len(wave.Order), func(i *journal.ItemState) bool { return unjudged(i, journal.SeatApprove) },
		func(ctx context.Context, id string) error {
			for {
				if unscanned(r.journal.Item(id)) { // corrected; nobody is asked about what may not ship
					if err := r.scanItem(ctx, id); err != nil || !r.journal.Item(id).Open() {
						return err
					}
				}
				judgement, err := r.askApprover(ctx, seat, id)
				if err != nil {
					return err
				}
				if judgement.Correction == nil {
					return r.judged(journal.Judged{Item: id, Seat: journal.SeatApprove, OK: judgement.OK, Reason: judgement.Reason, By: judgement.By, Usage: judgement.Usage})
				}
				if err := tests.Acquire(ctx, 1); err != nil {
					return context.Cause(ctx)
				}
				err = r.correct(ctx, r.journal.Item(id), judgement)
				tests.Release(1)
				if err != nil {
					return err
				}
			}
		})
}

// askApprover writes down that the item waits, and waits for the answer.
func (r *run) askApprover(ctx context.Context, seat Approver, id string) (Judgement, error) {
	if item := r.journal.Item(id); !item.Waits() {
		if err := r.record(journal.Asked{Item: id, Commit: item.Verified, Corrections: len(item.Corrected)}); err != nil {
			return Judgement{}, err
		}
	}
	change, err := r.change(ctx, id)
	if err != nil {
		return Judgement{}, err
	}
	judgement, err := seat.Approve(ctx, change)
	return r.answered(ctx, id, journal.SeatApprove, judgement, err)
}
