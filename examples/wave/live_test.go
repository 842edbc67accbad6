package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/wave/journal"
)

// TestLiveLines: each state of an item has its line, and what is not known is no figure.
func TestLiveLines(t *testing.T) {
	start := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	w := journal.New("w")
	at := start
	happen := func(events ...journal.Event) {
		t.Helper()
		for _, e := range events {
			if err := w.Apply(at, e); err != nil {
				t.Fatal(err)
			}
		}
	}
	metered := cost.Usage{Input: 1000, Output: 250, Metered: true}
	started := func(id string, round int) journal.Event {
		return journal.AttemptStarted{Item: id, Attempt: id + "-" + string(rune('0'+round)), Round: round}
	}
	built := func(id string, round int, usage cost.Usage) journal.Event {
		return journal.AttemptEnded{Item: id, Attempt: id + "-" + string(rune('0'+round)), Outcome: journal.OutcomeBuilt, Commit: "c" + id, Usage: usage, DurationMs: 20_000}
	}
	tested := func(id string, round int, ok bool) journal.Event {
		return journal.Verified{Item: id, Attempt: id + "-" + string(rune('0'+round)), Commit: "c" + id, Test: journal.Test{Passed: ok, DurationMs: 5000}}
	}
	var items []journal.Item
	for _, id := range []string{"idle", "works", "repairs", "tests", "failed", "passed", "waits", "ended", "shipped", "a-name-that-is-much-too-long"} {
		items = append(items, journal.Item{ID: id, Slug: id, Repo: "."})
	}
	happen(journal.Planned{Repositories: []journal.Repository{{Name: "."}}, Items: items})
	for _, i := range items[1:9] {
		happen(started(i.ID, 1))
	}
	for _, i := range items[2:9] {
		happen(built(i.ID, 1, metered))
	}
	happen(tested("repairs", 1, false), tested("failed", 1, false), started("repairs", 2))
	for _, i := range items[5:9] {
		happen(tested(i.ID, 1, true))
	}
	at = start.Add(30 * time.Second)
	happen(journal.Asked{Item: "waits", Commit: "cwaits"}, journal.ItemEnded{Item: "ended", State: journal.StateReviewRejected},
		journal.PushIntent{Repo: ".", Items: []string{"passed"}}, journal.Shipped{Repo: ".", Items: map[string]string{"shipped": "c"}})
	using := map[string]using{"works": {"works-1", cost.Usage{Output: 12}}, "repairs": {"repairs-2", cost.Usage{Input: 2_000_000}}, "tests": {"another", cost.Usage{Input: 9}}}
	got := liveLines(start.Add(65*time.Second), w, using)
	want := strings.Split(strings.Trim(`
  idle                      not begun                    -       - tokens  -
  works                     agent at work            1m05s      12 tokens  -
  repairs                   agent at work, round 2   1m05s    2.0M tokens  -
  tests                     testing                  0m45s    1.2k tokens  -
  failed                    its tests fail           0m25s    1.2k tokens  -
  passed                    verified                 0m25s    1.2k tokens  -
  waits                     waits for approval       0m35s    1.2k tokens  -
  ended                     review_rejected          0m25s    1.2k tokens  -
  shipped                   shipped                  0m25s    1.2k tokens  -
  a-name-that-is-much-too…  not begun                    -       - tokens  -
`, "\n"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wanted (-), drawn (+):\n%s", diff)
	}

	happen(journal.AttemptEnded{Item: "works", Attempt: "works-1", Outcome: journal.OutcomeDriver, Usage: cost.Usage{Output: 12}}, journal.PushIntent{Repo: ".", Items: []string{"passed"}})
	got = liveLines(start.Add(65*time.Second), w, using)
	if !strings.Contains(got[1], "driver_failed") || !strings.Contains(got[1], "12+ tokens  -") || !strings.Contains(got[5], "shipping") {
		t.Errorf("lines:\n%s", strings.Join(got, "\n"))
	}
}

func TestClockAndCounts(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0m00s", 59*time.Second + 999*time.Millisecond: "0m59s", 61 * time.Minute: "1h01m", 26 * time.Hour: "26h00m"} {
		if got := clock(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 1_250_000: "1.2M"} {
		if got := short1000(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
