package wave

import (
	"context"
	"slices"

	"aesop/wave/journal"
	"aesop/wave/policy"
)

// spotCheck verifies a share of the verified items once more, before anything is made of them: a test that passes once may be one that
// does not always.
func (r *run) spotCheck() error {
	return r.takeShare(share{policy.SpotCheck, r.journal.Wave().Plan.SpotCheck, checkable, (*journal.ItemState).SpotChecked, r.spotCheckItem})
}

// checkable are the items of which a share is verified once more. What somebody else has shipped is none of them.
func checkable(i *journal.ItemState) bool { return i.Built() && i.Adopted == nil }

// share is a step that is taken with a share of the wave's items.
type share struct {
	purpose policy.Purpose
	of      float64                       // what counts
	counts  func(*journal.ItemState) bool // also where it has shipped, or ended
	had     func(*journal.ItemState) bool // the step was taken
	take    func(ctx context.Context, id string) error
}

// takeShare takes the step with as many items as are missing of the share, chosen among those that can still take it. What a wave
// shipped before it was interrupted counts, with the steps that were taken then; what a repository that failed keeps back does not yet.
func (r *run) takeShare(s share) error {
	for {
		wave := r.journal.Wave()
		counted := wave.Select(func(i *journal.ItemState) bool { return s.counts(i) && (!i.Open() || wave.Of(i).Failed == nil) })
		var lack []*journal.ItemState
		missing := policy.Count(s.of, len(counted))
		for _, i := range counted {
			if s.had(i) {
				missing--
			} else if i.Shippable() {
				lack = append(lack, i)
			}
		}
		if missing <= 0 || len(lack) == 0 {
			return nil
		}
		chosen, err := r.chosen(s.purpose, missing, lack)
		if err != nil {
			return err
		}
		if err := r.eachItem(r.s.config.Parallel, func(i *journal.ItemState) bool { return chosen[i.ID] }, s.take); err != nil {
			return err
		} // again: an item may have ended before its turn
	}
}

// chosen are the ids of n of the items. A resumed wave chooses the same of the same items.
func (r *run) chosen(purpose policy.Purpose, n int, items []*journal.ItemState) (map[string]bool, error) {
	key, err := r.s.signingKey(r.stop.ctx)
	if err != nil {
		return nil, err
	}
	slugs := make([]string, len(items))
	for i, item := range items {
		slugs[i] = item.Slug
	}
	picked := policy.Choose(key, r.id, purpose, n, slugs)
	chosen := map[string]bool{}
	for _, item := range items {
		chosen[item.ID] = slices.Contains(picked, item.Slug)
	}
	return chosen, nil
}

// spotCheckItem runs the item's test again on its commit, in a clean tree of its own with caches as at first.
func (r *run) spotCheckItem(ctx context.Context, id string) error {
	item, own := r.journal.Item(id), r.item(id)
	test, err := r.test(ctx, testRun{target: r.targetOf(id), name: "again-" + item.Last().ID, item: id, commit: item.Verified, argv: own.TestCmd.Words(),
		text: item.TestText, workDir: own.WorkDir, seed: r.cacheOf(id)})
	if err != nil {
		return err
	}
	needTests(&test)
	needTestsOf(item.BaseTest, &test)
	event := journal.SpotChecked{Item: id, Commit: item.Verified, Test: test}
	if test.Passed {
		return r.record(event)
	}
	const reason = "the test passed, and failed when it was run again on the same commit"
	first, again := testFailure("", "", *item.Last().Test), testFailure("spot_check", item.TestText, test)
	again.Tail = joinLines(joinLines("The first run, which passed:", first.Tail), joinLines("The second run, which failed:", again.Tail))
	return r.recordWith(r.cancelJob(id, string(journal.StateNotVerified)), event,
		journal.ItemEnded{Item: id, State: journal.StateNotVerified, Reason: reason, Counted: true, Failure: again})
}
