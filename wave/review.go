package wave

import (
	"context"
	"errors"

	"aesop/wave/journal"
	"aesop/wave/policy"
)

// review asks the reviewer about the verified items that are chosen for it and that it has not judged yet.
func (r *run) review() error {
	wave := r.journal.Wave()
	if !wave.Review {
		return nil
	}
	chosen, err := r.chosen(policy.Review, wave.Plan.ReviewShare, wave.Select(reviewable))
	if err != nil {
		return err
	}
	return r.eachItem(r.s.config.Parallel, func(i *journal.ItemState) bool { return chosen[i.ID] && unjudged(i, journal.SeatReview) }, r.reviewItem)
}

// reviewable are the items of which a share is reviewed, judged ones included, so that a resumed wave chooses the same.
func reviewable(i *journal.ItemState) bool { return i.Built() && !i.Refuted() }

func (r *run) reviewItem(ctx context.Context, id string) error {
	seat := r.s.config.Reviewer
	if seat == nil {
		return r.noJudgement(journal.SeatReview, errors.New("the wave is one with a reviewer, and none is configured now"))
	}
	if err := r.pass("dispatch", id); err != nil {
		return err
	}
	change, err := r.change(ctx, id)
	if err != nil {
		return err
	}
	judgement, err := seat.Review(ctx, change)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return r.noJudgement(journal.SeatReview, err)
	}
	return r.judged(journal.Judged{Item: id, Seat: journal.SeatReview, OK: judgement.OK, Reason: judgement.Reason, By: judgement.By, Usage: judgement.Usage})
}
