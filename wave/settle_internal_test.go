package wave

import (
	"testing"

	"aesop/tracker"
	"aesop/wave/journal"
)

// TestSettlementTable: what becomes of an item in the tracker, for every state in which it can end in a wave.
func TestSettlementTable(t *testing.T) {
	type settled struct {
		request tracker.Request
		counted bool
	}
	const counts, uncounted = true, false
	table := map[journal.State]map[bool]settled{ // by how the end is counted
		journal.StateNoChanges:         {counts: {tracker.Block, false}},
		journal.StateNotVerified:       {counts: {tracker.Fail, false}},
		journal.StateFenceViolation:    {counts: {tracker.Fail, false}},
		journal.StateIntegrationFailed: {counts: {tracker.Fail, false}},
		journal.StateSecretFound:       {counts: {tracker.Fail, false}},
		journal.StateReviewRejected:    {counts: {tracker.Fail, false}},
		journal.StateDriverFailed:      {counts: {tracker.Release, true}, uncounted: {tracker.Release, false}},
		journal.StateSetupFailed:       {uncounted: {tracker.Release, false}},
		journal.StateCancelled:         {uncounted: {tracker.Release, false}},
		journal.StateClaimLost:         {uncounted: {tracker.Release, false}},
	}
	r := &run{s: &Scheduler{config: Config{MaxAttempts: 3}}}
	for state, ends := range table {
		for counted, want := range ends {
			item := &journal.ItemState{Item: journal.Item{ID: "a", Attempts: 1}, End: &journal.ItemEnded{Item: "a", State: state, Reason: "so", Counted: counted}}
			got := r.settlement(journal.New("w"), item)
			if got.Request != want.request || got.Counted != want.counted || got.Shipped != nil || got.Reason != string(state)+": so" {
				t.Errorf("%s: %+v, want %+v", state, got, want)
			}
		}
	}
	last := &journal.ItemState{Item: journal.Item{ID: "a", Attempts: 2}, End: &journal.ItemEnded{State: journal.StateDriverFailed, Counted: true}}
	if got := r.settlement(journal.New("w"), last); got.Request != tracker.Fail {
		t.Errorf("the last attempt: %+v", got)
	}
	shipped := journal.New("w")
	shipped.Repositories["."] = &journal.RepositoryState{Shipped: &journal.Shipped{Branch: "aesop/w"}}
	if got := r.settlement(shipped, &journal.ItemState{Item: journal.Item{Repo: "."}, Commit: "c"}); got.Request != tracker.Complete || *got.Shipped != (tracker.Shipped{Wave: "w", Branch: "aesop/w", Commit: "c"}) {
		t.Errorf("shipped: %+v", got)
	}
	adopted := &journal.ItemState{Commit: "c", Adopted: &journal.Adopted{Commit: "c", Branch: "aesop/v", Wave: "v"}}
	if got := r.settlement(shipped, adopted); got.Request != tracker.Complete || *got.Shipped != (tracker.Shipped{Wave: "v", Branch: "aesop/v", Commit: "c"}) {
		t.Errorf("adopted: %+v", got)
	}
}
