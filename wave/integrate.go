package wave

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"aesop/internal/git"
	"aesop/internal/tree"
	"aesop/wave/journal"
)

// integrateAndShip joins what is verified in each repository and pushes it.
func (r *run) integrateAndShip() error { return r.eachRepository(r.shipFrom) }

// shipFrom ships what is verified in one repository. Items that others have shipped meanwhile leave the wave, and the rest is joined
// anew; each round has fewer items, so it ends. Where the base branch has gone on, they follow it first.
func (r *run) shipFrom(t *target) error {
	for {
		if err := r.guard(t); err != nil { // to follow asks the remote
			return err
		}
		if err := r.follow(t); err != nil {
			return err
		}
		if err := r.scanIn(t); err != nil {
			return err
		}
		tip, kept, err := r.integrate(t, r.shippable(t))
		if err != nil {
			return err
		}
		if len(kept) == 0 {
			return r.retract(t)
		}
		again, err := r.ship(t, tip, kept)
		if err != nil || !again {
			return err
		}
	}
}

// retract removes the wave's branch from where it stands although nothing of it ships: a remote took it from a push that it refused.
func (r *run) retract(t *target) error {
	at := r.ownBranch(t)
	if at == "" || r.journal.Wave().Repositories[t.Name].Shipped != nil {
		return nil
	}
	if err := r.pass("ship", ""); err != nil {
		return err
	}
	if err := r.guard(t); err != nil {
		return err
	}
	if err := r.push(t, []journal.Update{{Ref: "refs/heads/" + Branch(r.id), Old: at}}); err != nil {
		return fmt.Errorf("remove branch %s, of which nothing ships, from %s: %w", Branch(r.id), t.Remote, err)
	}
	return nil
}

// union is a commit that joins the commits of some items.
type union struct {
	tip   git.SHA
	items []*journal.ItemState
}

// integrate joins the items' commits and tests the result. What breaks the others is dropped, one item at a time, until the
// rest passes.
func (r *run) integrate(t *target, items []*journal.ItemState) (git.SHA, []*journal.ItemState, error) {
	ctx := r.stop.ctx
	for len(items) > 0 {
		joined, err := r.join(ctx, t, items)
		if clash, ok := errors.AsType[*clashError](err); ok {
			if err := r.end(clash.item, journal.StateIntegrationFailed, clash.Error(), true, &journal.Failure{Step: "integrate", Tail: clash.Error()}); err != nil {
				return "", nil, err
			}
			items = without(items, clash.item)
			continue
		}
		if err != nil {
			return "", nil, err
		}
		bad, ran, err := r.testUnion(ctx, t, joined)
		if err != nil {
			return "", nil, err
		}
		if bad == nil {
			return joined.tip, items, r.record(journal.Integrated{Repo: t.Name, Tip: joined.tip, Items: itemIDs(items), Verified: ran})
		}
		offender, failure, err := r.offender(ctx, t, items, *bad)
		if err != nil {
			return "", nil, err
		}
		reason := "breaks the test of the items before it"
		if len(items) == 1 {
			reason = "breaks the test of the repository"
		}
		if err := r.end(offender.ID, journal.StateIntegrationFailed, reason, true, failure); err != nil {
			return "", nil, err
		}
		items = without(items, offender.ID)
	}
	return "", nil, nil
}

func without(items []*journal.ItemState, id string) []*journal.ItemState {
	return slices.DeleteFunc(slices.Clone(items), func(i *journal.ItemState) bool { return i.ID == id })
}

// clashError is an item whose paths cannot stand in one tree with those of the items before it: a file and a folder of one name, or names
// that some file system takes for one.
type clashError struct{ item string }

func (e *clashError) Error() string {
	return "its paths cannot stand beside those of the items before it"
}

// join makes the merge commits; of one item it is the item's own commit. The same items give the same commits.
func (r *run) join(ctx context.Context, t *target, items []*journal.ItemState) (union, error) {
	engine, wave := t.engine, r.journal.Wave()
	tip := items[0].Verified
	entries, err := engine.List(ctx, t.Base)
	if err != nil {
		return union{}, err
	}
	whole, err := engine.Changed(ctx, t.Base, tip)
	if err != nil {
		return union{}, err
	}
	for _, item := range items[1:] {
		changes, err := engine.Changed(ctx, t.Base, item.Verified)
		if err != nil {
			return union{}, err
		}
		whole = append(whole, changes...)
		if len(tree.Twins(entries, whole)) > 0 {
			return union{}, &clashError{item.ID}
		}
		// The items own disjoint paths, so the union is the one's tree with the other's changes.
		tip, err = engine.Build(ctx, git.Commit{Parents: []git.SHA{tip, item.Verified}, Changes: changes, Who: t.identity(), When: wave.StartedAt,
			Message: fmt.Sprintf("Join %s\n\n%s", item.Slug, trailerBlock(map[string]string{trailerWave: r.id})), Ref: "refs/aesop/waves/" + r.id})
		if err != nil {
			return union{}, err
		}
		// What ships must be all that was verified: where paths collide, git lets the later take the earlier's place.
		joined, err := engine.Changed(ctx, t.Base, tip)
		if err != nil {
			return union{}, err
		}
		if tree.Digest(joined, tip) != tree.Digest(whole, tip) {
			return union{}, &clashError{item.ID}
		}
	}
	return union{tip: tip, items: items}, nil
}

// check is one command that the union must pass.
type check struct {
	text    string
	argv    []string
	workDir string
	item    string // whose command it is, "" for the configured verify command
}

// checks are the distinct commands of a union. One item alone has passed its own on this very commit.
func (r *run) checks(t *target, u union) []check {
	var all []check
	if len(u.items) > 1 {
		for _, item := range u.items {
			own := r.item(item.ID)
			c := check{text: item.TestText, argv: own.TestCmd.Words(), workDir: own.WorkDir, item: item.ID}
			if !slices.ContainsFunc(all, func(o check) bool { return slices.Equal(o.argv, c.argv) && o.workDir == c.workDir }) {
				all = append(all, c)
			}
		}
	}
	if t.Verify.Argv != nil && !r.journal.Wave().Repositories[t.Name].Red() {
		all = append(all, check{text: t.Verify.Text, argv: t.Verify.Argv})
	}
	return all
}

// failedCheck is the first command that a union did not pass.
type failedCheck struct {
	check
	test journal.Test
}

// testUnion runs the checks; ran says whether there was any.
func (r *run) testUnion(ctx context.Context, t *target, u union) (bad *failedCheck, ran bool, err error) {
	for _, c := range r.checks(t, u) {
		test, err := r.runCheck(ctx, t, u.tip, c)
		if err != nil {
			return nil, ran, err
		}
		ran = true
		if !test.Passed {
			return &failedCheck{c, test}, ran, nil
		}
	}
	return nil, ran, nil
}

func (r *run) runCheck(ctx context.Context, t *target, tip git.SHA, c check) (journal.Test, error) {
	seed, wave := r.baseCache(t), r.journal.Wave()
	var base *journal.Test
	if tested := wave.Repositories[t.Name].Tested; c.item == "" && tested != nil {
		base = &tested.Test
	}
	if c.item != "" {
		seed, base = r.cacheOf(c.item), wave.Items[c.item].BaseTest
	}
	test, err := r.test(ctx, testRun{target: t, name: "union-" + itemName(t.Name), commit: tip, argv: c.argv, text: c.text, workDir: c.workDir, seed: seed})
	if c.item != "" { // a repository without tests can be whole; an item without one is not, and neither is what loses tests
		needTests(&test)
	}
	needTestsOf(base, &test)
	return test, err
}

// offender finds the item with which the failed command first fails, by halving the list: the shortest red beginning ends with it.
func (r *run) offender(ctx context.Context, t *target, items []*journal.ItemState, bad failedCheck) (*journal.ItemState, *journal.Failure, error) {
	low, high, red := 1, len(items), bad.test // the first high items are red
	for low < high {
		middle := (low + high) / 2
		joined, err := r.join(ctx, t, items[:middle])
		if err != nil {
			return nil, nil, err
		}
		test, err := r.runCheck(ctx, t, joined.tip, bad.check)
		if err != nil {
			return nil, nil, err
		}
		if test.Passed || bad.item != "" && !slices.Contains(itemIDs(items[:middle]), bad.item) {
			low = middle + 1
		} else {
			high, red = middle, test
		}
	}
	return items[high-1], testFailure("integrate", bad.text, red), nil
}

func itemIDs(items []*journal.ItemState) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	return ids
}
