package wave

import (
	"context"

	"aesop/wave/journal"
)

// step is what an item needs next to be built.
type step int

const (
	stepNone     step = iota // nothing: it is verified, or has ended
	stepDispatch             // an agent
	stepVerify               // the test of its newest commit
	stepGiveUp               // its rounds are used up
)

// next is decided by the fold alone, so that a resumed wave takes up exactly where the old one was.
func next(i *journal.ItemState, plan journal.Planned) step {
	if !i.Open() || i.Verified != "" {
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
	plan, ask := wave.Plan, []string{}
	for _, i := range wave.Select(func(i *journal.ItemState) bool { return next(i, plan) == stepDispatch }) {
		ask = append(ask, i.ID)
	}
	r.asking = newQueue(ask)
	return r.eachItem(r.s.config.Parallel, func(i *journal.ItemState) bool { return next(i, plan) != stepNone }, r.buildItem)
}

// buildItem takes the item's steps until none is left.
func (r *run) buildItem(ctx context.Context, id string) (err error) {
	defer r.asking.done(id)
	for err == nil && ctx.Err() == nil {
		wave := r.journal.Wave()
		item := wave.Items[id]
		switch next(item, wave.Plan) {
		case stepNone:
			return nil
		case stepDispatch:
			err = r.dispatch(ctx, item)
		case stepVerify:
			err = r.verify(ctx, item)
		case stepGiveUp:
			err = r.giveUp(item)
		}
	}
	return err
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
