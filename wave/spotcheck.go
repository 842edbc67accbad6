package wave

import (
	"context"

	"aesop/wave/journal"
	"aesop/wave/policy"
)

// spotCheck verifies a share of the verified items once more, before anything is made of them: a test that passes once may be one that
// does not always.
func (r *run) spotCheck() error {
	wave := r.journal.Wave()
	chosen, err := r.chosen(policy.SpotCheck, wave.Plan.SpotCheck, wave.Select((*journal.ItemState).Built))
	if err != nil {
		return err
	}
	return r.eachItem(r.s.config.Parallel, func(i *journal.ItemState) bool { return chosen[i.ID] && i.Shippable() && !i.SpotChecked() }, r.spotCheckItem)
}

// chosen are the ids of a share of items. A resumed wave chooses the same of the same items.
func (r *run) chosen(purpose policy.Purpose, share float64, items []*journal.ItemState) (map[string]bool, error) {
	chosen := map[string]bool{}
	if policy.Count(share, len(items)) == 0 {
		return chosen, nil
	}
	key, err := r.s.signingKey(r.stop.ctx)
	if err != nil {
		return nil, err
	}
	slugs := make([]string, len(items))
	for i, item := range items {
		slugs[i] = item.Slug
	}
	picked := map[string]bool{}
	for _, slug := range policy.Choose(key, r.id, purpose, share, slugs) {
		picked[slug] = true
	}
	for _, item := range items {
		chosen[item.ID] = picked[item.Slug]
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
