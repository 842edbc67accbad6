package wave_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
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

// TestSharesHoldWhateverInterrupts: a wave that ends good has had as many of its items checked and reviewed as was asked for, though
// a part of it shipped earlier than the rest, and it was stopped on the way.
func TestSharesHoldWhateverInterrupts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 8 {
		all := newTwo(t)
		var rows []item
		plays := map[string][]attempt{}
		for n := range 3 + random.IntN(3) {
			id, repo := fmt.Sprintf("i%d", n), "api"
			if n == 0 || random.IntN(4) == 0 {
				repo = "web"
			}
			rows, plays[id] = append(rows, item{"id": id, "repo": repo}), good(id)
		}
		all.items(rows...)
		all.script(plays)
		needs := policy.Policy{SpotCheck: 0.5, Review: 0.3}
		reviewer := &panel{answer: func(context.Context, wave.Change) (wave.Judgement, error) { return wave.Judgement{OK: true}, nil }}
		store := all.store()
		away := sync.OnceFunc(func() { must(t, os.Rename(all.web.remote, all.web.remote+".away")) })
		var s *wave.Scheduler
		stops := []string{"spot_checked", "judged", "shipped", "attempt_started"}
		random.Shuffle(len(stops), func(i, j int) { stops[i], stops[j] = stops[j], stops[i] })
		stopAt := func(event string) option {
			return func(c *wave.Config) {
				c.Reviewer, c.Policy = reviewer, &needs
				c.Observers = []wave.Observer{&onEvent{event: event, act: func() { s.Stop() }}}
			}
		}
		early := random.IntN(2) == 0
		s = all.schedulerOn(store, stopAt("none"), func(c *wave.Config) {
			if early {
				c.Tracker = afterClaim{c.Tracker, away}
			} else {
				c.Observers = []wave.Observer{&onEvent{event: "spot_checked", act: away}}
			}
		})
		report := all.runOn2(s)
		for n := 0; report.Outcome != journal.Good; n++ {
			if n == len(stops) {
				t.Fatalf("not good in the end: %s", asJSON(report))
			}
			if n == 1 {
				must(t, os.Rename(all.web.remote+".away", all.web.remote))
			}
			s = all.schedulerOn(store, stopAt(stops[n]))
			if n == len(stops)-1 {
				s = all.schedulerOn(store, stopAt("none"))
			}
			reports, err := s.Resume(t.Context(), report.Wave)
			if n > 0 && err != nil {
				t.Fatal(err)
			}
			if len(reports) > 0 {
				report = reports[0]
			}
		}
		verified, checked, reviewed := 0, 0, 0
		for _, i := range report.Items {
			if i.Verified {
				verified++
			}
			if i.SpotCheck != nil {
				checked++
			}
			if len(i.Judgements) > 0 {
				reviewed++
			}
		}
		if verified != len(rows) || checked < policy.Count(0.5, verified) || reviewed < policy.Count(0.3, verified) || report.Steps.SpotCheck != "done" || report.Steps.Review != "done" {
			t.Errorf("%d verified, %d checked, %d reviewed, early %t, stops %v: %s", verified, checked, reviewed, early, stops, asJSON(report.Steps))
		}
	}
}
