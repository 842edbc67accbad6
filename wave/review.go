package wave

import (
	"context"
	"errors"

	"aesop/wave/journal"
)

// review asks the reviewer about the verified items that are chosen for it and that it has not judged yet.
func (r *run) review() error {
	wave := r.journal.Wave()
	if !wave.Plan.Review {
		return nil
	}
	chosen := map[string]bool{}
	for _, item := range r.chosenForReview(wave.Select(func(i *journal.ItemState) bool { return i.Verified != "" })) {
		chosen[item.ID] = true
	}
	return r.eachItem(r.s.config.Parallel, func(i *journal.ItemState) bool { return chosen[i.ID] && unjudged(i, journal.SeatReview) }, r.reviewItem)
}

// chosenForReview are those of the verified items, judged ones included, that the reviewer must see.
func (r *run) chosenForReview(verified []*journal.ItemState) []*journal.ItemState { return verified }

func (r *run) reviewItem(ctx context.Context, id string) error {
	seat := r.s.config.Reviewer
	if seat == nil {
		return r.noJudgement(journal.SeatReview, errors.New("the wave was planned with a reviewer, and none is configured now"))
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
	return r.judged(journal.Judged{Item: id, Seat: journal.SeatReview, OK: judgement.OK, Reason: judgement.Reason, By: judgement.By})
}
