package wave_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// telling adds a receiver of how waves end.
func telling(name string, sink outbox.SinkFunc) option {
	return func(c *wave.Config) {
		c.Sinks = append(c.Sinks, outbox.Named{Subscription: outbox.Subscription{Name: name, Kinds: []string{"wave."}}, Sink: sink})
	}
}

// owed is what a receiver is owed, by kind, with the newest error.
func (w *world) owed(store statestore.Store, name string) (kinds []string, newest string) {
	w.t.Helper()
	must(w.t, store.View(w.t.Context(), func(r statestore.Reader) error {
		kinds = nil
		for o, err := range outbox.Pending(r, name) {
			if err != nil {
				return err
			}
			kinds, newest = append(kinds, o.Intent.Kind), o.LastError
		}
		return nil
	}))
	return kinds, newest
}

// TestNewsIsNeverTooLargeForAWaveToEnd: whatever agents and people say at length, and however many items there are.
func TestNewsIsNeverTooLargeForAWaveToEnd(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	var got []outbox.Intent
	take := telling("log", func(_ context.Context, i outbox.Intent) error { got = append(got, i); return nil })
	long := strings.Repeat("é\x01", 1<<17)
	d := &agent{work: func(context.Context, driver.Task) (driver.Result, error) {
		return driver.Result{}, errors.New(long)
	}}
	report := w.run(with(d), take)
	wantState(t, report, "a", journal.StateDriverFailed)
	var told wave.News
	if len(got) != 1 || json.Unmarshal(got[0].Data, &told) != nil || len(told.Items) != 2 || told.Omitted != 0 || told.Items[0].State != journal.StateDriverFailed || told.Items[0].Reason == "" {
		t.Fatalf("told is %.500s", asJSON(got))
	}
	must(t, wave.Halt{Dir: w.state}.Set(wave.HaltNote{Reason: long}))
	got = nil
	w.items(item{"id": "c"})
	if report := w.run(with(d), take); report.Outcome != journal.Halted || len(got) != 1 {
		t.Errorf("%s, told is %.500s", report.Outcome, asJSON(got))
	}
}

func TestNewsOfManyItemsNamesTheFirst(t *testing.T) {
	w := newWorld(t)
	var rows []item
	for n := range 600 {
		rows = append(rows, item{"id": fmt.Sprintf("i%d", n), "testCmd": "exit 1"})
	}
	w.items(rows...)
	var got []outbox.Intent
	report := w.run(with(&agent{}), func(c *wave.Config) { c.MaxItems, c.Verify.Shell = 1000, "false" }, // so that none is built
		telling("log", func(_ context.Context, i outbox.Intent) error { got = append(got, i); return nil }))
	wantOutcome(t, report, journal.BaseRed)
	var told wave.News
	if len(got) != 1 || json.Unmarshal(got[0].Data, &told) != nil || len(told.Items) != 300 || told.Omitted != 300 || told.Items[0].ID != report.Items[0].ID {
		t.Errorf("told is %.300s", asJSON(got))
	}
}

// TestAReceiverCanDoNoHarm: it may panic, or never come back. The wave ends soon, and what was not taken is owed.
func TestAReceiverCanDoNoHarm(t *testing.T) {
	var lost atomic.Int32
	forever, back := make(chan struct{}), make(chan struct{}, 100)
	defer func() {
		close(forever)
		for range lost.Load() {
			<-back
		}
	}()
	for name, test := range map[string]struct {
		sink outbox.SinkFunc
		says string
	}{
		"panics": {func(context.Context, outbox.Intent) error { panic("no") }, "panicked: no"},
		"never comes back": {func(context.Context, outbox.Intent) error {
			lost.Add(1)
			<-forever
			back <- struct{}{}
			return nil
		}, "has not come back"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			store := w.store()
			others := 0
			began := time.Now()
			report := w.runOn(store, telling("bad", test.sink), telling("other", func(context.Context, outbox.Intent) error { others++; return nil }))
			wantOutcome(t, report, journal.Good)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			kinds, newest := w.owed(store, "bad")
			if len(kinds) != 1 || kinds[0] != wave.NewsEnded || !strings.Contains(newest, test.says) || others != 1 {
				t.Errorf("owed is %v (%s), and the other was told %d times", kinds, newest, others)
			}
		})
	}
}

// TestStopEndsTheLastWait: whoever interrupts a wave that is over, or for the second time, does not wait for a receiver that hangs.
func TestStopEndsTheLastWait(t *testing.T) {
	for name, before := range map[string]int{"over": 0, "again": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			sent := make(chan context.Context, 100)
			store := w.store()
			s := w.schedulerOn(store, telling("slow", func(ctx context.Context, _ outbox.Intent) error {
				sent <- ctx
				<-ctx.Done()
				return ctx.Err()
			}))
			for range before {
				s.Stop()
			}
			done := make(chan error, 1)
			go func() {
				_, err := s.Run(t.Context())
				done <- err
			}()
			last := func() bool { // the send of the end has a deadline before that of any other
				deadline, _ := (<-sent).Deadline()
				return time.Until(deadline) < 11*time.Second
			}
			for !last() {
			}
			s.Stop()
			began := time.Now()
			must(t, <-done)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s more", took)
			}
			if kinds, _ := w.owed(store, "slow"); len(kinds) != 1 {
				t.Errorf("owed is %v", kinds)
			}
		})
	}
}

// TestPlanSubscribesNobody: whoever only looks leaves no name in the store to which everything is owed from then on.
func TestPlanSubscribesNobody(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	s := w.schedulerOn(store, telling("log", func(context.Context, outbox.Intent) error { return nil }))
	subscribed := func() (names []string) {
		must(t, store.View(t.Context(), func(r statestore.Reader) error {
			names = nil
			for sub, err := range outbox.Subscriptions(r) {
				if err != nil {
					return err
				}
				names = append(names, sub.Name)
			}
			return nil
		}))
		return names
	}
	_, err := s.Plan(t.Context())
	must(t, err)
	if names := subscribed(); names != nil {
		t.Errorf("a plan subscribed %v", names)
	}
	_, err = s.Run(t.Context())
	must(t, err)
	if names := subscribed(); len(names) != 1 {
		t.Errorf("a run subscribed %v", names)
	}
}

// TestReceiversAreCheckedAtOnce, and not when there is something to tell.
func TestReceiversAreCheckedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	fine := outbox.SinkFunc(func(context.Context, outbox.Intent) error { return nil })
	named := func(name string, sink outbox.Sink) outbox.Named {
		return outbox.Named{Subscription: outbox.Subscription{Name: name}, Sink: sink}
	}
	for says, notify := range map[string][]outbox.Named{`"A"`: {named("A", fine)}, "twice": {named("a", fine), named("a", fine)}, "no sink": {named("a", nil)}} {
		_, err := wave.New(t.Context(), wave.Config{Repo: w.repo, State: w.state, Tracker: w.tracker(), Store: w.store(), Driver: &agent{}, Sinks: notify})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error is %v", says, err)
		}
	}
}

// TestWavesAtOnceShareReceivers: of two runs of one scheduler, each piece of news comes, and none is left.
func TestWavesAtOnceShareReceivers(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	var mu sync.Mutex
	got := map[string]bool{}
	s := w.schedulerOn(store, func(c *wave.Config) { c.MaxItems = 1 }, telling("log", func(_ context.Context, i outbox.Intent) error {
		mu.Lock()
		defer mu.Unlock()
		got[i.ID] = true
		return nil
	}))
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := s.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	wantStatus(t, w.read("a"), tracker.Done)
	wantStatus(t, w.read("b"), tracker.Done)
	if kinds, newest := w.owed(store, "log"); len(got) < 2 || kinds != nil {
		t.Errorf("%d were told, owed is %v (%s)", len(got), kinds, newest)
	}
}

// TestNewsSaysHowAWaveEndedAndWhy, and nothing of one that had nothing to do.
func TestNewsSaysHowAWaveEndedAndWhy(t *testing.T) {
	for name, test := range map[string]struct {
		row       item
		configure option
		kind      string
		outcome   journal.Outcome
		reason    string
	}{
		"nothing to do": {item{"id": "a", "status": "done"}, func(*wave.Config) {}, "", "", ""},
		"good":          {item{"id": "a"}, func(*wave.Config) {}, wave.NewsEnded, journal.Good, ""},
		"stopped": {item{"id": "a"}, func(c *wave.Config) {
			c.Gates = []wave.Gate{refusing{"ship", &wave.Stop{Reason: "lunch"}}}
		}, wave.NewsStopped, journal.Halted, "lunch"},
		"a limit": {item{"id": "a"}, func(c *wave.Config) {
			c.Gates = []wave.Gate{refusing{"dispatch", &wave.Stop{Outcome: journal.Ceiling, Reason: "too dear"}}}
		}, wave.NewsStopped, journal.Ceiling, "too dear"},
		"not begun": {item{"id": "a"}, func(c *wave.Config) {
			c.Gates = []wave.Gate{refusing{"claim", &wave.Stop{Reason: "not today"}}}
		}, wave.NewsEnded, journal.Halted, "not today"},
		"a red base": {item{"id": "a"}, func(c *wave.Config) { c.Verify.Shell = "echo rusty; exit 1" }, wave.NewsEnded, journal.BaseRed, "rusty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.items(test.row)
			w.script(map[string][]attempt{"a": good("a")})
			var got []outbox.Intent
			report := w.run(test.configure, telling("log", func(_ context.Context, i outbox.Intent) error { got = append(got, i); return nil }))
			if test.kind == "" {
				if len(got) > 0 {
					t.Errorf("told is %s", asJSON(got))
				}
				return
			}
			var told wave.News
			if len(got) != 1 || json.Unmarshal(got[0].Data, &told) != nil {
				t.Fatalf("told is %s", asJSON(got))
			}
			if got[0].Kind != test.kind || got[0].Subject != "wave/"+report.Wave || told.Wave != report.Wave || told.Outcome != test.outcome || !strings.Contains(told.Reason, test.reason) ||
				(test.reason == "") != (told.Reason == "") {
				t.Errorf("told is %s", asJSON(got))
			}
		})
	}
}
