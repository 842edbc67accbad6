package main

import (
	"testing"

	"aesop/wave"
	"aesop/wave/journal"
)

// told is a report in which every story ended as it must.
func told() wave.Report {
	r := wave.Report{Outcome: journal.Partial}
	for _, s := range stories() {
		shipped := s.state == journal.StateShipped
		r.Items = append(r.Items, wave.ItemReport{ID: s.item, State: s.state, Verified: shipped, Pushed: shipped, Attempts: make([]wave.AttemptReport, max(s.attempts, 1))})
	}
	return r
}

func TestDemonstrationIsJudged(t *testing.T) {
	if _, ok := judge(told()); !ok {
		t.Fatal("a demonstration as it must be is refused")
	}
	for name, spoil := range map[string]func(*wave.Report){
		"outcome":             func(r *wave.Report) { r.Outcome = journal.Good },
		"an item is missing":  func(r *wave.Report) { r.Items = r.Items[1:] },
		"one more item":       func(r *wave.Report) { r.Items = append(r.Items, wave.ItemReport{ID: "more"}) },
		"no repair":           func(r *wave.Report) { r.Items[1].Attempts = r.Items[1].Attempts[:1] },
		"false claim shipped": func(r *wave.Report) { r.Items[2].State = journal.StateShipped },
		"false claim pushed":  func(r *wave.Report) { r.Items[2].Pushed = true },
		"stray shipped":       func(r *wave.Report) { r.Items[3].State = journal.StateShipped },
		"not pushed":          func(r *wave.Report) { r.Items[0].Pushed = false },
		"not verified":        func(r *wave.Report) { r.Items[0].Verified = false },
	} {
		r := told()
		spoil(&r)
		if _, ok := judge(r); ok {
			t.Errorf("%s: the demonstration is taken for good", name)
		}
	}
}
