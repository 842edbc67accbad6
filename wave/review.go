package wave

import (
	"context"
	"errors"

	"aesop/wave/journal"
	"aesop/wave/policy"
)

// review asks the reviewer about a share of the verified items.
func (r *run) review() error {
	wave := r.journal.Wave()
	if !wave.Review {
		return nil
	}
	return r.takeShare(share{policy.Review, wave.Plan.ReviewShare, reviewable, reviewed, r.reviewItem})
}

// reviewable are the items of which a share is reviewed.
func reviewable(i *journal.ItemState) bool { return checkable(i) && !i.Refuted() }

func reviewed(i *journal.ItemState) bool { return i.Judged[journal.SeatReview].Seat != "" }

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
	if judgement, err = r.answered(ctx, id, journal.SeatReview, judgement, err); err != nil {
		return err
	}
	return r.judged(journal.Judged{Item: id, Seat: journal.SeatReview, OK: judgement.OK, Reason: judgement.Reason, By: judgement.By, Usage: judgement.Usage})
}
