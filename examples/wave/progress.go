package main

import (
	"fmt"
	"slices"
	"time"

	"aesop/examples/internal/cli"
	"aesop/wave/journal"
)

// progress tells on standard error what a wave is doing, a line an event.
type progress struct{ c *cli.Context }

func newProgress(c *cli.Context) progress { return progress{c} }

// Observe prints the events that a person wants to see.
func (p progress) Observe(w *journal.Wave, event journal.Event) {
	switch e := event.(type) {
	case journal.Planned:
		if len(e.Items) > 0 {
			for _, r := range e.Repositories {
				p.line("wave %s: %s on %s of %s%s, at %s", w.ID, items(itemsIn(e, r.Name)), r.Branch, r.Origin, inRepository(r.Name), short(r.Base))
				if r.Verify.Text != "" {
					p.line("testing the base%s: %s", inRepository(r.Name), r.Verify.Text)
				}
			}
		}
	case journal.TakenOver:
		p.line("wave %s: taken up again", w.ID)
	case journal.AttemptStarted:
		p.line("%s: agent at work, round %d", e.Item, e.Round)
	case journal.AttemptEnded:
		next := ""
		if e.Outcome == journal.OutcomeBuilt {
			next = "; testing"
		}
		p.line("%s: %s after %v%s", e.Item, e.Outcome, (time.Duration(e.DurationMs) * time.Millisecond).Round(10*time.Millisecond), next)
	case journal.Verified:
		p.line("%s: %s", e.Item, verdict(e.Test))
	case journal.Asked:
		if p.c.Interactive {
			return // the person is asked
		}
		p.line("%s: waits for approval at %s; look with: wave diff %s", e.Item, short(e.Commit), e.Item)
		p.line("  answer with: wave approve %s, wave reject %s REASON, or wave correct %s --from DIR", e.Item, e.Item, e.Item)
	case journal.Corrected:
		p.line("%s: %s", e.Item, correctionCame(e))
	case journal.Judged:
		p.line("%s: %s", e.Item, judged(e))
	case journal.PushIntent:
		p.line("pushing %s with %s%s", e.Branch, items(len(e.Items)), inRepository(e.Repo))
	case journal.Shipped:
		p.line("shipped %s%s", e.Branch, inRepository(e.Repo))
	case journal.PushFailed:
		p.line("the push failed%s: %s", inRepository(e.Repo), firstLine(e.Detail))
	case journal.RepositoryFailed:
		p.line("left alone%s: %s", inRepository(e.Repo), firstLine(e.Detail))
	case journal.GateChecked:
		if e.Verdict == "wait" {
			p.line("%s", e.Reason)
		}
	case journal.ItemEnded:
		if e.Ceiling {
			p.line("%s: %s", e.Item, e.Reason)
		}
	case journal.Alerted:
		for _, a := range highest(e.Alerts) {
			p.line("%s", alertLine(a))
		}
	case journal.Stopped:
		if string(e.Outcome) == e.Reason {
			p.line("%s", e.Outcome)
		} else {
			p.line("%s: %s", e.Outcome, e.Reason)
		}
	}
}

// itemsIn counts the planned items of a repository.
func itemsIn(plan journal.Planned, repo string) int {
	n := 0
	for _, i := range plan.Items {
		if i.Repo == repo {
			n++
		}
	}
	return n
}

func verdict(t journal.Test) string {
	switch {
	case t.Passed:
		return "its tests pass"
	case t.TimedOut:
		return "its tests did not end in time"
	case t.Exit != nil:
		return fmt.Sprintf("its tests fail, exit %d", *t.Exit)
	}
	return "its tests fail"
}

func correctionCame(e journal.Corrected) string {
	switch {
	case e.Passed():
		return "corrected" + by(e.By) + ", its tests pass"
	}
	return "the correction" + by(e.By) + " is not taken: " + firstLine(e.Why())
}

func judged(e journal.Judged) string {
	words := map[string][2]string{journal.SeatReview: {"the reviewer refuses it", "the reviewer lets it pass"}, journal.SeatApprove: {"rejected", "approved"}}[e.Seat]
	line := words[0]
	if e.OK {
		line = words[1]
	}
	line += by(e.By)
	if e.Reason != "" {
		line += ": " + firstLine(e.Reason)
	}
	return line
}

// highest are the alerts of which no higher threshold of the same kind came with them.
func highest(all []journal.AlertState) []journal.AlertState {
	return slices.DeleteFunc(slices.Clone(all), func(a journal.AlertState) bool {
		return a.State != "failed" && slices.ContainsFunc(all, func(b journal.AlertState) bool {
			return b.Threshold > a.Threshold && a.Limit == b.Limit && a.Item == b.Item && a.Kind == b.Kind
		})
	})
}

func alertLine(a journal.AlertState) string {
	what := "spending"
	if a.Kind == "projection" {
		what = "expected spending"
	}
	line := fmt.Sprintf("%s is at %d %% of %s", what, a.Threshold, a.Limit)
	if a.Item != "" {
		line += " of " + a.Item
	}
	if a.State == "failed" {
		line += "; the alert could not be given: " + firstLine(a.Error)
	}
	return line
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return " by " + name
}

func (p progress) line(format string, args ...any) {
	fmt.Fprintln(p.c.Stderr, cli.OneLine(fmt.Sprintf(format, args...)))
}

func items(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}
