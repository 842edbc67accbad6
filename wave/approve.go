package wave

import (
	"context"

	"aesop/wave/journal"
)

// approve asks the approver about every verified item that the reviewer let pass, about all of them at once, so that a person can
// answer in any order.
func (r *run) approve() error {
	wave := r.journal.Wave()
	if !wave.Plan.Approve || len(wave.Order) == 0 {
		return nil
	}
	return r.eachItem(len(wave.Order), func(i *journal.ItemState) bool { return unjudged(i, journal.SeatApprove) }, r.approveItem)
}

func (r *run) approveItem(ctx context.Context, id string) error {
	seat := r.s.config.Approver
	if seat == nil {
		return r.noJudgement(journal.SeatApprove, errNoSeat)
	}
	change, err := r.change(ctx, id)
	if err != nil {
		return err
	}
	judgement, err := seat.Approve(ctx, change)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return r.noJudgement(journal.SeatApprove, err)
	}
	return r.judged(journal.Judged{Item: id, Seat: journal.SeatApprove, OK: judgement.OK, Reason: judgement.Reason})
}
