package wave_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// TestTheMoreUrgentGetsWhatIsLeft: items ask in the wave's order, however long each takes to get there.
func TestTheMoreUrgentGetsWhatIsLeft(t *testing.T) {
	for _, most := range []int64{0, 100} {
		w := newWorld(t)
		slow := item{"id": "z", "priority": "P0", "testCmd": "sleep 0.3; grep -q good z.txt"}
		w.items(item{"id": "a", "priority": "P3"}, slow, item{"id": "b", "priority": "P2"})
		w.script(map[string][]attempt{"a": costs("a", 100), "z": costs("z", 100), "b": costs("b", 100)})
		report := w.run(limited(waveTokens(150)), func(c *wave.Config) { c.Budget.Attempt.Tokens = most })
		wantOutcome(t, report, journal.Ceiling)
		wantState(t, report, "z", journal.StateShipped)
		wantState(t, report, "a", journal.StateCancelled)
		wantState(t, report, "b", journal.StateCancelled)
	}
}

// TestAnAgentThatToldTooLateIsWarnedOf: nothing could end it, it keeps its work, and people hear of it.
func TestAnAgentThatToldTooLateIsWarnedOf(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	late := &agent{info: driver.Info{Name: "late", Tier: 1, Metered: true}, work: func(_ context.Context, t driver.Task) (driver.Result, error) {
		return driver.Result{Calls: []cost.Usage{{Input: 5000, Metered: true}}, Metered: true}, put(t, "a.txt", "good\n")
	}}
	report := w.run(with(late), limited(waveTokens(10_000)), func(c *wave.Config) { c.Budget.Attempt.Tokens = 100 })
	wantState(t, report, "a", journal.StateShipped)
	if warned := strings.Join(report.Budget.Warnings, "\n"); !strings.Contains(warned, "an agent of a used more than the 100 tokens that were reserved for it") {
		t.Errorf("warnings: %q", warned)
	}
}

// TestOneDearAttemptBlocksNobody: what the dearest one used does not fit, and what a usual one does.
func TestOneDearAttemptBlocksNobody(t *testing.T) {
	w := newWorld(t)
	store := w.store()
	for n, tokens := range []int64{5000, 10, 10, 10} {
		id := fmt.Sprint("h", n)
		w.items(item{"id": id})
		wantState(t, w.runOn(store, with(spender("m", tokens))), id, journal.StateShipped)
	}
	w.items(item{"id": "a"})
	wantState(t, w.runOn(store, with(spender("m", 10)), limited(waveTokens(100))), "a", journal.StateShipped)
}

// TestAnItemThatUsedUpItsLimitIsSkipped, so that it does not take the place of others in each wave.
func TestAnItemThatUsedUpItsLimitIsSkipped(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	store := w.store()
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		return ledger.Append(tx, cost.Call{ID: "x", At: tx.Now(), Item: "a", Usage: cost.Usage{Input: 100, Metered: true}})
	}))
	report := w.runOn(store, with(spender("m", 10)), limited(cost.Limit{Scope: cost.PerItem, Tokens: 100}), func(c *wave.Config) { c.MaxItems = 1 })
	wantState(t, report, "b", journal.StateShipped)
	if len(report.Skipped) != 1 || report.Skipped[0].ID != "a" || report.Skipped[0].Reason != "ceiling" || !strings.Contains(report.Skipped[0].Detail, "itemTokens is 100 tokens, 100 tokens spent") {
		t.Errorf("%s", asJSON(report.Skipped))
	}
	wantStatus(t, w.read("a"), tracker.Todo)
}

// TestWhoHaltedFirstKeepsTheWord: a limit that is passed does not replace what a person wrote.
func TestWhoHaltedFirstKeepsTheWord(t *testing.T) {
	halt := wave.Halt{Dir: t.TempDir()}
	var set atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			first, err := halt.SetFirst(wave.HaltNote{Reason: "first"})
			if err != nil {
				t.Error(err)
			}
			if first {
				set.Add(1)
			}
		})
	}
	all.Wait()
	if set.Load() != 1 {
		t.Errorf("%d were first", set.Load())
	}
	must(t, halt.Set(wave.HaltNote{Reason: "lunch"}))
	if first, err := halt.SetFirst(wave.HaltNote{Reason: "money"}); first || err != nil {
		t.Errorf("%t, %v", first, err)
	}
	note, err := halt.Note()
	must(t, err)
	if note.Reason != "lunch" {
		t.Errorf("%+v", note)
	}
	entries, err := os.ReadDir(halt.Dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
}

// TestTheServiceHasItsPrice: what was served fast costs more.
func TestTheServiceHasItsPrice(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	fast := &agent{info: driver.Info{Name: "fast", Tier: 1, Metered: true}, work: func(_ context.Context, t driver.Task) (driver.Result, error) {
		return driver.Result{Calls: []cost.Usage{{Model: "claude-opus-5-5", Input: 10, Metered: true}}, Metered: true, Service: "fast"}, put(t, "a.txt", "good\n")
	}}
	i := wantState(t, w.run(with(fast)), "a", journal.StateShipped)
	if i.CostUSD == nil || *i.CostUSD != "0.00008" { // twice 10 tokens at $4 a million
		t.Errorf("cost %s", asJSON(i.CostUSD))
	}
}
