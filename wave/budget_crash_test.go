package wave_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"runtime"
	"strings"
	"testing"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// limitedWorld has three items of 100 tokens each, a limit of 250 and one agent at a time, which may use 120.
func limitedWorld(t *testing.T) *world {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"}, item{"id": "c"})
	w.write("aesop.json", `{"parallel": 1, "limits": {"waveTokens": 250, "attemptTokens": 120}}`)
	w.script(map[string][]attempt{"a": costs("a", 100), "b": costs("b", 100), "c": costs("c", 100)})
	return w
}

// written is the report that a wave left.
func (w *world) written(id string) (report wave.Report) {
	w.t.Helper()
	data, err := os.ReadFile(wave.ReportPath(w.state, id))
	must(w.t, err)
	must(w.t, json.Unmarshal(data, &report))
	return report
}

// TestAResumedWaveHasForgottenNothing: whatever instant it is killed at, what it spent, or may have spent, counts when it goes on.
func TestAResumedWaveHasForgottenNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL and the process table of Linux")
	}
	for point, left := range map[string]struct {
		shipped int
		spent   string // what is known, and what is charged for an agent that died
	}{
		"attempt_started": {1, "220"}, // 120 for the one that died, 100 for its second try, and then no room
		"attempt_ended":   {2, "200"},
		"verified":        {2, "200"},
		"item_ended":      {2, "200"},
		"push":            {2, "200"},
		"budgeted":        {2, "200"},
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := limitedWorld(t)
			if code, out := w.binary(point, "run"); code != -1 {
				t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
			}
			if code, out := w.binary("", "resume"); code != 3 {
				t.Fatalf("resume: exit %d\n%s", code, out)
			}
			report := w.written(w.newest())
			wantOutcome(t, report, journal.Ceiling)
			shipped := 0
			for _, i := range report.Items {
				if i.State == journal.StateShipped {
					shipped++
				} else if i.State != journal.StateCancelled || !strings.HasPrefix(i.Reason, "ceiling: waveTokens is 250 tokens") {
					t.Errorf("%s", asJSON(i))
				}
			}
			if limit := report.Budget.Limits[0]; shipped != left.shipped || limit.Spent != left.spent || limit.Reserved != "0" {
				t.Errorf("%d shipped: %s", shipped, asJSON(report.Budget))
			}
			for _, id := range []string{"a", "b", "c"} {
				if row := w.read(id); row.Status != tracker.Done && (row.Status != tracker.Todo || row.Attempts != 0 || row.Claim != nil) {
					t.Errorf("%+v", row)
				}
			}
			if code, out := w.binary("", "resume"); code != 0 {
				t.Errorf("a second resume: exit %d\n%s", code, out)
			}
		})
	}
}

// brokenLedger is a store whose ledger cannot be read once it is broken.
type brokenLedger struct {
	statestore.Store
	broken bool
}

var errBroken = errors.New("the ledger's page is gone")

func (s *brokenLedger) View(ctx context.Context, fn func(statestore.Reader) error) error {
	return s.Store.View(ctx, func(r statestore.Reader) error { return fn(brokenReader{r, s}) })
}

func (s *brokenLedger) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	return s.Store.Update(ctx, func(tx statestore.Tx) error { return fn(brokenTx{tx, s}) })
}

type brokenReader struct {
	statestore.Reader
	s *brokenLedger
}

func (r brokenReader) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	return r.s.events(r.Reader, q)
}

type brokenTx struct {
	statestore.Tx
	s *brokenLedger
}

func (tx brokenTx) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	return tx.s.events(tx.Tx, q)
}

func (s *brokenLedger) events(r statestore.Reader, q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	if s.broken && q.Stream == ledger.Stream {
		return func(yield func(statestore.Stored, error) bool) { yield(statestore.Stored{}, errBroken) }
	}
	return r.Events(q)
}

// TestALedgerThatCannotBeReadStopsTheWave and is no breach: waves are not halted, and a resume goes on.
func TestALedgerThatCannotBeReadStopsTheWave(t *testing.T) {
	for name, breaks := range map[string]string{"before the claim": "", "while agents work": "attempt_ended"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"}, item{"id": "b"})
			store := &brokenLedger{Store: w.store(), broken: breaks == ""}
			limits := limited(waveTokens(1000))
			one := func(c *wave.Config) { c.Parallel = 1 }
			report, err := w.schedulerOn(store, with(spender("m", 10)), limits, one, atEvent(breaks, func(journal.Event) { store.broken = true })).Run(t.Context())
			must(t, err)
			wantOutcome(t, report, journal.GateUnavailable)
			if report.HaltReason == nil || !strings.Contains(*report.HaltReason, errBroken.Error()) {
				t.Errorf("reason %s", asJSON(report.HaltReason))
			}
			if _, err := os.Lstat(wave.Halt{Dir: w.state}.Path()); err == nil {
				t.Error("a read fault halted all waves")
			}
			store.broken = false
			report = w.runOn(store, with(spender("m", 10)), limits)
			if w.read("a").Status != tracker.Done || w.read("b").Status != tracker.Done {
				t.Errorf("%s", asJSON(report))
			}
		})
	}
}

func TestDamagedRowsAreTold(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	must(t, store.(watched).Store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := tx.Append(ledger.Stream, statestore.AnyVersion, statestore.Entry{ID: "x", Type: "ledger.call", Data: []byte(`{"id": "x"}`)})
		return err
	}))
	report := w.runOn(store, with(spender("m", 10)), limited(waveTokens(100)))
	if warned := strings.Join(report.Budget.Warnings, "\n"); !strings.Contains(warned, "1 rows of the ledger are damaged") {
		t.Errorf("warnings: %q", warned)
	}
}

// TestLimitsOfItemsAndModels count over waves.
func TestLimitsOfItemsAndModels(t *testing.T) {
	for name, limit := range map[string]cost.Limit{"item": {Scope: cost.PerItem, Tokens: 100}, "model": {Scope: cost.PerModel, Model: "claude-haiku-5-5", Tokens: 100}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := w.store()
			tell := func(id string) wave.Report {
				w.items(item{"id": id})
				return w.runOn(store, with(spender("claude-haiku-5-5", 60)), limited(limit), func(c *wave.Config) { c.Model = "haiku" })
			}
			wantState(t, tell("a"), "a", journal.StateShipped)
			again := "a" // reopened
			if name == "model" {
				again = "b"
			} else {
				w.git(w.remote, "update-ref", "-d", "refs/aesop/items/a")
			}
			report := tell(again)
			wantOutcome(t, report, journal.Ceiling)
			if i := reported(t, report, again); !strings.Contains(i.Reason, limit.Name()+" is 100 tokens, 60 tokens spent") {
				t.Errorf("%s", i.Reason)
			}
			found := false
			for _, l := range report.Budget.Limits {
				found = found || l.Name == limit.Name() && l.Spent == "60" && (l.Item == "") == (name == "model")
			}
			if !found {
				t.Errorf("%s", asJSON(report.Budget))
			}
		})
	}
}

// TestARepairAsksToo: an item whose repair has no room is released, and what it spent counts.
func TestARepairAsksToo(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	poor := costs("a", 100)[0]
	poor["files"] = map[string]string{"a.txt": "poor"}
	w.script(map[string][]attempt{"a": {poor, costs("a", 100)[0]}})
	report := w.run(limited(waveTokens(150)))
	wantOutcome(t, report, journal.Ceiling)
	i := wantState(t, report, "a", journal.StateCancelled)
	if len(i.Attempts) != 1 || i.CostUSD == nil || *i.CostUSD != "0.00001" {
		t.Errorf("%s", asJSON(i))
	}
	wantStatus(t, w.read("a"), tracker.Todo)
}

// TestAReviewerAsksToo: where there is no room for it all stops, and a resume with more room goes on from there.
func TestAReviewerAsksToo(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	asked := &asker{driver: spender("m", 30)}
	more := func(tokens int64) option {
		return func(c *wave.Config) {
			c.Driver, c.Reviewer, c.Budget.Limits = spender("m", 80), asked, []cost.Limit{waveTokens(tokens)}
			c.Budget.Attempt.Tokens = 80
		}
	}
	report := w.runOn(store, more(100), asks(policy.Policy{Review: 1}))
	wantOutcome(t, report, journal.Ceiling)
	wantState(t, report, "a", journal.StateParked)
	report, err := w.schedulerOn(store, more(200), asks(policy.Policy{Review: 1})).Run(t.Context())
	must(t, err)
	if w.read("a").Status != tracker.Done {
		t.Fatalf("%s", asJSON(report))
	}
	if total := spent(t, store, cost.Query{Phase: "reviewer"}); total.Usage.Tokens() != 30 || total.Calls != 1 {
		t.Errorf("the reviewer's rows: %+v", total)
	}
}

// asker is a reviewer that asks a driver, and agrees.
type asker struct{ driver driver.Driver }

func (a *asker) Review(ctx context.Context, c wave.Change) (wave.Judgement, error) {
	result, err := c.Dispatch(ctx, readOnly{a.driver}, driver.Task{Prompt: "look", Role: driver.Reviewer})
	used := result.Usage()
	return wave.Judgement{OK: true, Usage: &used}, err
}

// readOnly takes back what the driver wrote.
type readOnly struct{ driver.Driver }

func (d readOnly) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	t.Dir = t.AttemptDir
	return d.Driver.Run(ctx, t, emit)
}

func TestADriverThatDoesNotSayWhatItUsesCanBeRefused(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	s := w.scheduler(with(writer()), limited(waveTokens(100)), func(c *wave.Config) { c.Budget.Unmetered = cost.Refuse })
	report, err := s.Run(t.Context())
	if setup, ok := errors.AsType[*wave.SetupError](err); !ok || setup.Code != "unmetered" || report.Outcome != journal.ErrorOutcome {
		t.Errorf("%s: %v", report.Outcome, err)
	}
	wantStatus(t, w.read("a"), tracker.Todo)
}

// TestWhatAReviewerReservedIsChargedWhereTheProcessDies: the item's job outlives the agent that died on it.
func TestWhatAReviewerReservedIsChargedWhereTheProcessDies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL and the process table of Linux")
	}
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.write("aesop.json", `{"limits": {"waveTokens": 1000, "attemptTokens": 120},
		"policy": {"review": 1, "reviewer": {"driver": "script", "script": "review.json"}}}`)
	w.script(map[string][]attempt{"a": costs("a", 100)})
	w.write("review.json", `{"a": [{"exec": "kill -KILL $PPID; sleep 600"}]}`)
	if code, out := w.binary("", "run"); code != -1 {
		t.Fatalf("exit %d, the reviewer did not end the engine\n%s", code, out)
	}
	answer := `{\"verdict\": \"approve\", \"evidence\": [\"it is there\"], \"confidence\": 1, \"summary\": \"fine\"}`
	w.write("review.json", `{"a": [{"say": "`+answer+`", "usage": {"input": 7, "output": 3}}]}`)
	if code, out := w.binary("", "resume"); code != 0 {
		t.Fatalf("resume: exit %d\n%s", code, out)
	}
	report := w.written(w.newest())
	wantState(t, report, "a", journal.StateShipped)
	if limit := report.Budget.Limits[0]; limit.Spent != "230" || limit.Reserved != "0" { // the worker, the reviewer that died, and the other
		t.Errorf("%s", asJSON(report.Budget))
	}
}
