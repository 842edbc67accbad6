package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/examples/internal/cli"
	"aesop/wave"
	"aesop/wave/journal"
)

// live draws a line an item on a terminal, in place: its state, time, tokens and cost.
type live struct {
	progress
	mu    sync.Mutex
	fold  *journal.Wave
	using map[string]using // by item
}

// using is what an agent at work has used so far.
type using struct {
	attempt string
	usage   cost.Usage
}

// show tells of a wave as it goes, in place where the person has a terminal for it. Call end before anything
// else is printed.
func show(c *cli.Context) (observer wave.Observer, end func()) {
	if c.Screen == nil {
		return newProgress(c), func() {}
	}
	l := &live{progress: newProgress(c), using: map[string]using{}}
	stop, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-tick.C:
				c.Screen.Draw(l.lines(now))
			}
		}
	}()
	return l, sync.OnceFunc(func() { close(stop); <-gone; c.Screen.Draw(nil) })
}

// Observe keeps what is drawn, and prints what is about the wave, or is for people to remember.
func (l *live) Observe(w *journal.Wave, event journal.Event) {
	l.mu.Lock()
	l.fold = w
	l.mu.Unlock()
	switch event.(type) {
	case journal.AttemptStarted, journal.AttemptEnded, journal.Verified:
	default:
		l.progress.Observe(w, event)
	}
}

// Watch hears what an agent has used so far.
func (l *live) Watch(_, item, attempt string, e driver.Event) {
	if e.Kind != "usage" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.using[item] = using{attempt, e.Usage}
}

func (l *live) lines(now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fold == nil {
		return nil
	}
	return liveLines(now, l.fold, l.using)
}

// liveLines are the lines of a wave's items at a moment.
func liveLines(now time.Time, w *journal.Wave, live map[string]using) []string {
	report := wave.NewReport(w)
	var rows [][]string
	for n, id := range w.Order {
		state, took := standing(now, w, w.Items[id])
		price := "-"
		if usd := report.Items[n].CostUSD; usd != nil {
			price = "$" + *usd
		}
		rows = append(rows, []string{cli.Cut(id, 24), state, took, tokens(w.Items[id], live[id]), price})
	}
	widths := []int{0, 0, 6, 6, 0}
	for _, row := range rows {
		for n, cell := range row {
			widths[n] = max(widths[n], cli.Columns(cell))
		}
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("  %s  %s  %s  %s tokens  %s", pad(row[0], widths[0]), pad(row[1], widths[1]), ahead(row[2], widths[2]), ahead(row[3], widths[3]), row[4]))
	}
	return lines
}

// standing is what happens to an item now, and for how long it has, or what it took.
func standing(now time.Time, w *journal.Wave, i *journal.ItemState) (state, took string) {
	whole := clock(i.BuildTime + i.TestTime)
	last := i.Last()
	switch {
	case i.Commit != "":
		return "shipped", whole
	case i.End != nil:
		return string(i.End.State), whole
	case w.Pushing(i.ID):
		return "shipping", whole
	case i.Waits():
		return "waits for approval", clock(now.Sub(i.AskedAt))
	case i.Verified != "":
		return "verified", whole
	case last == nil:
		return "not begun", "-"
	case last.Ended == nil && last.Round > 1:
		return fmt.Sprintf("agent at work, round %d", last.Round), clock(now.Sub(last.StartedAt))
	case last.Ended == nil:
		return "agent at work", clock(now.Sub(last.StartedAt))
	case last.Ended.Commit != "" && last.Test == nil:
		return "testing", clock(now.Sub(last.StartedAt.Add(time.Duration(last.Ended.DurationMs) * time.Millisecond)))
	case last.Test != nil:
		return "its tests fail", whole
	}
	return last.Ended.Outcome, whole
}

// tokens are those that an item's agents used, with a plus where some are not known, and a dash where none is.
func tokens(i *journal.ItemState, now using) string {
	sum, whole, known := int64(0), true, false
	for _, a := range i.Attempts {
		switch {
		case a.Ended != nil:
			sum, whole, known = sum+a.Ended.Usage.Tokens(), whole && a.Ended.Usage.Metered, known || a.Ended.Usage.Metered || a.Ended.Usage.Tokens() > 0
		case a.ID == now.attempt:
			sum, known = sum+now.usage.Tokens(), true
		}
	}
	switch {
	case !known:
		return "-"
	case whole:
		return short1000(sum)
	}
	return short1000(sum) + "+"
}

func short1000(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// clock is a time to the second.
func clock(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-cli.Columns(text), 0))
}

func ahead(text string, columns int) string {
	return strings.Repeat(" ", max(columns-cli.Columns(text), 0)) + text
}
