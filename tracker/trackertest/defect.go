package trackertest

import (
	"testing"

	"aesop/tracker"
)

// testDefect: an item that no wave could take is neither claimed nor selected, whoever keeps the backlog.
func testDefect(t *testing.T, open Open) {
	for reason, spoil := range map[tracker.Reason]func(*tracker.Item){
		tracker.UnknownStatus:           func(i *tracker.Item) { i.Status = "weird" },
		tracker.MissingSlug:             func(i *tracker.Item) { i.Slug = " " },
		tracker.NoFileOwnership:         func(i *tracker.Item) { i.OwnsFiles = nil },
		tracker.InvalidOwnsFilesEntries: func(i *tracker.Item) { i.OwnsFiles = []string{"a/", ""} },
		tracker.InvalidPath:             func(i *tracker.Item) { i.OwnsFiles = []string{"../a"} },
		tracker.MissingPrompt:           func(i *tracker.Item) { i.Prompt = " " },
		tracker.MissingTestCmd:          func(i *tracker.Item) { i.TestCmd = tracker.Command{} },
	} {
		t.Run(string(reason), func(t *testing.T) {
			item := Item("a")
			spoil(&item)
			f := start(t, open, item, Item("b"))
			f.refused(tracker.ConflictNotClaimable, tracker.Want{ID: "a"})
			backlog, err := f.tracker.Backlog(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := tracker.Intake(backlog, tracker.IntakeOptions{Now: f.clock.Now()})
			if len(got.Items) != 1 || got.Items[0].ID != "b" {
				t.Errorf("selected %+v, want b", got.Items)
			}
			if len(got.Skipped) != 1 || got.Skipped[0].ID != "a" || got.Skipped[0].Reason != reason {
				t.Errorf("skipped %+v, want a for %s", got.Skipped, reason)
			}
		})
	}
}
