package wave

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"aesop/wave/journal"
)

// step is what an item needs next.
type step int

const (
	stepNone     step = iota // nothing: it has ended, or waits to ship
	stepDispatch             // an agent
	stepVerify               // the test of its newest commit
	stepJudge                // a reviewer or an approver
	stepGiveUp               // its rounds are used up
)

// next is decided by the fold alone, so that a resumed wave takes up exactly where the old one was.
func next(i *journal.ItemState, plan journal.Planned) step {
	if !i.Open() {
		return stepNone
	}
	if i.Verified != "" {
		if plan.Review && i.Judged[journal.SeatReview].Seat == "" || plan.Approve && i.Judged[journal.SeatApprove].Seat == "" {
			return stepJudge
		}
		return stepNone
	}
	a := i.Last()
	switch {
	case a == nil, a.Ended == nil, a.Ended.Outcome == journal.OutcomeCancelled:
		return stepDispatch
	case a.Test == nil:
		return stepVerify
	case a.Round > plan.Repairs:
		return stepGiveUp
	}
	return stepDispatch
}

// build brings every item to a verified commit or to its end, several at once.
func (r *run) build() error {
	wave := r.journal.Wave()
	slots := semaphore.NewWeighted(int64(r.s.config.Parallel))
	var working sync.WaitGroup
	for _, item := range wave.Select((*journal.ItemState).Open) {
		if wave.Of(item).Failed != nil || next(item, wave.Plan) == stepNone || slots.Acquire(r.stop.ctx, 1) != nil {
			continue
		}
		working.Go(func() {
			defer slots.Release(1)
			// An item's own misfortune is an event. What comes back is the engine's, and stops the wave.
			if err := r.buildItem(item.ID); err != nil && r.stop.ctx.Err() == nil {
				r.stop.cancel(&engineError{err})
			}
		})
	}
	working.Wait()
	if r.stop.ctx.Err() != nil {
		return context.Cause(r.stop.ctx)
	}
	return nil
}

// engineError is a fault of the engine or of what it stands on, as the cause that ends a wave's context.
type engineError struct{ err error }

func (e *engineError) Error() string { return e.err.Error() }
func (e *engineError) Unwrap() error { return e.err }

// buildItem takes the item's steps until none is left. A stop of the wave comes back as its cause.
func (r *run) buildItem(id string) (err error) {
	ctx, cancel := context.WithCancelCause(r.stop.ctx)
	defer cancel(nil)
	r.mu.Lock()
	r.cancel[id] = cancel
	r.mu.Unlock()
	for {
		if !r.holds(id) { // lost while it waited
			return r.end(id, journal.StateClaimLost, claimGone, false, nil)
		}
		wave := r.journal.Wave()
		item := wave.Items[id]
		switch what := next(item, wave.Plan); what {
		case stepNone:
			return nil
		case stepDispatch:
			err = r.dispatch(ctx, item)
		case stepVerify:
			err = r.verify(ctx, item)
		case stepJudge:
			err = r.judge(ctx, item)
		case stepGiveUp:
			err = r.giveUp(item)
		}
		if errors.Is(context.Cause(ctx), errClaimLost) {
			return r.end(id, journal.StateClaimLost, claimGone, false, nil)
		}
		if taken(err) {
			return r.end(id, journal.StateClaimLost, err.Error(), false, nil)
		}
		if err != nil {
			return fmt.Errorf("item %s: %w", id, err)
		}
	}
}

// claimGone is the reason of an item that this wave no longer holds: somebody else does, or a person decided about it.
const claimGone = "this wave no longer holds the claim"

// end writes the end of an item that does not ship.
func (r *run) end(id string, state journal.State, reason string, counted bool, failure *journal.Failure) error {
	return r.recordWith(r.cancelJob(id, string(state)), journal.ItemEnded{Item: id, State: state, Reason: reason, Counted: counted, Failure: failure})
}

// endAll ends every open item of a repository in the same way, uncounted.
func (r *run) endAll(repo string, state journal.State, reason string) error {
	for _, item := range r.journal.Wave().Select((*journal.ItemState).Open) {
		if item.Repo != repo {
			continue
		}
		if err := r.end(item.ID, state, reason, false, nil); err != nil {
			return err
		}
	}
	return nil
}

// giveUp ends an item whose last repair failed too.
func (r *run) giveUp(item *journal.ItemState) error {
	test := item.Last().Test
	return r.end(item.ID, journal.StateNotVerified, "the tests fail after every repair", true, testFailure("verify", item.TestText, *test))
}

func testFailure(step, command string, t journal.Test) *journal.Failure {
	tail := t.Stdout
	if t.Stderr != "" {
		tail = joinLines(tail, t.Stderr)
	}
	return &journal.Failure{Step: step, Command: command, Exit: t.Exit, Tail: joinLines(tail, t.Reason)}
}

func joinLines(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "\n" + b
}
