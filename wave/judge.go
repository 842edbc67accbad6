package wave

import (
	"context"
	"fmt"

	"aesop/wave/journal"
)

// judge asks the reviewer, then the approver, about the item's verified commit. A judgement that cannot be had is neither yes nor
// no: it stops the wave like a gate that cannot be evaluated.
func (r *run) judge(ctx context.Context, item *journal.ItemState) error {
	seat, ask := journal.SeatReview, r.askReviewer
	if !r.journal.Wave().Plan.Review || item.Judged[journal.SeatReview].Seat != "" {
		seat, ask = journal.SeatApprove, r.askApprover
	}
	t := r.targetOf(item.ID)
	diff, err := t.engine.Diff(ctx, t.Base, item.Verified, maxDiff)
	if err != nil {
		return err
	}
	judgement, err := ask(ctx, Change{Wave: r.id, Item: r.item(item.ID), Commit: item.Verified, Diff: diff})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		err = &gateError{seat, err}
		r.stop.cancel(err)
		return err
	}
	if err := r.record(journal.Judged{Item: item.ID, Seat: seat, OK: judgement.OK, Reason: judgement.Reason}); err != nil {
		return err
	}
	if judgement.OK {
		return nil
	}
	return r.end(item.ID, journal.StateReviewRejected, judgement.Reason, true, &journal.Failure{Step: seat, Tail: judgement.Reason})
}

func (r *run) askReviewer(ctx context.Context, c Change) (Judgement, error) {
	if r.s.config.Reviewer == nil {
		return Judgement{}, fmt.Errorf("the wave was planned with a reviewer and none is configured now")
	}
	return r.s.config.Reviewer.Review(ctx, c)
}

func (r *run) askApprover(ctx context.Context, c Change) (Judgement, error) {
	if r.s.config.Approver == nil {
		return Judgement{}, fmt.Errorf("the wave was planned with an approver and none is configured now")
	}
	return r.s.config.Approver.Approve(ctx, c)
}
