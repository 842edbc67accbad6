package wave

import (
	"fmt"
	"slices"
	"strings"

	"aesop/internal/git"
	"aesop/internal/tree"
	"aesop/wave/journal"
)

// maxMoves is how often a wave follows a base branch that goes on while it works. After that it ships what it has: that is tested, and
// only further behind.
const maxMoves = 2

// follow brings the verified items of a repository onto the tip of the base branch, if that has gone on, and tests each of them there.
func (r *run) follow(t *target) error {
	for {
		before := t.Base
		if err := r.move(t); err != nil {
			return err
		}
		for _, item := range r.shippable(t) {
			if err := r.rebase(t, item); err != nil {
				return err
			}
		}
		if t.Base == before {
			return nil
		}
	}
}

// move takes the tip of the base branch for the base where it is ahead of it, and passes the repository's own test. A remote that does
// not answer here, or whose branch was rewritten, is left to the push.
func (r *run) move(t *target) error {
	ctx := r.stop.ctx
	if r.journal.Wave().Repositories[t.Name].Moves >= maxMoves || len(r.shippable(t)) == 0 {
		return nil
	}
	refs, err := t.remote.List(ctx)
	tip := refs.All["refs/heads/"+t.Branch]
	if err != nil || tip == "" || tip == t.Base {
		return ctx.Err()
	}
	if err := t.engine.Fetch(ctx, t.remote, tip); err != nil {
		return ctx.Err()
	}
	if ahead, err := t.engine.IsAncestor(ctx, t.Base, tip); err != nil || !ahead {
		return err
	}
	if err := r.canScan(ctx, t, tip); err != nil {
		return ctx.Err() // what is here could ship, and there nothing
	}
	moved := []journal.Event{journal.BaseMoved{Repo: t.Name, From: t.Base, Base: tip}}
	if t.Verify.Argv != nil {
		test, err := r.test(ctx, testRun{target: t, name: "moved-" + itemName(t.Name), commit: tip, argv: t.Verify.Argv, text: t.Verify.Text, seed: r.baseCache(t)})
		if err != nil || !test.Passed {
			return err // the items would be blamed for what others broke
		}
		moved = append(moved, journal.BaseTested{Repo: t.Name, Command: t.Verify.Text, Test: test}) // what the union is compared with
	}
	t.Base = tip
	return r.record(moved...)
}

// shippable are a repository's items that are verified and not shipped.
func (r *run) shippable(t *target) []*journal.ItemState {
	return r.journal.Wave().Select(func(i *journal.ItemState) bool { return i.Repo == t.Name && i.Shippable() })
}

// rebase makes the item's change anew on the base, unless it stands there already, and tests it. How many tests there were before the
// change is counted anew too: what others added or removed is none of the item's doing.
func (r *run) rebase(t *target, item *journal.ItemState) error {
	ctx := r.stop.ctx
	parents, err := t.engine.Parents(ctx, item.Verified)
	if err != nil || parents[0] == t.Base {
		return err
	}
	changes, err := t.engine.Changed(ctx, parents[0], item.Verified)
	if err != nil {
		return err
	}
	theirs, err := t.engine.Changed(ctx, parents[0], t.Base)
	if err != nil {
		return err
	}
	if both := touching(changes, theirs); len(both) > 0 {
		return r.notFollowed(t, item, "where others changed "+strings.Join(both[:min(len(both), maxNamed)], ", ")+" too", nil)
	}
	entries, err := t.engine.List(ctx, t.Base)
	if err != nil {
		return err
	}
	if twins := tree.Twins(entries, changes); len(twins) > 0 {
		return r.notFollowed(t, item, "where others have "+fenceReason(twins), nil)
	}
	message, err := t.engine.Message(ctx, item.Verified)
	if err != nil {
		return err
	}
	w := &work{run: r, target: t, item: item, text: r.item(item.ID), attempt: trailers(message)[trailerAttempt]}
	event := journal.Rebased{Item: item.ID, Of: item.Verified}
	if event.Commit, err = w.commit(ctx, changes); err != nil {
		return err
	}
	if event.Tree, err = t.engine.TreeOf(ctx, event.Commit); err != nil {
		return err
	}
	event.Test, err = r.test(ctx, testRun{target: t, name: "rebased-" + git.Short(event.Commit), item: item.ID, commit: event.Commit,
		argv: w.text.TestCmd.Words(), text: item.TestText, workDir: w.text.WorkDir, seed: r.cacheOf(item.ID)})
	if err != nil {
		return err
	}
	needTests(&event.Test)
	var events []journal.Event
	if event.Test.Passed && event.Test.Tests != nil { // what is not counted needs nothing to compare with
		before, err := r.itemOnBase(ctx, item)
		if err != nil {
			return err
		}
		needTestsOf(&before.Test, &event.Test)
		events = append(events, before)
	}
	if err := r.record(append(events, event)...); err != nil || event.Test.Passed {
		return err
	}
	return r.notFollowed(t, item, "where its test fails", testFailure("rebase", item.TestText, event.Test))
}

// notFollowed ends an item that cannot be brought onto the newer base. Its commit on the older one stays where wave diff finds it.
func (r *run) notFollowed(t *target, item *journal.ItemState, why string, failure *journal.Failure) error {
	reason := fmt.Sprintf("%s moved on to %s, %s; its commit on the older base is %s", t.Branch, git.Short(t.Base), why, git.Short(item.Verified))
	if failure == nil {
		failure = &journal.Failure{Step: "rebase", Tail: reason}
	}
	return r.end(item.ID, journal.StateIntegrationFailed, reason, true, failure)
}

// touching are the paths of a list of changes that another list changes too, or puts a file or folder in the way of.
func touching(changes, others []git.Change) []string {
	theirs := map[string]bool{}
	for _, c := range others {
		theirs[c.Path] = true
	}
	var both []string
	for _, c := range changes {
		met := theirs[c.Path] || slices.ContainsFunc(others, func(o git.Change) bool {
			return strings.HasPrefix(o.Path, c.Path+"/") || strings.HasPrefix(c.Path, o.Path+"/")
		})
		if met {
			both = append(both, c.Path)
		}
	}
	return both
}
