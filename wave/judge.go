package wave

import (
	"context"

	"aesop/wave/journal"
)

// unjudged says that an item could ship, were it not that a seat has not judged it.
func unjudged(i *journal.ItemState, seat string) bool {
	return i.Shippable() && i.Judged[seat].Seat == ""
}

// change is an item's verified commit as it is judged.
func (r *run) change(ctx context.Context, id string) (Change, error) {
	item := r.journal.Item(id)
	t := r.targetOf(id)
	diff, err := t.engine.Diff(ctx, t.Base, item.Verified, maxDiff)
	return Change{Wave: r.id, Item: r.item(id), Commit: item.Verified, Diff: diff, Corrected: item.Corrected, Dispatch: r.dispatchOn(id, item.Verified)}, err
}

// judged writes a judgement down; a no ends the item.
func (r *run) judged(j journal.Judged) error {
	r.mu.Lock()
	j.Confinement, j.Survivors, j.Charge = r.seats[j.Item].confinement, r.seats[j.Item].survivors, r.seats[j.Item].charge
	delete(r.seats, j.Item)
	r.mu.Unlock()
	if err := r.record(j); err != nil || j.OK {
		return err
	}
	return r.end(j.Item, journal.StateReviewRejected, j.Reason, true, &journal.Failure{Step: j.Seat, Tail: j.Reason})
}

// answered is what asking a seat about an item came to: its judgement, or why there is none. What agents used for one that was not given
// is written down all the same.
func (r *run) answered(ctx context.Context, id, seat string, j Judgement, err error) (Judgement, error) {
	stopped := ctx.Err() != nil
	if err == nil && !stopped {
		return j, nil
	}
	if stopped {
		err = context.Cause(ctx)
	}
	r.mu.Lock()
	was := r.seats[id]
	delete(r.seats, id)
	r.mu.Unlock()
	if j.Usage != nil || was.charge != nil || was.confinement != "" || len(was.survivors) > 0 {
		silent := journal.Unanswered{Item: id, Seat: seat, Reason: err.Error(), Usage: j.Usage, Confinement: was.confinement, Survivors: was.survivors, Charge: was.charge}
		if err := r.record(silent); err != nil {
			return Judgement{}, err
		}
	}
	if !stopped {
		err = r.noJudgement(seat, err)
	}
	return Judgement{}, err
}

// noJudgement is what becomes of a judgement that cannot be had. It is neither yes nor no: it stops the wave like a gate that cannot
// be evaluated.
func (r *run) noJudgement(seat string, err error) error {
	err = &gateError{seat, err}
	r.stop.cancel(err)
	return err
}
