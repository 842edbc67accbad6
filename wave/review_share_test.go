package wave_test

import (
	"context"
	"slices"
	"testing"

	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// TestReviewTakesItsShare: the chosen items are judged, and the others ship without a word about a review.
func TestReviewTakesItsShare(t *testing.T) {
	for name, tt := range map[string]struct {
		share float64
		asked int
		step  string
	}{"none": {0, 0, "not_configured"}, "some": {0.3, 2, "done"}, "all": {1, 5, "done"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ids := []string{"a", "b", "c", "d", "e"}
			plays := map[string][]attempt{}
			var rows []item
			for _, id := range ids {
				rows, plays[id] = append(rows, item{"id": id}), good(id)
			}
			w.items(rows...)
			w.script(plays)
			store := w.store()
			reviewer := &panel{answer: func(context.Context, wave.Change) (wave.Judgement, error) { return wave.Judgement{OK: true}, nil }}
			report := w.runOn(store, asks(policy.Policy{Review: tt.share}), func(c *wave.Config) { c.Reviewer = reviewer })
			wantOutcome(t, report, journal.Good)
			asked := slices.Sorted(slices.Values(reviewer.ids()))
			if len(asked) != tt.asked || report.Steps.Review != tt.step {
				t.Errorf("asked about %v, step %s", asked, report.Steps.Review)
			}
			if tt.asked > 0 && !slices.Equal(asked, choice(t, store, report.Wave, policy.Review, tt.share, ids)) {
				t.Errorf("asked about %v, which is not what the key chooses", asked)
			}
		})
	}
}

// TestWhatTheSpotCheckRefutesIsNotReviewed, and another item is in its stead.
func TestWhatTheSpotCheckRefutesIsNotReviewed(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "flaky", "testCmd": w.counting("flaky", 1)}, item{"id": "good"})
	w.script(map[string][]attempt{"flaky": good("flaky"), "good": good("good")})
	reviewer := &panel{answer: func(context.Context, wave.Change) (wave.Judgement, error) { return wave.Judgement{OK: true}, nil }}
	report := w.run(asks(policy.Policy{SpotCheck: 1, Review: 0.1}), func(c *wave.Config) { c.Reviewer = reviewer })
	if asked := reviewer.ids(); !slices.Equal(asked, []string{"good"}) || report.Steps.Review != "done" {
		t.Errorf("asked about %v, step %s", asked, report.Steps.Review)
	}
}
