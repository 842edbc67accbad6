package wave_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// prompts is a PromptBuilder that is a function.
type prompts func(wave.PromptInput) (string, error)

func (prompts) Version() string                              { return "test" }
func (p prompts) Prompt(in wave.PromptInput) (string, error) { return p(in) }

// reserved are the jobs of a store that have something reserved.
func reserved(t *testing.T, store statestore.Store) (records []job.Record) {
	t.Helper()
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		for record, err := range job.Reserving(r) {
			if err != nil {
				return err
			}
			records = append(records, record)
		}
		return nil
	}))
	return records
}

// TestWhatNoAgentUsedIsNotCharged: an attempt that ended before its agent began gives back what was set aside for it.
func TestWhatNoAgentUsedIsNotCharged(t *testing.T) {
	for name, state := range map[string]journal.State{"it failed": journal.StateSetupFailed, "it was stopped": journal.StateParked} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"}, item{"id": "b"})
			store := w.store()
			var s *wave.Scheduler
			built := prompts(func(in wave.PromptInput) (string, error) {
				if in.Item.ID == "a" && state == journal.StateParked {
					s.Stop()
				}
				if in.Item.ID == "a" {
					return "", errors.New("no words")
				}
				return "write", nil
			})
			s = w.schedulerOn(store, with(spender("m", 60)), limited(waveTokens(100)), func(c *wave.Config) { c.Prompts, c.Parallel = built, 1 })
			report, err := s.Run(t.Context())
			must(t, err)
			wantState(t, report, "a", state)
			want := 0
			if state == journal.StateSetupFailed {
				wantState(t, report, "b", journal.StateShipped)
				want = 1
			}
			if total := spent(t, store, cost.Query{}); total.Calls != want || total.Estimated != (cost.Amount{}) {
				t.Errorf("the ledger has %+v", total)
			}
			if left := reserved(t, store); len(left) > 0 {
				t.Errorf("still reserved: %+v", left)
			}
		})
	}
}

// TestUsageThatCannotBe is no usage: the agent's work counts, and what it cost is not known.
func TestUsageThatCannotBe(t *testing.T) {
	good := cost.Usage{Model: "claude-haiku-5-5", Input: 30, Metered: true}
	for name, tt := range map[string]struct {
		result    driver.Result
		known     int64 // tokens
		estimated int64
	}{
		"below zero":                {driver.Result{Calls: []cost.Usage{good, {Input: -50, Metered: true}}, Metered: true}, 30, 70},
		"more than any":             {driver.Result{Calls: []cost.Usage{{Input: 1 << 62, Metered: true}}, Metered: true}, 0, 100},
		"more thoughts than output": {driver.Result{Calls: []cost.Usage{{Reasoning: 5, Metered: true}}, Metered: true}, 0, 100},
		"names that spoil a line":   {driver.Result{Calls: []cost.Usage{{Model: "m\n" + strings.Repeat("m", 1000), Input: 30, Metered: true}}, SessionID: "s\x00\xff", Metered: true}, 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			odd := &agent{info: driver.Info{Name: "odd", Tier: 1, Metered: true}, work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				return tt.result, put(task, "a.txt", "good\n")
			}}
			store := w.store()
			report := w.runOn(store, with(odd), limited(waveTokens(100)))
			i := wantState(t, report, "a", journal.StateShipped)
			total := spent(t, store, cost.Query{Wave: report.Wave})
			if total.Usage.Tokens() != tt.known || total.Estimated.Tokens != tt.estimated || (i.CostUSD == nil) != (tt.estimated > 0 || tt.result.SessionID != "") {
				t.Errorf("%+v, cost %s", total, asJSON(i.CostUSD))
			}
			if left := reserved(t, store); len(left) > 0 {
				t.Errorf("still reserved: %+v", left)
			}
		})
	}
}

// TestAClockThatGoesBack is no reason to lose an attempt.
func TestAClockThatGoesBack(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	var back atomic.Int64
	clock := func() time.Time { return time.Now().Round(0).Add(-time.Duration(back.Load())) }
	d := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		back.Store(int64(time.Hour))
		return driver.Result{}, put(task, "a.txt", "good\n")
	}}
	wantState(t, w.run(with(d), func(c *wave.Config) { c.Clock = clock }), "a", journal.StateShipped)
}

// TestWhatOneMayUseHoldsAfterMoreWasReserved: the money of a history is a guess, the tokens of the configuration are a bound.
func TestWhatOneMayUseHoldsAfterMoreWasReserved(t *testing.T) {
	w := newWorld(t)
	store := w.store()
	for _, id := range []string{"a", "b", "c"} {
		w.items(item{"id": id})
		wantState(t, w.runOn(store, with(spender("claude-haiku-5-5", 10))), id, journal.StateShipped)
	}
	w.items(item{"id": "d"})
	d := spender("claude-haiku-5-5", 80, 120) // at 80 it passes the money that the others used
	d.held = true
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	report, err := w.schedulerOn(store, with(d), limited(cost.Limit{Scope: cost.PerWave, Money: cost.Dollar}), func(c *wave.Config) { c.Budget.Attempt.Tokens, c.Model = 100, "claude-haiku-5-5" }).Run(ctx)
	must(t, err)
	i := wantState(t, report, "d", journal.StateDriverFailed)
	if !strings.Contains(i.Reason, "used 120 tokens of 100") {
		t.Errorf("%s", i.Reason)
	}
}

// TestPoliciesHoldForReviewersToo: what a limit cannot be held against is not begun for a seat either.
func TestPoliciesHoldForReviewersToo(t *testing.T) {
	for name, tt := range map[string]struct {
		budget   cost.Budget
		reviewer driver.Driver
		says     string
	}{
		"unpriced":  {cost.Budget{Limits: []cost.Limit{{Scope: cost.PerWave, Money: cost.Dollar}}, Unpriced: cost.Refuse}, spender("nobody-knows", 10), "unpriced: "},
		"unmetered": {cost.Budget{Limits: []cost.Limit{waveTokens(1000)}, Unmetered: cost.Refuse}, &agent{work: func(context.Context, driver.Task) (driver.Result, error) { return driver.Result{}, nil }}, "does not promise to say what its agents use"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			report := w.run(with(spender("claude-haiku-5-5", 10)), asks(policy.Policy{Review: 1}), func(c *wave.Config) {
				c.Model, c.Budget, c.Reviewer = "claude-haiku-5-5", tt.budget, &asker{driver: tt.reviewer}
			})
			wantOutcome(t, report, journal.GateUnavailable)
			wantState(t, report, "a", journal.StateParked)
			if report.HaltReason == nil || !strings.Contains(*report.HaltReason, tt.says) {
				t.Errorf("reason %s", asJSON(report.HaltReason))
			}
		})
	}
}

// TestALedgerThatBreaksUnderAnAgent stops the wave, and is not held against the item.
func TestALedgerThatBreaksUnderAnAgent(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := &brokenLedger{Store: w.store()}
	d := &breaker{meterman: spender("m", 120), store: store}
	d.held = true
	report, err := w.schedulerOn(store, with(d), limited(waveTokens(100))).Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.GateUnavailable)
	wantState(t, report, "a", journal.StateParked)
	if row := w.read("a"); row.Attempts != 0 || row.Status == tracker.Failed {
		t.Errorf("%+v", row)
	}
	store.broken = false
	report = w.runOn(store, with(spender("m", 10)), limited(waveTokens(1000)))
	if w.read("a").Status != tracker.Done {
		t.Errorf("%s", asJSON(report))
	}
}

// breaker breaks the ledger when its agent starts.
type breaker struct {
	*meterman
	store *brokenLedger
}

func (d *breaker) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	d.store.broken = true
	return d.meterman.Run(ctx, t, emit)
}

// readCounter counts how often the ledger of a store is read from its beginning, and at all.
type readCounter struct {
	statestore.Store
	whole, all atomic.Int64
}

func (s *readCounter) View(ctx context.Context, fn func(statestore.Reader) error) error {
	return s.Store.View(ctx, func(r statestore.Reader) error { return fn(countedReader{r, s}) })
}

func (s *readCounter) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	return s.Store.Update(ctx, func(tx statestore.Tx) error { return fn(countedTx{tx, s}) })
}

func (s *readCounter) count(q statestore.EventQuery) {
	if q.Stream != ledger.Stream {
		return
	}
	s.all.Add(1)
	if q.After == 0 && q.Limit == 0 {
		s.whole.Add(1)
	}
}

type countedReader struct {
	statestore.Reader
	s *readCounter
}

func (r countedReader) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	r.s.count(q)
	return r.Reader.Events(q)
}

type countedTx struct {
	statestore.Tx
	s *readCounter
}

func (tx countedTx) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	tx.s.count(q)
	return tx.Tx.Events(q)
}

// TestTheLedgerIsReadOnce by a process, and not at all where nothing is limited.
func TestTheLedgerIsReadOnce(t *testing.T) {
	w := newWorld(t)
	store := &readCounter{Store: w.store()}
	w.items(item{"id": "a"}, item{"id": "b"})
	w.runOn(store, with(spender("m", 10)))
	if n := store.all.Load(); n != 0 {
		t.Errorf("without limits the ledger was read %d times", n)
	}
	w.items(item{"id": "c"}, item{"id": "d"})
	w.runOn(store, with(spender("m", 10)), limited(waveTokens(1000), cost.Limit{Scope: cost.PerDay, Tokens: 1000}))
	if n := store.whole.Load(); n != 1 {
		t.Errorf("the whole ledger was read %d times", n)
	}
}

// TestALateReviewerWaitsForAnother: what a seat reserves is new, however long ago the item's worker began.
func TestALateReviewerWaitsForAnother(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	var later atomic.Int64
	store := statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	waits := make(chan struct{})
	var told sync.Once
	reviewer := &agent{info: driver.Info{Name: "reads", Tier: 1, Metered: true}, work: func(ctx context.Context, _ driver.Task) (driver.Result, error) {
		select { // the other one waits for this one, which must not end before
		case <-waits:
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Error("nobody waits")
		}
		return driver.Result{Calls: []cost.Usage{{Input: 10, Metered: true}}, Metered: true}, nil
	}}
	report := w.runOn(store, with(spender("m", 30)), limited(waveTokens(200)), asks(policy.Policy{Review: 1}),
		func(c *wave.Config) { c.Budget.Attempt.Tokens, c.Reviewer = 80, &asker{driver: reviewer} },
		atEvent("verified", func(journal.Event) { later.Store(int64(time.Hour)) }),
		atEvent("gate_checked", func(e journal.Event) {
			if g := e.(journal.GateChecked); g.Name == "ceiling" && g.Verdict == "wait" {
				told.Do(func() { close(waits) })
			}
		}))
	wantOutcome(t, report, journal.Good)
}

// TestAReviewersAgentsTakeTurns: two at once for one item do not share what one of them reserved.
func TestAReviewersAgentsTakeTurns(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	both := make(chan struct{})
	var began atomic.Int64
	reviewer := &agent{info: driver.Info{Name: "reads", Tier: 1, Metered: true}, work: func(ctx context.Context, _ driver.Task) (driver.Result, error) {
		if began.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
		case <-time.After(time.Second):
		}
		return driver.Result{Calls: []cost.Usage{{Input: 80, Metered: true}}, Metered: true}, nil
	}}
	store := w.store()
	report := w.runOn(store, with(spender("m", 30)), limited(waveTokens(170)), asks(policy.Policy{Review: 1}),
		func(c *wave.Config) { c.Budget.Attempt.Tokens, c.Reviewer = 80, &pair{driver: reviewer} })
	if total := spent(t, store, cost.Query{}); total.Charge().Tokens > 170 {
		t.Errorf("spent %+v", total)
	}
	wantOutcome(t, report, journal.Ceiling)
}

// pair is a reviewer that asks two agents at once.
type pair struct{ driver driver.Driver }

func (p *pair) Review(ctx context.Context, c wave.Change) (wave.Judgement, error) {
	var all sync.WaitGroup
	var errs [2]error
	for n := range errs {
		all.Go(func() { _, errs[n] = c.Dispatch(ctx, p.driver, driver.Task{Prompt: "look", Role: driver.Reviewer}) })
	}
	all.Wait()
	return wave.Judgement{OK: true}, errors.Join(errs[:]...)
}

// TestAReviewerThatIsCutOff: there is no judgement because of a limit, and the wave says so.
func TestAReviewerThatIsCutOff(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	reads := spender("m", 50, 120)
	reads.held = true
	report := w.run(with(spender("m", 30)), limited(waveTokens(100)), asks(policy.Policy{Review: 1}), func(c *wave.Config) { c.Reviewer = &asker{driver: reads} })
	wantOutcome(t, report, journal.Ceiling)
	wantState(t, report, "a", journal.StateParked)
	if report.CeilingReason == nil || !strings.Contains(*report.CeilingReason, "cut off while it worked: waveTokens is 100 tokens") {
		t.Errorf("reason %s", asJSON(report.CeilingReason))
	}
}

// TestAlertsOutliveTheProcess: what was spent before it died is told by the next one.
func TestAlertsOutliveTheProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL and the process table of Linux")
	}
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.write("aesop.json", `{"limits": {"waveTokens": 100}}`)
	w.script(map[string][]attempt{"a": costs("a", 75)})
	if code, out := w.binary("attempt_ended", "run"); code != -1 {
		t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
	}
	if code, out := w.binary("", "resume"); code != 0 {
		t.Fatalf("resume: exit %d\n%s", code, out)
	}
	told, err := os.ReadFile(filepath.Join(w.state, "alerts.jsonl"))
	if err != nil || !strings.Contains(string(told), `"kind":"spend","threshold":70`) {
		t.Errorf("%s (%v)", told, err)
	}
	if alerts := w.written(w.newest()).Budget.Alerts; len(alerts) == 0 {
		t.Error("the report has no alerts")
	}
}

// TestWhatWasPaidForShipsOnASpentDay: a resume claims nothing new, and each agent that it would need asks for itself.
func TestWhatWasPaidForShipsOnASpentDay(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	store, day := w.store(), limited(cost.Limit{Scope: cost.PerDay, Tokens: 100})
	var s *wave.Scheduler
	s = w.schedulerOn(store, with(spender("m", 100)), day, func(c *wave.Config) { c.Parallel = 1 }, atEvent("verified", func(journal.Event) { s.Stop() }))
	report, err := s.Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Interrupted)
	reports, err := w.schedulerOn(store, with(spender("m", 100)), day).Resume(t.Context(), report.Wave)
	must(t, err)
	wantOutcome(t, reports[0], journal.Ceiling)
	wantState(t, reports[0], "a", journal.StateShipped)
	wantState(t, reports[0], "b", journal.StateCancelled)
	wantStatus(t, w.read("b"), tracker.Todo)
}

// TestWhatAnAgentUsedIsKeptWhereAnotherWaveTookItsItem: its end is not the item's any more, and its cost is still its cost.
func TestWhatAnAgentUsedIsKeptWhereAnotherWaveTookItsItem(t *testing.T) {
	for name, limits := range map[string][]cost.Limit{"limited": {waveTokens(100)}, "not limited": nil, "and does not say all of it": {waveTokens(100)}} {
		t.Run(name, func(t *testing.T) {
			metered := name != "and does not say all of it" // whoever took the item has charged what was reserved
			w := newWorld(t)
			w.items(item{"id": "a"})
			store := w.store()
			d := &agent{info: driver.Info{Name: "late", Tier: 1, Metered: true}, work: func(ctx context.Context, task driver.Task) (driver.Result, error) {
				result := driver.Result{Calls: []cost.Usage{{Model: "claude-haiku-5-5", Input: 60, Metered: true}}, Metered: metered}
				return result, store.Update(ctx, func(tx statestore.Tx) error {
					live, _, err := job.Live(tx, "a")
					if err == nil {
						_, err = job.Apply(tx, job.Cancel{ID: live.ID, By: job.Operator{TransitionSeq: live.TransitionSeq}, Reason: "taken"})
					}
					return err
				})
			}}
			report := w.runOn(store, with(d), limited(limits...))
			i := wantState(t, report, "a", journal.StateClaimLost)
			if total := spent(t, store, cost.Query{Wave: report.Wave}); total.Charge().Tokens != 60 {
				t.Errorf("the ledger has %+v", total)
			}
			if metered && (i.CostUSD == nil || *i.CostUSD != "0.000006") || !metered && i.CostUSD != nil {
				t.Errorf("cost %s", asJSON(i))
			}
		})
	}
}

// TestNothingChargedIsNotKnown: where no hard limit bounds an agent, nothing can be charged in place of what it does not say.
func TestNothingChargedIsNotKnown(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	report := w.run(with(writer()), limited(cost.Limit{Scope: cost.PerWave, Tokens: 70, Soft: true}))
	wantState(t, report, "a", journal.StateShipped)
	if l := report.Budget.Limits[0]; l.Spent != "0" || l.Unknown != 1 {
		t.Errorf("%s", asJSON(l))
	}
}

// died leaves an attempt at an item, by a wave that is no more, with all reserved that a limit has.
func died(t *testing.T, store statestore.Store, item string, limit cost.Limit) {
	t.Helper()
	must(t, journal.Create(journal.Config{Store: store, Place: "elsewhere"}, "dead").Append(t.Context(), nil, journal.Planned{Place: "elsewhere"}))
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		for _, request := range []job.Request{job.Create{ID: "dead", Item: item, Wave: "dead", Seat: "worker"},
			job.Claim{ID: "dead", Token: strings.Repeat("0f", 32), Deadline: tx.Now().Add(time.Hour), Reserve: ledger.Purse{Ledger: ledger.New(store), Limits: []cost.Limit{limit}}}} {
			if d, err := job.Apply(tx, request); err != nil || !d.OK() {
				return errors.Join(err, errors.New(d.Text))
			}
		}
		return nil
	}))
}

// TestWhoTakesAnItemChargesWhatWasReservedForIt, to the wave that had it.
func TestWhoTakesAnItemChargesWhatWasReservedForIt(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	var later atomic.Int64
	store := statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	died(t, store, "a", cost.Limit{Scope: cost.PerDay, Tokens: 40})
	later.Store(int64(time.Minute)) // or the other wave could be about to claim it
	report := w.runOn(store, with(spender("m", 10)), limited(cost.Limit{Scope: cost.PerDay, Tokens: 100}))
	wantState(t, report, "a", journal.StateShipped)
	if total := spent(t, store, cost.Query{Wave: "dead"}); total.Calls != 1 || total.Estimated.Tokens != 40 {
		t.Errorf("the ledger has %+v", total)
	}
	if l := report.Budget.Limits[0]; l.Spent != "50" || l.Reserved != "0" {
		t.Errorf("%s", asJSON(l))
	}
}

// TestAReservationThatNobodyHoldsIsNotWaitedFor for longer than its attempt can last, and counts until somebody says what was used.
func TestAReservationThatNobodyHoldsIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	var later atomic.Int64
	store := statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	day := cost.Limit{Scope: cost.PerDay, Tokens: 100}
	died(t, store, "other", day)
	waited := false
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	report, err := w.schedulerOn(store, with(spender("m", 10)), limited(day), atEvent("gate_checked", func(e journal.Event) {
		if g := e.(journal.GateChecked); g.Verdict == "wait" {
			waited = true
			later.Store(int64(2 * time.Hour))
		}
	})).Run(ctx)
	must(t, err)
	wantOutcome(t, report, journal.Ceiling)
	if i := wantState(t, report, "a", journal.StateCancelled); !waited || !strings.Contains(i.Reason, "100 tokens spent") {
		t.Errorf("waited %v: %s", waited, i.Reason)
	}
	w.notHalted("what is only reserved is no breach")
}

// TestADayEndsAtMidnightUTC, also while a wave runs.
func TestADayEndsAtMidnightUTC(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 29, 23, 59, 0, 0, time.UTC).UnixNano())
	clock := func() time.Time { return time.Unix(0, now.Load()) }
	store := statestore.NewMemory(statestore.MemoryConfig{Clock: clock})
	midnight := true
	report := w.runOn(store, with(spender("claude-haiku-5-5", 100)), limited(cost.Limit{Scope: cost.PerDay, Tokens: 100}, cost.Limit{Scope: cost.PerModel, Model: "haiku", Tokens: 100}),
		func(c *wave.Config) { c.Parallel, c.Clock, c.Model = 1, clock, "haiku" },
		atEvent("attempt_ended", func(journal.Event) {
			if midnight {
				now.Add(int64(2 * time.Minute))
			}
			midnight = false
		}))
	wantOutcome(t, report, journal.Good)
	for _, l := range report.Budget.Limits {
		if l.Spent != "100" {
			t.Errorf("%s", asJSON(l))
		}
	}
}

// TestAnAbandonedWaveIsChargedWhatItHadReserved, once.
func TestAnAbandonedWaveIsChargedWhatItHadReserved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL and the process table of Linux")
	}
	w := limitedWorld(t)
	if code, out := w.binary("attempt_started", "run"); code != -1 {
		t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
	}
	store := w.store()
	for range 2 {
		_, err := w.archive(store).Abandon(t.Context(), w.tracker(), w.newest(), "test")
		must(t, err)
		if total := spent(t, store, cost.Query{}); total.Calls != 1 || total.Charge().Tokens != 120 {
			t.Errorf("the ledger has %+v", total)
		}
	}
	if left := reserved(t, store); len(left) > 0 {
		t.Errorf("still reserved: %+v", left)
	}
}

// TestUsageOnTheWayIsPriced as that of the model that was asked for, where it names none, and as far as it is known.
func TestUsageOnTheWayIsPriced(t *testing.T) {
	for tokens, state := range map[int64]journal.State{90: journal.StateShipped, 110: journal.StateCancelled} { // of 100 that the limit is enough for
		w := newWorld(t)
		w.items(item{"id": "a"})
		d := spender("", tokens)
		d.vague, d.held = true, state == journal.StateCancelled
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		report, err := w.schedulerOn(w.store(), with(d), limited(cost.Limit{Scope: cost.PerWave, Money: 10_000}), func(c *wave.Config) { c.Model = "haiku" }).Run(ctx)
		must(t, err)
		wantState(t, report, "a", state)
	}
}

// TestSoftLimitsAndThoseOfOtherModelsStopNothing, however far they are passed.
func TestSoftLimitsAndThoseOfOtherModelsStopNothing(t *testing.T) {
	w := newWorld(t)
	store := w.store()
	limits := limited(cost.Limit{Scope: cost.PerDay, Tokens: 50, Soft: true}, cost.Limit{Scope: cost.PerModel, Model: "haiku", Tokens: 60})
	for _, of := range []struct{ id, model string }{{"a", "haiku"}, {"b", "m"}} {
		w.items(item{"id": of.id})
		report := w.runOn(store, with(spender(of.model, 60)), limits, func(c *wave.Config) { c.Model = of.model })
		wantOutcome(t, report, journal.Good)
		wantState(t, report, of.id, journal.StateShipped)
	}
	w.notHalted("a soft limit")
}

// TestWhatIsReserved: all that is left while little is known of a driver's attempts, then what the dearest of them used, and always what
// the configuration lets one use.
func TestWhatIsReserved(t *testing.T) {
	w := newWorld(t)
	store := w.store()
	for _, tt := range []struct {
		id, driver string
		may, want  int64
	}{{"a", "one", 0, 100}, {"b", "one", 0, 100}, {"c", "one", 0, 100}, {"d", "one", 0, 10}, {"e", "other", 0, 100}, {"f", "one", 50, 50}} {
		w.items(item{"id": tt.id})
		d := &agent{info: driver.Info{Name: tt.driver, Tier: 1, Metered: true}, work: func(_ context.Context, task driver.Task) (driver.Result, error) {
			if held := reserved(t, store); len(held) != 1 || held[0].Reserved.Amount.Tokens != tt.want {
				t.Errorf("%s reserved %s, want %d", tt.id, asJSON(held), tt.want)
			}
			return driver.Result{Calls: []cost.Usage{{Model: "m", Input: 10, Metered: true}}, Metered: true}, put(task, tt.id+".txt", "good\n")
		}}
		wantState(t, w.runOn(store, with(d), limited(waveTokens(100)), func(c *wave.Config) { c.Model, c.Budget.Attempt.Tokens = "m", tt.may }), tt.id, journal.StateShipped)
	}
}

// TestRowsSayWhatTheyAreOf: a repair is told from what it repairs, and bad attempts from good ones.
func TestRowsSayWhatTheyAreOf(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	poor := costs("a", 100)[0]
	poor["files"] = map[string]string{"a.txt": "poor"}
	w.script(map[string][]attempt{"a": {poor, costs("a", 50)[0]}, "b": {{"fail": "refused", "usage": map[string]any{"input": 7, "output": 0}}}})
	store := w.store()
	w.runOn(store)
	for tokens, q := range map[int64]cost.Query{107: {Phase: "build"}, 50: {Phase: "repair"}, 150: {Verdict: cost.OK, Agent: "worker", Backend: "script"}, 7: {Verdict: cost.Failed}} {
		if total := spent(t, store, q); total.Usage.Tokens() != tokens {
			t.Errorf("%+v: %+v, want %d", q, total, tokens)
		}
	}
}
