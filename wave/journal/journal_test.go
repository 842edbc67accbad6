package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/statestore"
	"aesop/wave/journal"
)

const id = "20260102-030405-abcd"

func pointer[T any](v T) *T { return &v }

// planned is the plan of a wave with the items a and b.
func planned() journal.Planned {
	return journal.Planned{Driver: "script", Tier: 2, Repairs: 3, SpotCheck: 0.5, ReviewShare: 0.1, Prompt: "p-1", RedBase: true, Review: true, Approve: true, Limited: true, Place: "here",
		Repositories: []journal.Repository{{Name: "../r", Path: "/repo", Origin: "upstream", Remote: "origin", Branch: "main", Base: "b0",
			Who: "Tester", Email: "tester@example.com", Dirty: []string{"x"}, Weak: true, Verify: journal.Command{Argv: []string{"make"}, Text: "make"},
			Prepare: []string{"npm ci"}, Carry: []string{"node_modules/"}, Carried: "d1", Guarded: "d2"}},
		Items: []journal.Item{
			{ID: "a", Slug: "sa", Title: "A", Fingerprint: "f", Repo: "../r", Owns: []string{"a.txt"}, TestText: "make", Model: "m", Claim: "c1", Attempts: 1},
			{ID: "b", Slug: "sb", Title: "B", Fingerprint: "g", Repo: "../r", Owns: []string{"a.txt"}, TestText: "make", Model: "m", Claim: "c2", Attempts: 2}},
		Skipped: []journal.Skipped{{ID: "z", Slug: "sz", Reason: "claimed", Detail: "by somebody"}},
		Resumed: []journal.Resume{{Wave: "w0", Outcome: journal.Good, Branch: "aesop/w0", Shipped: []string{"y"}}}}
}

// history has every type of event once, each with every field filled, in an order that can be.
func history() []journal.Event {
	test := journal.Test{Passed: true, Exit: pointer(0), TimedOut: true, Stdout: "out", Stderr: "err", DurationMs: 5, Confinement: "none", Reason: "so", Tests: pointer(4), Runner: "go", Survivors: []string{"sleep (process 3)"}}
	usage := cost.Usage{Model: "m", Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6, Metered: true}
	paid := &journal.Charge{USD: 1, Known: true, Estimated: cost.Amount{Tokens: 2, Money: 3}, Passed: &cost.Amount{Tokens: 1, Money: 1}}
	return []journal.Event{
		planned(),
		journal.GateChecked{Name: "halt", At: "claim", Verdict: "go", Reason: "none"},
		journal.BaseTested{Repo: "../r", Command: "make", Test: test},
		journal.Dropped{Item: "b", Reason: "claimed", Detail: "by another"},
		journal.Claimed{Items: []string{"a"}, Recorded: map[string]string{"a": "s0"}},
		journal.ItemBaseTested{Item: "a", Test: test},
		journal.AttemptStarted{Item: "a", Attempt: "t1", Round: 1, Driver: "script", Tier: 2, Model: "m"},
		journal.AttemptEnded{Item: "a", Attempt: "t1", Outcome: journal.OutcomeBuilt, Class: "crashed", Reason: "r", Usage: usage, Charge: paid, DurationMs: 7,
			Commit: "c", Tree: "t", Tail: "end", Exit: pointer(3), Session: "s", Resumed: true, Confinement: "none", Parked: "trees/x",
			Said: &journal.Said{Status: "failed", Reason: "why", Report: "waves/w/report", Fault: "f"}, Survivors: []string{"sh (process 2)"}},
		journal.Verified{Item: "a", Attempt: "t1", Commit: "c", Test: test},
		journal.SpotChecked{Item: "a", Commit: "c", Test: test},
		journal.Scanned{Item: "a", Commit: "c", Allowed: []string{"x"}, Warnings: []string{"x"}},
		journal.Asked{Item: "a", Commit: "c", Corrections: 1},
		journal.Corrected{Item: "a", Attempt: "t2", Of: "c", By: "ann", Reason: "typo", Files: []string{"a.txt"}, Commit: "c2", Tree: "t2", Refused: "no", Test: &test},
		journal.Judged{Item: "a", Seat: journal.SeatReview, OK: true, Reason: "fine", By: "ann", Usage: &usage, Charge: paid, Confinement: "none", Survivors: []string{"sh (process 4)"}},
		journal.Unanswered{Item: "a", Seat: journal.SeatReview, Reason: "no answer", Usage: &usage, Charge: paid, Confinement: "none", Survivors: []string{"sh (process 5)"}},
		journal.BaseMoved{Repo: "../r", From: "b0", Base: "b1"},
		journal.Rebased{Item: "a", Of: "c2", Commit: "c3", Tree: "t3", Test: test},
		journal.Integrated{Repo: "../r", Tip: "c", Items: []string{"a"}, Verified: true},
		journal.PushIntent{Repo: "../r", Branch: "aesop/w", Tip: "c", Items: []string{"a"}, Updates: []journal.Update{{Ref: "refs/heads/aesop/w", Old: "o", New: "c"}}, Weak: true},
		journal.PushFailed{Repo: "../r", Error: "push_refused", Detail: "no"},
		journal.RepositoryFailed{Repo: "../r", Error: "remote_unreachable", Detail: "no route"},
		journal.Stopped{Outcome: journal.Halted, Reason: "lunch", Error: &journal.Fault{Code: "c", Message: "m", File: "f", Line: 1, Field: "x", Hint: "h"}, Compared: []string{"../r"}},
		journal.TakenOver{Driver: "command", Tier: 4, Review: true, Approve: true, Survivors: []string{"sh (process 1)"}},
		journal.Resumed{Claims: map[string]string{"a": "c3"}, Recorded: map[string]string{"a": "s1"}, Guarded: map[string]string{"../r": "d3"}},
		journal.ItemEnded{Item: "a", State: journal.StateParked, Reason: "r", Counted: true, Ceiling: true,
			Failure: &journal.Failure{Step: "ship", Command: "git push", Exit: pointer(1), Tail: "t"}},
		journal.Shipped{Repo: "../r", Branch: "aesop/w", Tip: "c", Items: map[string]string{"a": "c"}, Weak: true, DurationMs: 9},
		journal.Adopted{Item: "a", Commit: "c9", Branch: "aesop/w9", Wave: "w9"},
		journal.Settled{Items: []string{"a"}, Changed: []string{"a"}, Lost: []string{"a"}},
		journal.Budgeted{Limits: []journal.LimitState{{Name: "itemUsd", Item: "a", Unit: "usd", Limit: "5.00", Spent: "1.00", Estimated: "0.50", Reserved: "1.00", Unknown: 1, Soft: true, State: "below"}},
			Unpriced: cost.Refuse, Unmetered: cost.Allow, Prices: "2026-11-30", Warnings: []string{"old"}},
		journal.Alerted{Alerts: []journal.AlertState{{Limit: "itemUsd", Item: "a", Kind: "spend", Threshold: 70, State: "failed", Error: "full"}}},
		journal.Ended{Outcome: journal.Good},
	}
}

func memory() (statestore.Store, func(time.Duration)) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return now }}), func(d time.Duration) { now = now.Add(d) }
}

func appendTo(t *testing.T, j *journal.Journal, events ...journal.Event) {
	t.Helper()
	if err := j.Append(t.Context(), nil, events...); err != nil {
		t.Fatal(err)
	}
}

// stored are the types of a wave's events in the store.
func stored(t *testing.T, store statestore.Store) []string {
	t.Helper()
	var types []string
	view(t, store, func(r statestore.Reader) error {
		for e, err := range r.Events(statestore.EventQuery{Stream: "wave/" + id}) {
			if err != nil {
				return err
			}
			types = append(types, e.Type)
		}
		return nil
	})
	return types
}

func view(t *testing.T, store statestore.Store, fn func(statestore.Reader) error) {
	t.Helper()
	if err := store.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func fold(t *testing.T, store statestore.Store) *journal.Wave {
	t.Helper()
	j, err := journal.Load(t.Context(), journal.Config{Store: store}, id)
	if err != nil {
		t.Fatal(err)
	}
	return j.Wave()
}

// TestHistoryIsComplete: the table has every type that there is, and no field of it is left empty.
func TestHistoryIsComplete(t *testing.T) {
	var have []string
	for _, e := range history() {
		have = append(have, e.Type())
		wantFilled(t, e.Type(), reflect.ValueOf(e))
	}
	slices.Sort(have)
	if diff := cmp.Diff(journal.Types(), have); diff != "" {
		t.Error(diff)
	}
}

func wantFilled(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			wantFilled(t, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case v.Kind() == reflect.Slice && v.Len() > 0:
		wantFilled(t, name+"[0]", v.Index(0))
	case v.IsZero():
		t.Errorf("%s is empty", name)
	}
}

// TestRoundTrip: what comes back from the store is what was appended, and the fold of it is the fold that was in memory.
func TestRoundTrip(t *testing.T) {
	store, tick := memory()
	var observed []journal.Event
	var states []*journal.Wave
	j := journal.Create(journal.Config{Store: store, Observe: func(w *journal.Wave, e journal.Event) {
		observed, states = append(observed, e), append(states, w)
	}}, id)
	for _, e := range history() {
		tick(time.Second)
		appendTo(t, j, e)
	}
	if diff := cmp.Diff(history(), observed); diff != "" {
		t.Errorf("observed: %s", diff)
	}
	if diff := cmp.Diff(j.Wave(), fold(t, store)); diff != "" {
		t.Errorf("fold of the store: %s", diff)
	}
	if diff := cmp.Diff(j.Wave(), states[len(states)-1]); diff != "" {
		t.Errorf("the last state that was observed: %s", diff)
	}
	var n int
	view(t, store, func(r statestore.Reader) error {
		for e, err := range r.Events(statestore.EventQuery{Stream: "wave/" + id}) {
			if err != nil {
				return err
			}
			want, err := json.Marshal(history()[n])
			if err != nil {
				return err
			}
			if e.Type != history()[n].Type() || string(e.Data) != string(want) {
				t.Errorf("event %d is %s %s, want %s", n, e.Type, e.Data, want)
			}
			n++
		}
		return nil
	})
	if n != len(history()) {
		t.Errorf("%d events are stored", n)
	}
}

// TestFoldOfTheHistory looks at what each event did to the state.
func TestFoldOfTheHistory(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := journal.New(id)
	for i, e := range history() {
		if err := w.Apply(start.Add(time.Duration(i)*time.Second), e); err != nil {
			t.Fatal(err)
		}
	}
	a, r := w.Items["a"], w.Repositories["../r"]
	for what, ok := range map[string]bool{
		"start": w.StartedAt.Equal(start) && w.Plan.Driver == "script",
		"base":  r.Tested != nil && r.Tested.Command == "make" && w.Of(a) == r,
		"gate":  len(w.Gates) == 1 && w.Gates[0].Verdict == "go",
		"dropped": w.Items["b"] == nil && slices.Equal(w.Order, []string{"a"}) && len(w.Skipped) == 2 &&
			w.Skipped[1] == journal.Skipped{ID: "b", Slug: "sb", Reason: "claimed", Detail: "by another"},
		"claim":        a.Claimed && a.Claim == "c3" && a.Recorded == "s1",
		"base of item": a.BaseTest != nil,
		"attempt":      len(a.Attempts) == 1 && a.Last().ID == "t1" && a.Last().StartedAt.Equal(start.Add(6*time.Second)) && a.Last().Ended.Commit == "c",
		"times":        a.BuildTime == 7*time.Millisecond && a.TestTime == 20*time.Millisecond && a.ShipTime == 9*time.Millisecond,
		"verified":     a.Last().Test != nil,
		"checked":      !a.Refuted() && a.Built() && a.Again != nil,
		"asked":        a.Asked != nil && a.Asked.Commit == "c" && a.AskedAt.Equal(start.Add(11*time.Second)),
		"corrected":    len(a.Corrected) == 1 && a.Corrected[0].By == "ann",
		"moved":        r.Base == "b1" && r.Moves == 1 && w.Plan.Repositories[0].Base == "b0",
		"rebased":      a.Verified == "c3" && a.Rebased.Of == "c2",
		"judged":       a.Judged[journal.SeatReview].OK,
		"unanswered":   len(a.Unanswered) == 1 && a.Unanswered[0].Reason == "no answer",
		"integrated":   r.Tip == "c" && slices.Equal(r.TipItems, []string{"a"}) && r.Union,
		"shipped":      r.Shipped != nil && r.Intent == nil && !w.Pushing("a"),
		"taken over":   w.Stop == nil && r.Failed == nil && w.Driver == "command" && w.Tier == 4 && len(w.Survivors) == 10 && w.Review && w.Approve,
		"item's end":   a.End != nil && a.End.State == journal.StateParked && !a.Open(),
		"adopted":      a.Adopted != nil && a.Commit == "c9",
		"settled":      a.Settled && a.Changed && a.Lost,
		"end":          w.End != nil && w.EndedAt.Equal(start.Add(30*time.Second)),
		"budget":       w.Budget != nil && w.Budget.Limits[0].Spent == "1.00",
		"alerts":       len(w.Alerts) == 1 && w.Alerts[0].Error == "full",
		"charge":       a.Charge().USD == 3 && a.Charge().Known,
		"refused":      w.Refused() == "r",
	} {
		if !ok {
			t.Errorf("%s is not as its event says", what)
		}
	}
}

// TestEventsThatAreNotDurableWait for the next that is, also one that is written for its transaction's sake; the fold has them.
func TestEventsThatAreNotDurableWait(t *testing.T) {
	store, _ := memory()
	var observed []string
	j := journal.Create(journal.Config{Store: store, Observe: func(_ *journal.Wave, e journal.Event) { observed = append(observed, e.Type()) }}, id)
	gate := journal.GateChecked{Name: "halt", At: "claim", Verdict: "go"}
	appendTo(t, j, gate)
	if got := stored(t, store); len(got) != 0 || len(observed) != 0 || len(j.Wave().Gates) != 1 {
		t.Errorf("stored %v, observed %v, gates %v", got, observed, j.Wave().Gates)
	}
	appendTo(t, j, planned())
	appendTo(t, j, journal.Claimed{Items: []string{"a", "b"}})
	appendTo(t, j, journal.Settled{Items: []string{"b"}})
	want := []string{"gate_checked", "planned"}
	if got := stored(t, store); !slices.Equal(got, want) || !j.Item("a").Claimed || j.Item("x") != nil {
		t.Errorf("stored %v", got)
	}
	key := statestore.Key("job/x")
	if err := j.Append(t.Context(), func(tx statestore.Tx) error { _, err := tx.Put(key, []byte("1"), 0); return err }); err != nil {
		t.Fatal(err)
	}
	want = append(want, "claimed", "settled")
	if got := stored(t, store); !slices.Equal(got, want) || !slices.Equal(observed, want) {
		t.Errorf("stored %v, observed %v", got, observed)
	}
	view(t, store, func(r statestore.Reader) error { _, err := r.Get(key); return err })
}

// TestFailedTransactionLeavesEverything as it was: the records, the events, the fold, and what waits.
func TestFailedTransactionLeavesEverything(t *testing.T) {
	refusal := errors.New("refused")
	for name, tt := range map[string]struct {
		along  func(statestore.Tx) error
		cancel bool
		events []journal.Event
		want   error
	}{
		"refused along":  {func(statestore.Tx) error { return refusal }, false, []journal.Event{journal.AttemptStarted{Item: "a", Attempt: "t1"}}, refusal},
		"unknown item":   {nil, false, []journal.Event{journal.AttemptStarted{Item: "a", Attempt: "t1"}, journal.AttemptStarted{Item: "x", Attempt: "t2"}}, nil},
		"waits, unknown": {nil, false, []journal.Event{journal.Settled{Items: []string{"a", "x"}}}, nil},
		"store":          {nil, true, []journal.Event{journal.Ended{Outcome: journal.Good}}, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			store, _ := memory()
			seen := 0
			j := journal.Create(journal.Config{Store: store, Observe: func(*journal.Wave, journal.Event) { seen++ }}, id)
			appendTo(t, j, planned())
			appendTo(t, j, journal.Claimed{Items: []string{"a"}})
			before, ctx := j.Wave(), t.Context()
			if tt.cancel {
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				cancel()
			}
			key := statestore.Key("job/x")
			along := tt.along
			if along != nil {
				along = func(tx statestore.Tx) error {
					if _, err := tx.Put(key, []byte("1"), 0); err != nil {
						return err
					}
					return tt.along(tx)
				}
			}
			err := j.Append(ctx, along, tt.events...)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Fatalf("error is %v", err)
			}
			if diff := cmp.Diff(before, j.Wave()); diff != "" || seen != 1 || len(stored(t, store)) != 1 {
				t.Errorf("the fold changed: %s; observed %d, stored %v", diff, seen, stored(t, store))
			}
			if err := store.View(t.Context(), func(r statestore.Reader) error { _, err := r.Get(key); return err }); !errors.Is(err, statestore.ErrNotFound) {
				t.Errorf("the record beside: %v", err)
			}
			appendTo(t, j, journal.Ended{Outcome: journal.Good})
			if got, want := stored(t, store), []string{"planned", "claimed", "ended"}; !slices.Equal(got, want) {
				t.Errorf("stored afterwards: %v, want %v", got, want)
			}
			if diff := cmp.Diff(j.Wave(), fold(t, store)); diff != "" {
				t.Errorf("fold of the store: %s", diff)
			}
		})
	}
}

// TestUnknownThings are errors that name them: a wave of a newer version is not half-read.
func TestUnknownThings(t *testing.T) {
	for name, tt := range map[string]struct {
		entry statestore.Entry
		says  string
	}{
		"type":    {statestore.Entry{Type: "teleported", Data: []byte("{}")}, `"teleported" is not known`},
		"shape":   {statestore.Entry{Type: "settled", Data: []byte(`{"items": 3}`)}, "event settled"},
		"item":    {statestore.Entry{Type: "settled", Data: []byte(`{"items": ["x"]}`)}, "item x is not part of the wave"},
		"attempt": {statestore.Entry{Type: "verified", Data: []byte(`{"item": "a", "attempt": "t9"}`)}, "attempt t9 of item a"},
	} {
		store, _ := memory()
		appendTo(t, journal.Create(journal.Config{Store: store}, id), planned())
		if err := store.Update(t.Context(), func(tx statestore.Tx) error {
			_, err := tx.Append("wave/"+id, statestore.AnyVersion, tt.entry)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		_, err := journal.Load(t.Context(), journal.Config{Store: store}, id)
		if damaged, ok := errors.AsType[*statestore.DamagedError](err); !ok || damaged.What != "event 2 of wave/"+id || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	store, _ := memory()
	if _, err := journal.Load(t.Context(), journal.Config{Store: store}, id); !errors.Is(err, statestore.ErrNotFound) {
		t.Errorf("a wave that is not there: %v", err)
	}
}

// TestEventsAboutUnknownItems: each type that is about an item or a repository refuses one that the wave does not have.
func TestEventsAboutUnknownItems(t *testing.T) {
	w := journal.New(id) // which has no items
	refused := 0
	for _, e := range history() {
		switch e.(type) {
		case journal.Planned, journal.GateChecked, journal.Stopped, journal.TakenOver, journal.Budgeted, journal.Alerted, journal.Ended:
			continue // about the wave
		}
		if err := w.Apply(time.Time{}, e); err == nil || !strings.Contains(err.Error(), "is not part of the wave") {
			t.Errorf("%s: %v", e.Type(), err)
		}
		refused++
	}
	if refused != 24 || len(w.Items) != 0 {
		t.Errorf("%d types are about items; the wave has %v", refused, w.Items)
	}
}

func TestListAndOpen(t *testing.T) {
	store, tick := memory()
	begin := func(place, name string) *journal.Journal {
		j := journal.Create(journal.Config{Store: store, Place: place}, name)
		appendTo(t, j, planned())
		return j
	}
	begin("here", "w-9") // first, whatever its name
	tick(time.Second)
	second := begin("here", "w-2")
	begin("there", "w-1") // at the same moment: by name
	tick(time.Second)
	begin("here", "w-0")
	appendTo(t, journal.Create(journal.Config{Store: store, Place: "here"}, "w-x"), journal.GateChecked{Name: "halt"}) // nothing is stored
	check := func(what string, get func(statestore.Reader) ([]string, error), want ...string) {
		t.Helper()
		view(t, store, func(r statestore.Reader) error {
			got, err := get(r)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
			return err
		})
	}
	open := func(place string) func(statestore.Reader) ([]string, error) {
		return func(r statestore.Reader) ([]string, error) { return journal.Open(r, place) }
	}
	check("all", journal.List, "w-9", "w-1", "w-2", "w-0")
	check("open here", open("here"), "w-9", "w-2", "w-0")
	check("open there", open("there"), "w-1")
	check("open nowhere", open("nowhere"))
	for range 2 { // closing once more is no error
		if err := second.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	check("open here", open("here"), "w-9", "w-0")
	check("all", journal.List, "w-9", "w-1", "w-2", "w-0")
}

// TestCopiesAreCopies: what a caller does to a state that it was given changes nothing.
func TestCopiesAreCopies(t *testing.T) {
	store, _ := memory()
	j := journal.Create(journal.Config{Store: store}, id)
	appendTo(t, j, planned(), journal.AttemptStarted{Item: "a", Attempt: "t1"}, journal.Judged{Item: "a", Seat: "review"})
	before, taken := j.Wave(), j.Wave()
	taken.Items["a"].Attempts[0].ID, taken.Items["a"].Claimed, taken.Order[0] = "spoilt", true, "spoilt"
	clear(taken.Items["a"].Judged)
	taken.Skipped[0].ID = "spoilt"
	delete(taken.Items, "b")
	j.Item("a").Verified = "spoilt"
	if diff := cmp.Diff(before, j.Wave()); diff != "" {
		t.Error(diff)
	}
}

func TestRedact(t *testing.T) {
	store, _ := memory()
	var observed []journal.Event
	j := journal.Create(journal.Config{Store: store, Observe: func(_ *journal.Wave, e journal.Event) { observed = append(observed, e) },
		Redact: func(data []byte) []byte { return []byte(strings.ReplaceAll(string(data), "lunch", "[redacted]")) }}, id)
	appendTo(t, j, planned())
	appendTo(t, j, journal.GateChecked{Name: "halt", Reason: "lunch"})
	if got := j.Wave().Gates[0].Reason; got != "[redacted]" {
		t.Errorf("the fold has %q", got)
	}
	appendTo(t, j, journal.Stopped{Reason: "lunch"})
	if got := observed[2].(journal.Stopped).Reason; got != "[redacted]" {
		t.Errorf("observed %q", got)
	}
	if diff := cmp.Diff(j.Wave(), fold(t, store)); diff != "" {
		t.Errorf("fold of the store: %s", diff)
	}
}

// TestWaits: an item waits while the newest question is about what it now is, and nobody has answered.
func TestWaits(t *testing.T) {
	passed, failed := &journal.Test{Passed: true}, &journal.Test{}
	for name, tt := range map[string]struct {
		change func(*journal.ItemState)
		want   bool
	}{
		"asked":     {func(*journal.ItemState) {}, true},
		"not asked": {func(i *journal.ItemState) { i.Asked = nil }, false},
		"judged by a reviewer": {func(i *journal.ItemState) {
			i.Judged = map[string]journal.Judged{journal.SeatReview: {Seat: journal.SeatReview}}
		}, true},
		"judged": {func(i *journal.ItemState) {
			i.Judged = map[string]journal.Judged{journal.SeatApprove: {Seat: journal.SeatApprove}}
		}, false},
		"ended":             {func(i *journal.ItemState) { i.End = &journal.ItemEnded{} }, false},
		"shipped":           {func(i *journal.ItemState) { i.Commit = "c" }, false},
		"corrected":         {func(i *journal.ItemState) { i.Corrected, i.Verified = []journal.Corrected{{Test: passed}}, "d" }, false},
		"correction failed": {func(i *journal.ItemState) { i.Corrected = []journal.Corrected{{Test: failed}} }, false},
		"asked again": {func(i *journal.ItemState) {
			i.Corrected, i.Asked = []journal.Corrected{{}}, &journal.Asked{Commit: "c", Corrections: 1}
		}, true},
	} {
		i := &journal.ItemState{Verified: "c", Asked: &journal.Asked{Commit: "c"}}
		tt.change(i)
		if i.Waits() != tt.want {
			t.Errorf("%s: waits %v", name, i.Waits())
		}
	}
}

func TestWhyACorrectionWasNotTaken(t *testing.T) {
	for want, c := range map[string]journal.Corrected{
		"":                                {Test: &journal.Test{Passed: true, Stdout: "fine"}},
		"not yours":                       {Refused: "not yours"},
		"its test fails, exit 3\no\ne\nr": {Test: &journal.Test{Exit: pointer(3), Stdout: "o\n", Stderr: "e\n", Reason: "r"}},
		"its test fails\nended by killed": {Test: &journal.Test{Reason: "ended by killed"}},
	} {
		if got := c.Why(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTheListsOfWavesAreRepaired spoils the records by which waves are found, and finds and repairs just that.
func TestTheListsOfWavesAreRepaired(t *testing.T) {
	store, advance := memory()
	plan := journal.Planned{Place: "here", Items: planned().Items}
	for _, id := range []string{"w-running", "w-ended", "w-done"} {
		advance(time.Second)
		j := journal.Create(journal.Config{Store: store, Place: "here"}, id)
		appendTo(t, j, plan)
		if id == "w-running" {
			continue
		}
		appendTo(t, j, journal.ItemEnded{Item: "a", State: journal.StateNoChanges}, journal.ItemEnded{Item: "b", State: journal.StateNoChanges}, journal.Ended{Outcome: journal.Failed})
		if id == "w-done" {
			if err := j.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	drifts := func() (keys []string) {
		t.Helper()
		err := store.View(t.Context(), func(r statestore.Reader) error {
			found, err := journal.Check(r)
			for _, d := range found {
				keys = append(keys, string(d.Key))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	if found := drifts(); len(found) > 0 {
		t.Fatalf("nothing is spoilt, and found is %v", found)
	}
	for _, key := range []statestore.Key{"wave/w-running", "wave/w-ended", "wave/w-done", "open/w-running", "wave/none", "open/none"} {
		for _, value := range []string{"", "{", `{"at":"2020-01-02T03:04:05Z","place":"elsewhere"}`} {
			known := !strings.HasSuffix(string(key), "none")
			if value == "" && !known {
				continue
			}
			before, _ := get(t, store, key)
			put(t, store, key, value)
			if found := drifts(); len(found) != 1 || found[0] != string(key) {
				t.Fatalf("%s became %q, and found is %v", key, value, found)
			}
			err := store.Update(t.Context(), func(tx statestore.Tx) error { _, err := statestore.Repair(tx, journal.Check); return err })
			if err != nil {
				t.Fatal(err)
			}
			if after, ok := get(t, store, key); ok != known || after != before {
				t.Errorf("%s became %q and was repaired to %q, was %q", key, value, after, before)
			}
		}
	}
	err := store.View(t.Context(), func(r statestore.Reader) error {
		open, err := journal.Open(r, "here")
		if diff := cmp.Diff([]string{"w-running", "w-ended"}, open); diff != "" {
			t.Error(diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, store statestore.Store, key statestore.Key) (value string, ok bool) {
	t.Helper()
	err := store.View(t.Context(), func(r statestore.Reader) error {
		record, err := r.Get(key)
		value, ok = string(record.Value), err == nil
		if errors.Is(err, statestore.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value, ok
}

// put writes a record, or removes it where value is "".
func put(t *testing.T, store statestore.Store, key statestore.Key, value string) {
	t.Helper()
	err := store.Update(t.Context(), func(tx statestore.Tx) (err error) {
		if value == "" {
			return tx.Delete(key, statestore.Any)
		}
		_, err = tx.Put(key, []byte(value), statestore.Any)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheListsOfWavesAreWhatTheEventsSay after every event, whether it is stored at once or waits for the next.
func TestTheListsOfWavesAreWhatTheEventsSay(t *testing.T) {
	store, advance := memory()
	j := journal.Create(journal.Config{Store: store, Place: "here"}, id)
	for _, event := range append(history(), journal.TakenOver{Driver: "script"}, journal.Stopped{Outcome: journal.Halted}) {
		advance(time.Second)
		appendTo(t, j, event)
		view(t, store, func(r statestore.Reader) error {
			found, err := journal.Check(r)
			if len(found) > 0 {
				t.Errorf("after %s: %v", event.Type(), found)
			}
			return err
		})
	}
	view(t, store, func(r statestore.Reader) error {
		for s, err := range journal.Summaries(r, "") {
			if err != nil {
				return err
			}
			if s.ID != id || s.Place != "here" || s.Driver != "script" || s.Outcome != journal.Halted || s.Items["shipped"] == 0 {
				t.Errorf("the list says %+v", s)
			}
		}
		return nil
	})
}
