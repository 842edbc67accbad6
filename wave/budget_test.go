package wave_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// costs is a good attempt at an item that uses tokens of a model that has a price.
func costs(id string, tokens int) []attempt {
	a := writes(id+".txt", "good\n")
	a["usage"] = map[string]any{"model": "claude-haiku-5-5", "input": tokens, "output": 0}
	return []attempt{a}
}

// limited sets limits.
func limited(limits ...cost.Limit) option {
	return func(c *wave.Config) { c.Budget.Limits = append(c.Budget.Limits, limits...) }
}

func waveTokens(n int64) cost.Limit { return cost.Limit{Scope: cost.PerWave, Tokens: n} }

// spent is what a store's ledger adds up to.
func spent(t *testing.T, store statestore.Store, q cost.Query) cost.Total {
	t.Helper()
	book, err := ledger.New(store).Book(t.Context())
	must(t, err)
	return book.Total(q)
}

// TestCeiling: a wave refuses the item that would pass its limit, ships the rest, and says so; what was refused is free again.
func TestCeiling(t *testing.T) {
	for name, limit := range map[string]cost.Limit{"tokens": waveTokens(250), "money": {Scope: cost.PerWave, Money: 25_000}} { // a token is 100 nano-dollars
		for _, parallel := range []int{1, 4} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.items(item{"id": "a"}, item{"id": "b"}, item{"id": "c"})
				w.script(map[string][]attempt{"a": costs("a", 100), "b": costs("b", 100), "c": costs("c", 100)})
				store := w.store()
				report := w.runOn(store, limited(limit), func(c *wave.Config) { c.Parallel = parallel })
				wantOutcome(t, report, journal.Ceiling)
				var refused []string
				for _, i := range report.Items {
					if i.State == journal.StateShipped {
						if i.CostUSD == nil || *i.CostUSD != "0.00001" {
							t.Errorf("%s cost %s", i.ID, asJSON(i.CostUSD))
						}
						continue
					}
					refused = append(refused, i.ID)
					wantState(t, report, i.ID, journal.StateCancelled)
					if !strings.HasPrefix(i.Reason, "ceiling: "+limit.Name()+" is ") || len(i.Attempts) != 0 {
						t.Errorf("%s", asJSON(i))
					}
					wantStatus(t, w.read(i.ID), tracker.Todo)
					if row := w.read(i.ID); row.Attempts != 0 || row.Claim != nil {
						t.Errorf("%+v", row)
					}
				}
				if len(refused) != 1 || report.CeilingReason == nil || !strings.Contains(*report.CeilingReason, "spent") || report.HaltReason != nil {
					t.Errorf("refused %v: %s", refused, asJSON(report.CeilingReason))
				}
				if total := spent(t, store, cost.Query{Wave: report.Wave}); total.Usage.Tokens() != 200 || total.Cost != 20_000 || total.Calls != 2 {
					t.Errorf("the ledger has %+v", total)
				}
				if report.Steps.Budget != "done" || len(report.Budget.Limits) != 1 || report.Budget.Limits[0].Name != limit.Name() {
					t.Errorf("budget %s", asJSON(report.Budget))
				}
				if _, err := os.Stat(filepath.Join(w.state, "HALT")); err == nil {
					t.Error("a refusal is no breach")
				}
				// A new wave has a limit of its own, and the item goes.
				wantState(t, w.runOn(store, limited(limit)), refused[0], journal.StateShipped)
			})
		}
	}
}

// TestNothingIsClaimedOnADayThatIsSpent: the gate at the beginning looks at what every wave has used.
func TestNothingIsClaimedOnADayThatIsSpent(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": costs("a", 100), "b": costs("b", 100)})
	store, day := w.store(), limited(cost.Limit{Scope: cost.PerDay, Tokens: 100})
	first := w.runOn(store, day, func(c *wave.Config) { c.MaxItems = 1 })
	wantOutcome(t, first, journal.Good)
	report := w.runOn(store, day)
	wantOutcome(t, report, journal.Ceiling)
	if len(report.Items) != 0 || report.CeilingReason == nil || !strings.Contains(*report.CeilingReason, "dayTokens is 100 tokens, 100 tokens spent") {
		t.Errorf("%s", asJSON(report))
	}
	wantStatus(t, w.read("b"), tracker.Todo)
	w.notHalted("a limit that is reached is not passed")
}

// notHalted fails the test where waves are halted.
func (w *world) notHalted(why string) {
	w.t.Helper()
	if note, err := (wave.Halt{Dir: w.state}).Note(); err != nil || note != nil {
		w.t.Errorf("%s: %+v, %v", why, note, err)
	}
}

// TestOverspendingADayHalts: an agent that says only at its end what it used can pass a limit, and then people must look.
func TestOverspendingADayHalts(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	silent := &agent{info: driver.Info{Name: "silent", Tier: 1, Metered: true}, work: func(_ context.Context, t driver.Task) (driver.Result, error) {
		return driver.Result{Calls: []cost.Usage{{Input: 150, Metered: true}}, Metered: true}, put(t, "a.txt", "good\n")
	}}
	report := w.run(with(silent), limited(cost.Limit{Scope: cost.PerDay, Tokens: 100}))
	wantState(t, report, "a", journal.StateShipped) // it was paid for
	note, err := wave.Halt{Dir: w.state}.Note()
	must(t, err)
	if note == nil || !strings.Contains(note.Reason, "dayTokens is 100 tokens, 150 tokens spent") || note.By != "ceiling" {
		t.Errorf("halted: %+v", note)
	}
}

// spender is an agent that says while it works what it has used, and then waits for its end, or for the test's.
func spender(model string, tells ...int64) *meterman {
	return &meterman{model: model, tells: tells}
}

type meterman struct {
	model string
	tells []int64
	held  bool // after the last word it works until it is ended
	vague bool // on the way it says that it does not know all
	deaf  bool // it does not notice that it is ended
}

func (d *meterman) Info() driver.Info { return driver.Info{Name: "meterman", Tier: 1, Metered: true} }

func (d *meterman) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	used := cost.Usage{Model: d.model, Metered: true}
	for _, n := range d.tells {
		used.Input = n
		used.Metered = !d.vague
		emit(driver.Event{Kind: "usage", Usage: used})
		used.Metered = true
	}
	result := driver.Result{Calls: []cost.Usage{used}, Metered: true}
	if d.held {
		<-ctx.Done()
	}
	if ctx.Err() != nil && !d.deaf {
		return result, &driver.Error{Class: driver.Cancelled, Message: "ended", Err: ctx.Err()}
	}
	return result, put(t, t.Slug+".txt", "good\n")
}

func TestAnAgentIsCutOffWhenItPassesWhatItReserved(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	d := spender("claude-haiku-5-5", 50, 120)
	d.held = true
	store := w.store()
	report := w.runOn(store, with(d), limited(waveTokens(100)))
	wantOutcome(t, report, journal.Ceiling)
	i := wantState(t, report, "a", journal.StateCancelled)
	if i.Attempts[0].Outcome != journal.OutcomeCeiling || !strings.Contains(i.Reason, "cut off while it worked: waveTokens is 100 tokens") {
		t.Errorf("%s", asJSON(i))
	}
	wantStatus(t, w.read("a"), tracker.Todo)
	if row := w.read("a"); row.Attempts != 0 {
		t.Errorf("%d attempts are counted", row.Attempts)
	}
	if total := spent(t, store, cost.Query{Wave: report.Wave}); total.Usage.Tokens() != 120 || total.Unmetered != 0 {
		t.Errorf("the ledger has %+v", total)
	}
	w.notHalted("the limit is the wave's own")
	wantState(t, w.runOn(store, with(spender("claude-haiku-5-5", 120)), limited(waveTokens(200))), "a", journal.StateShipped)
}

// TestWhatIsDoneIsDone: an agent that ends well though it was told to end is not cut off.
func TestWhatIsDoneIsDone(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	d, store := spender("claude-haiku-5-5", 120), w.store()
	d.deaf = true
	report := w.runOn(store, with(d), limited(waveTokens(100)))
	wantState(t, report, "a", journal.StateShipped)
	if l := report.Budget.Limits[0]; l.State != "passed" || l.Spent != "120" {
		t.Errorf("%s", asJSON(l))
	}
}

func TestAnAgentIsCutOffAtWhatOneMayUse(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	d := spender("claude-haiku-5-5", 50, 120)
	d.held = true
	report := w.run(with(d), limited(waveTokens(1000)), func(c *wave.Config) { c.Budget.Attempt.Tokens = 100 })
	i := wantState(t, report, "a", journal.StateDriverFailed)
	if !strings.Contains(i.Reason, "used 120 tokens of 100") {
		t.Errorf("%s", asJSON(i))
	}
	if row := w.read("a"); row.Attempts != 1 {
		t.Errorf("%d attempts are counted", row.Attempts)
	}
}

// TestAnAgentMayUseMoreWhereThereIsRoom: what others used before is a guess, not a bound, and nor is twice of what it used.
func TestAnAgentMayUseMoreWhereThereIsRoom(t *testing.T) {
	w := newWorld(t)
	store := w.store()
	for _, id := range []string{"a", "b", "c"} { // so that there is a history
		w.items(item{"id": id})
		wantState(t, w.runOn(store, with(spender("m", 10))), id, journal.StateShipped)
	}
	w.items(item{"id": "d"})
	wantState(t, w.runOn(store, with(spender("m", 8, 400, 900)), limited(waveTokens(1000))), "d", journal.StateShipped)
}

// halfSilent is an agent that tells of some of its calls.
func halfSilent() *agent {
	return &agent{info: driver.Info{Name: "half", Tier: 1, Metered: true}, work: func(_ context.Context, t driver.Task) (driver.Result, error) {
		return driver.Result{Calls: []cost.Usage{{Model: "claude-haiku-5-5", Input: 30, Metered: true}}}, put(t, "a.txt", "good\n")
	}}
}

func TestUnpricedAndUnmeteredWork(t *testing.T) {
	money := cost.Limit{Scope: cost.PerWave, Money: cost.Dollar}
	for _, tt := range []struct {
		name     string
		budget   cost.Budget
		driver   driver.Driver
		state    journal.State
		says     string
		estimate cost.Amount
	}{
		{"unpriced is refused", cost.Budget{Limits: []cost.Limit{money}, Unpriced: cost.Refuse}, spender("", 10), journal.StateSetupFailed, "unpriced: no model is named", cost.Amount{}},
		{"unpriced is nothing to refuse where money is not limited", cost.Budget{Limits: []cost.Limit{waveTokens(100)}, Unpriced: cost.Refuse}, spender("", 10), journal.StateShipped, "", cost.Amount{}},
		{"unpriced is estimated", cost.Budget{Limits: []cost.Limit{money}}, spender("nobody-knows", 10), journal.StateShipped, "", cost.Amount{Money: 100_000}}, // at the dearest price
		{"unpriced is allowed", cost.Budget{Limits: []cost.Limit{money}, Unpriced: cost.Allow}, spender("nobody-knows", 10), journal.StateShipped, "", cost.Amount{}},
		{"unmetered is estimated", cost.Budget{Limits: []cost.Limit{waveTokens(70)}}, writer(), journal.StateShipped, "", cost.Amount{Tokens: 70}},
		{"what is known of the unmetered is no estimate", cost.Budget{Limits: []cost.Limit{{Scope: cost.PerWave, Money: 10_000}}}, halfSilent(), journal.StateShipped, "", cost.Amount{Money: 7_000}},
		{"unmetered is allowed", cost.Budget{Limits: []cost.Limit{waveTokens(70)}, Unmetered: cost.Allow}, writer(), journal.StateShipped, "", cost.Amount{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			store := w.store()
			report := w.runOn(store, with(tt.driver), func(c *wave.Config) { c.Budget = tt.budget })
			i := wantState(t, report, "a", tt.state)
			if !strings.HasPrefix(i.Reason, tt.says) {
				t.Errorf("reason %q", i.Reason)
			}
			if got := spent(t, store, cost.Query{}).Estimated; got != tt.estimate {
				t.Errorf("charged %+v, want %+v", got, tt.estimate)
			}
			if i.State == journal.StateShipped && i.CostUSD != nil {
				t.Errorf("a cost that nobody knows is %s", *i.CostUSD)
			}
			if report.Budget.Unpriced == "" || report.Budget.Unmetered == "" {
				t.Errorf("the policies are not named: %s", asJSON(report.Budget))
			}
		})
	}
}

// TestAlerts are given on the way to a limit, of what is spent and of where it is going, once a wave.
func TestAlerts(t *testing.T) {
	w := newWorld(t)
	var told []string
	broken := errors.New("no route")
	sink := cost.AlertFunc(func(_ context.Context, a cost.Alert) error {
		told = append(told, fmt.Sprintf("%s %d", a.Kind, a.Threshold))
		if a.Kind == cost.ProjectionAlert && a.Threshold == 100 {
			return broken
		}
		return nil
	})
	w.items(item{"id": "a"}, item{"id": "b"})
	report := w.run(with(spender("m", 45)), limited(cost.Limit{Scope: cost.PerWave, Tokens: 100, Soft: true}), func(c *wave.Config) { c.Alerts, c.Parallel = sink, 1 })
	wantOutcome(t, report, journal.Good)
	// After the first item: spent 45, projected 90. After the second: spent 90.
	if diff := cmp.Diff([]string{"projection 70", "projection 90", "spend 70", "spend 90"}, told); diff != "" {
		t.Error(diff)
	}
	want := []journal.AlertState{{Limit: "soft.waveTokens", Kind: "projection", Threshold: 70, State: "fired"}, {Limit: "soft.waveTokens", Kind: "projection", Threshold: 90, State: "fired"},
		{Limit: "soft.waveTokens", Kind: "spend", Threshold: 70, State: "fired"}, {Limit: "soft.waveTokens", Kind: "spend", Threshold: 90, State: "fired"}}
	if diff := cmp.Diff(want, report.Budget.Alerts); diff != "" {
		t.Error(diff)
	}
	told = nil
	w.items(item{"id": "c"}) // a new wave, whose limit is passed at once
	report = w.run(with(spender("m", 120)), limited(cost.Limit{Scope: cost.PerWave, Tokens: 100, Soft: true}), func(c *wave.Config) { c.Alerts = sink })
	wantOutcome(t, report, journal.Good) // it is soft
	if last := report.Budget.Alerts[len(report.Budget.Alerts)-1]; last.State != "failed" || !strings.Contains(last.Error, "no route") || last.Threshold != 100 {
		t.Errorf("%+v", report.Budget.Alerts)
	}
	if s := report.Budget.Limits[0]; s.State != "passed" || s.Spent != "120" || !s.Soft {
		t.Errorf("%+v", s)
	}
}

func TestAlertsGoIntoAFileByDefault(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.run(with(spender("m", 75)), limited(waveTokens(100)))
	data, err := os.ReadFile(filepath.Join(w.state, "alerts.jsonl"))
	must(t, err)
	if lines := strings.Count(string(data), "\n"); lines != 2 || !strings.Contains(string(data), `"threshold":70`) {
		t.Errorf("%s", data)
	}
}
