package stateapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/stateapi"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/statestore/lifecycle"
	"aesop/tracker"
)

// TestAPartThatWasNotGivenIsNotConfigured, and never empty.
func TestAPartThatWasNotGivenIsNotConfigured(t *testing.T) {
	a, err := stateapi.NewRead(stateapi.ReadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"backlog":    func() error { _, err := a.Backlog(ctx); return err },
		"halt":       func() error { _, err := a.Halted(ctx); return err },
		"waves":      func() error { _, err := a.Waves(ctx, stateapi.Page{}); return err },
		"ledger":     func() error { _, err := a.Spent(ctx, cost.Question{}); return err },
		"rows":       func() error { _, err := a.Rows(ctx, stateapi.Page{}); return err },
		"jobs":       func() error { _, err := a.Jobs(ctx, stateapi.JobQuery{}, stateapi.Page{}); return err },
		"job":        func() error { _, err := a.Job(ctx, "j"); return err },
		"agents":     func() error { _, err := a.Agents(ctx, stateapi.AgentQuery{}, stateapi.Page{}); return err },
		"agent":      func() error { _, err := a.Agent(ctx, "j"); return err },
		"heartbeat":  func() error { _, err := a.Heartbeat(ctx, "j"); return err },
		"events":     func() error { _, err := a.Events(ctx, stateapi.EventQuery{}, stateapi.Page{}); return err },
		"newest":     func() error { _, err := a.Newest(ctx); return err },
		"status":     func() error { _, err := a.Status(ctx, ""); return err },
		"statuses":   func() error { _, err := a.Statuses(ctx, stateapi.Page{}); return err },
		"only waves": func() error { return wavesWithoutStore(t) },
	} {
		if err := ask(); !errors.Is(err, stateapi.ErrNotConfigured) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []stateapi.ReadConfig{{StatusFresh: -1}, {BeatFresh: -1}, {Thresholds: lifecycle.Thresholds{Quiet: -1}}} {
		if _, err := stateapi.NewRead(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}

func wavesWithoutStore(t *testing.T) error {
	a, err := stateapi.NewRead(stateapi.ReadConfig{Waves: waves{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Waves(t.Context(), stateapi.Page{})
	return err
}

// waves are records with their ids.
type waves struct{ err error }

func (w waves) Waves(r statestore.Reader, after string) iter.Seq2[stateapi.Wave, error] {
	return func(yield func(stateapi.Wave, error) bool) {
		for record, err := range r.Scan(statestore.Range{Prefix: "test-wave/", After: statestore.Key("test-wave/" + after)}) {
			if err == nil {
				err = w.err
			}
			if !yield(stateapi.Wave{ID: strings.TrimPrefix(string(record.Key), "test-wave/")}, err) || err != nil {
				return
			}
		}
	}
}

type halt struct {
	note *stateapi.Halted
	err  error
}

func (h halt) Halted(context.Context) (*stateapi.Halted, error) { return h.note, h.err }

// TestPartsAnswerAsTheyAre: what they say, and their errors.
func TestPartsAnswerAsTheyAre(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		broken := errors.New("broken")
		for range 3 {
			f.put(statestore.Key(fmt.Sprintf("test-wave/%d", len(f.dump()))), "")
		}
		a := f.reader(stateapi.ReadConfig{Store: f.store, Halt: halt{note: &stateapi.Halted{Reason: "stop"}}, Waves: waves{}})
		if note, err := a.Halted(t.Context()); err != nil || note.Reason != "stop" {
			t.Errorf("halted: %+v, %v", note, err)
		}
		first, err := a.Waves(t.Context(), stateapi.Page{Limit: 2})
		rest, err2 := a.Waves(t.Context(), stateapi.Page{Limit: 2, Cursor: first.Next})
		if err != nil || err2 != nil || len(first.Entries) != 2 || len(rest.Entries) != 1 || rest.Next != "" {
			t.Errorf("waves: %+v %+v, %v %v", first, rest, err, err2)
		}
		a = f.reader(stateapi.ReadConfig{Store: f.store, Halt: halt{err: broken}, Waves: waves{broken}})
		if _, err := a.Halted(t.Context()); !errors.Is(err, broken) {
			t.Errorf("halted: %v", err)
		}
		if _, err := a.Waves(t.Context(), stateapi.Page{}); !errors.Is(err, broken) {
			t.Errorf("waves: %v", err)
		}
		path := filepath.Join(t.TempDir(), "tracker.json")
		if err := os.WriteFile(path, []byte(`{"items":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := tracker.OpenFile(tracker.FileConfig{Path: path, LockDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		a = f.reader(stateapi.ReadConfig{Backlog: file})
		if b, err := a.Backlog(t.Context()); err != nil || b.Source == "" {
			t.Errorf("the backlog is %+v, %v", b, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if b, err := a.Backlog(t.Context()); err == nil {
			t.Errorf("a backlog that is missing is %+v", b)
		}
	})
}

// TestAgesAreFreshStaleOrFuture, of statuses and heartbeats, each by its own limit.
func TestAgesAreFreshStaleOrFuture(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		set := func() {
			t.Helper()
			if _, err := f.write.SetStatus(t.Context(), stateapi.How{}, set("a", "b")); err != nil {
				t.Fatal(err)
			}
		}
		set()
		token := f.claimed("j", "w1")
		if err := f.write.Beat(t.Context(), lifecycle.Heartbeat{Job: "j", Attempt: tracker.AttemptID(token)}); err != nil {
			t.Fatal(err)
		}
		short := f.reader(stateapi.ReadConfig{Store: f.store, StatusFresh: time.Second, BeatFresh: time.Minute})
		check := func(a *stateapi.ReadAPI, status, beat stateapi.Fresh, age time.Duration) {
			t.Helper()
			s, err := a.Status(t.Context(), "")
			h, err2 := a.Heartbeat(t.Context(), "j")
			agents, err3 := a.Agents(t.Context(), stateapi.AgentQuery{}, stateapi.Page{})
			all, err4 := a.Statuses(t.Context(), stateapi.Page{})
			if err := errors.Join(err, err2, err3, err4); err != nil {
				t.Fatal(err)
			}
			if want := (stateapi.Freshness{Fresh: status, AgeMs: age.Milliseconds()}); s.Freshness != want || all.Entries[0].Freshness != want {
				t.Errorf("the status is %+v", s.Freshness)
			}
			if want := (stateapi.Freshness{Fresh: beat, AgeMs: age.Milliseconds()}); h.Freshness != want || agents.Entries[0].Beat.Freshness != want {
				t.Errorf("the heartbeat is %+v", h.Freshness)
			}
		}
		check(f.read, stateapi.IsFresh, stateapi.IsFresh, 0)
		f.pass(time.Minute)
		check(short, stateapi.IsStale, stateapi.IsFresh, time.Minute)
		f.pass(140 * time.Second)
		check(f.read, stateapi.IsFresh, stateapi.IsFresh, 200*time.Second)
		f.pass(time.Second)
		check(f.read, stateapi.IsFresh, stateapi.IsStale, 201*time.Second)
		f.pass(100 * time.Second)
		check(f.read, stateapi.IsStale, stateapi.IsStale, 301*time.Second)
		for ahead, want := range map[time.Duration]stateapi.Fresh{2 * time.Minute: stateapi.IsFresh, 2*time.Minute + time.Second: stateapi.IsFuture} {
			at := f.now.Add(ahead).Format(time.RFC3339)
			f.put("status/main", fmt.Sprintf(`{"id":"main","role":"r","version":1,"updatedAt":%q}`, at))
			f.put("beat/j", fmt.Sprintf(`{"job":"j","attempt":%q,"first":%q,"at":%q}`, tracker.AttemptID(token), at, at))
			check(f.read, want, want, -ahead)
		}
	})
}

// TestWhatIsMissingOrDamagedIsAnError.
func TestWhatIsMissingOrDamagedIsAnError(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		for name, ask := range map[string]func() error{
			"status":    func() error { _, err := f.read.Status(ctx, ""); return err },
			"job":       func() error { _, err := f.read.Job(ctx, "j"); return err },
			"agent":     func() error { _, err := f.read.Agent(ctx, "j"); return err },
			"heartbeat": func() error { _, err := f.read.Heartbeat(ctx, "j"); return err },
		} {
			if err := ask(); !errors.Is(err, statestore.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, value := range []string{
			"{", "{}", `{"id":"other","role":"r","version":1,"updatedAt":"2026-01-02T03:04:05Z"}`,
			`{"id":"main","role":"r","updatedAt":"2026-01-02T03:04:05Z"}`, `{"id":"main","role":"r","version":1}`,
			`{"id":"main","version":1,"updatedAt":"2026-01-02T03:04:05Z"}`,
		} {
			f.put("status/main", value)
			if s, err := f.read.Status(ctx, ""); !isDamaged(err) || !strings.Contains(err.Error(), "status/main") {
				t.Errorf("%s is %+v, %v", value, s, err)
			}
			if _, err := f.read.Statuses(ctx, stateapi.Page{}); !isDamaged(err) {
				t.Errorf("%s is in a list: %v", value, err)
			}
		}
		f.claimed("j", "w1")
		f.put("beat/j", "{")
		if _, err := f.read.Heartbeat(ctx, "j"); err == nil {
			t.Error("a damaged heartbeat is one")
		}
		if _, err := f.read.Agent(ctx, "j"); err == nil {
			t.Error("a damaged heartbeat leaves an agent")
		}
		agents, err := f.read.Agents(ctx, stateapi.AgentQuery{Live: true}, stateapi.Page{})
		if err != nil || agents.Entries[0].Verdict.Level != lifecycle.Unknown || agents.Entries[0].Verdict.Damage == nil {
			t.Errorf("in a list the agent is %+v, %v", agents.Entries, err)
		}
		f.update(func(tx statestore.Tx) error { return tx.Delete("beat/j", statestore.Any) })
		f.put("advice/j", "{")
		agents, err = f.read.Agents(ctx, stateapi.AgentQuery{}, stateapi.Page{})
		if err != nil || agents.Entries[0].Verdict.Level != lifecycle.Unknown || !strings.Contains(agents.Entries[0].Verdict.Damage.Error(), "advice/j") {
			t.Errorf("in a list the agent with damaged advice is %+v, %v", agents.Entries, err)
		}
		f.put("job/j", "{")
		if _, err := f.read.Jobs(ctx, stateapi.JobQuery{}, stateapi.Page{}); err == nil {
			t.Error("a damaged job is in a list")
		}
	})
}

// TestAnAgentHasItsHistoryHeartbeatVerdictAndAdvice.
func TestAnAgentHasItsHistoryHeartbeatVerdictAndAdvice(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("w1/j", "w1")
		if err := f.write.Beat(t.Context(), lifecycle.Heartbeat{Job: "w1/j", Attempt: tracker.AttemptID(token), Note: "tests"}); err != nil {
			t.Fatal(err)
		}
		f.pass(time.Hour)
		if _, err := lifecycle.Sweep(t.Context(), f.store, lifecycle.Thresholds{}); err != nil {
			t.Fatal(err)
		}
		a, err := f.read.Agent(t.Context(), "w1/j")
		if err != nil || len(a.History) != 4 || a.State != lifecycle.Stalled || a.Beat.Note != "tests" || a.Verdict.Level != lifecycle.Dead ||
			a.Advice == nil || a.Advice.Level != lifecycle.Dead {
			t.Errorf("the agent is %+v, %v", a, err)
		}
		patient := f.reader(stateapi.ReadConfig{Store: f.store, Thresholds: lifecycle.Thresholds{Quiet: 2 * time.Hour}})
		list, err := patient.Agents(t.Context(), stateapi.AgentQuery{Wave: "w1"}, stateapi.Page{})
		if err != nil || len(list.Entries) != 1 {
			t.Fatal(list, err)
		}
		b := list.Entries[0]
		if b.Verdict.Level != lifecycle.OK || b.History != nil {
			t.Errorf("in a list, with other thresholds, it is %+v", b)
		}
		a.History, a.Verdict, b.Verdict = nil, lifecycle.Verdict{}, lifecycle.Verdict{}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Error(diff)
		}
		f.do(job.Requeue{ID: "w1/j", By: job.Operator{TransitionSeq: 2}})
		if token, err = tracker.NewToken(nil); err != nil {
			t.Fatal(err)
		}
		f.do(job.Claim{ID: "w1/j", Token: token})
		a, err = f.read.Agent(t.Context(), "w1/j")
		if err != nil || a.Advice != nil || a.Beat != nil || a.Verdict.Level != lifecycle.Unknown || a.State != lifecycle.Dispatched {
			t.Errorf("in its next attempt it is %+v, %v", a, err)
		}
		f.do(job.Complete{ID: "w1/j", By: job.Worker{Token: token}})
		a, err = f.read.Agent(t.Context(), "w1/j")
		if err != nil || a.Advice != nil || a.Beat != nil || a.Verdict.Level != lifecycle.Ended || a.State != lifecycle.Done {
			t.Errorf("done it is %+v, %v", a, err)
		}
		data, err := json.Marshal(a)
		if err != nil || !strings.Contains(string(data), `"verdict":{"job":"w1/j"`) || !strings.Contains(string(data), `"history":[{`) {
			t.Errorf("as JSON it is %s, %v", data, err)
		}
	})
}

// all reads a list to its end in pages and returns the names of its entries, and how many pages it had.
func all[T any](t *testing.T, limit int, list func(stateapi.Page) (stateapi.Of[T], error), name func(T) string) (names []string, pages int) {
	t.Helper()
	p := stateapi.Page{Limit: limit}
	for pages < 1000 {
		of, err := list(p)
		if err != nil {
			t.Fatal(err)
		}
		if of.Entries == nil || len(of.Entries) > limit {
			t.Fatalf("a page of %d has %d entries", limit, len(of.Entries))
		}
		pages++
		for _, e := range of.Entries {
			names = append(names, name(e))
		}
		if p.Cursor = of.Next; p.Cursor == "" {
			return names, pages
		}
	}
	t.Fatal("the list has no end")
	return nil, 0
}

// TestListsComeInPages of any size, with each entry once, in order.
func TestListsComeInPages(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		var want []string
		for n := range 7 {
			id := fmt.Sprintf("w%d/%d", n%2, n)
			want = append(want, id)
			token := f.claimed(id, fmt.Sprintf("w%d", n%2))
			if n%3 == 0 {
				f.do(job.Complete{ID: id, By: job.Worker{Token: token}})
			}
			if _, err := f.write.SetStatus(ctx, stateapi.How{}, stateapi.StatusChange{ID: fmt.Sprint("s", n)}); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(want) // w0/0 w0/2 w0/4 w0/6 w1/1 w1/3 w1/5; 0, 3 and 6 have ended
		id := func(r job.Record) string { return r.ID }
		agent := func(a stateapi.Agent) string { return a.Job }
		for limit := 1; limit <= 8; limit++ {
			for name, list := range map[string]struct {
				read func() ([]string, int)
				want []string
			}{
				"jobs": {func() ([]string, int) {
					return all(t, limit, func(p stateapi.Page) (stateapi.Of[job.Record], error) {
						return f.read.Jobs(ctx, stateapi.JobQuery{}, p)
					}, id)
				}, want},
				"jobs of a wave": {func() ([]string, int) {
					return all(t, limit, func(p stateapi.Page) (stateapi.Of[job.Record], error) {
						return f.read.Jobs(ctx, stateapi.JobQuery{Wave: "w1"}, p)
					}, id)
				}, want[4:]},
				"agents": {func() ([]string, int) {
					return all(t, limit, func(p stateapi.Page) (stateapi.Of[stateapi.Agent], error) {
						return f.read.Agents(ctx, stateapi.AgentQuery{}, p)
					}, agent)
				}, want},
				"statuses": {func() ([]string, int) {
					return all(t, limit, func(p stateapi.Page) (stateapi.Of[stateapi.StatusNow], error) { return f.read.Statuses(ctx, p) },
						func(s stateapi.StatusNow) string { return s.ID })
				}, []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6"}},
			} {
				names, pages := list.read()
				if !slices.Equal(names, list.want) || pages != (len(names)+limit-1)/limit {
					t.Errorf("%s by %d: %v in %d pages", name, limit, names, pages)
				}
			}
			for name, list := range map[string]struct {
				q    stateapi.AgentQuery
				want []string
			}{
				"live":           {stateapi.AgentQuery{Live: true}, []string{"w0/2", "w0/4", "w1/1", "w1/5"}},
				"live of a wave": {stateapi.AgentQuery{Live: true, Wave: "w0"}, []string{"w0/2", "w0/4"}},
			} {
				names, _ := all(t, limit, func(p stateapi.Page) (stateapi.Of[stateapi.Agent], error) { return f.read.Agents(ctx, list.q, p) }, agent)
				if !slices.Equal(names, list.want) {
					t.Errorf("%s by %d: %v", name, limit, names)
				}
			}
			names, _ := all(t, limit, func(p stateapi.Page) (stateapi.Of[job.Record], error) {
				return f.read.Jobs(ctx, stateapi.JobQuery{Status: job.Completed}, p)
			}, id)
			if !slices.Equal(names, []string{"w0/0", "w0/6", "w1/3"}) {
				t.Errorf("completed by %d: %v", limit, names)
			}
		}
		of, err := f.read.Jobs(ctx, stateapi.JobQuery{}, stateapi.Page{})
		if err != nil || len(of.Entries) != 7 || !of.At.Equal(f.now) {
			t.Errorf("without a limit: %+v, %v", of, err)
		}
	})
}

func TestAPageThatCannotBeIsRefused(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.claimed("a", "w1")
		f.claimed("b", "w1")
		of, err := f.read.Jobs(t.Context(), stateapi.JobQuery{}, stateapi.Page{Limit: 1})
		if err != nil || of.Next == "" {
			t.Fatal(of, err)
		}
		for _, p := range []stateapi.Page{{Limit: -1}, {Limit: stateapi.MaxLimit + 1}, {Cursor: "x"}, {Cursor: "W10"}} {
			if _, err := f.read.Jobs(t.Context(), stateapi.JobQuery{}, p); !errors.Is(err, stateapi.ErrBadPage) {
				t.Errorf("%+v: %v", p, err)
			}
		}
		if _, err := f.read.Jobs(t.Context(), stateapi.JobQuery{Wave: "w1"}, stateapi.Page{Cursor: of.Next}); !errors.Is(err, stateapi.ErrBadPage) {
			t.Errorf("the cursor of another filter: %v", err)
		}
		if _, err := f.read.Agents(t.Context(), stateapi.AgentQuery{}, stateapi.Page{Cursor: of.Next}); !errors.Is(err, stateapi.ErrBadPage) {
			t.Errorf("the cursor of another list: %v", err)
		}
	})
}

// TestEventsAreFilteredByStreamTypeAndPlace.
func TestEventsAreFilteredByStreamTypeAndPlace(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		for n := range 3 {
			f.append("a", "job.claim", fmt.Sprint(n))
			f.append("b", "jobless", "")
			f.append("a", "job.fail", "{")
		}
		for _, test := range []struct {
			q    stateapi.EventQuery
			want []string
		}{
			{stateapi.EventQuery{}, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}},
			{stateapi.EventQuery{Stream: "b"}, []string{"2", "5", "8"}},
			{stateapi.EventQuery{Types: []string{"job."}}, []string{"1", "3", "4", "6", "7", "9"}},
			{stateapi.EventQuery{Types: []string{"job.claim", "jobless"}, Stream: "a"}, []string{"1", "4", "7"}},
			{stateapi.EventQuery{Types: []string{"job"}}, nil},
			{stateapi.EventQuery{Since: 4, Types: []string{"job.fail"}}, []string{"6", "9"}},
			{stateapi.EventQuery{Since: 9}, nil},
		} {
			for limit := 1; limit <= 10; limit += 3 {
				got, _ := all(t, limit, func(p stateapi.Page) (stateapi.Of[stateapi.Event], error) {
					return f.read.Events(t.Context(), test.q, p)
				},
					func(e stateapi.Event) string { return fmt.Sprint(e.Seq) })
				if !slices.Equal(got, test.want) {
					t.Errorf("%+v by %d: %v", test.q, limit, got)
				}
			}
		}
		of, err := f.read.Events(t.Context(), stateapi.EventQuery{}, stateapi.Page{Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		want := []stateapi.Event{
			{Seq: 1, Stream: "a", Version: 1, Type: "job.claim", At: f.now, Data: json.RawMessage("0")},
			{Seq: 2, Stream: "b", Version: 1, Type: "jobless", At: f.now},
			{Seq: 3, Stream: "a", Version: 2, Type: "job.fail", At: f.now, Damage: "its data is not JSON"},
		}
		if diff := cmp.Diff(want, of.Entries); diff != "" {
			t.Error(diff)
		}
	})
}

// TestARareTypeIsFoundInBoundedSteps: no page looks at all of a long log, and the last is found all the same.
func TestARareTypeIsFoundInBoundedSteps(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		const events = 2*stateapi.MaxLooked + 10
		f.update(func(tx statestore.Tx) error {
			for n := range events {
				kind := "common"
				if n == events-1 {
					kind = "rare"
				}
				if _, err := tx.Append("s", statestore.AnyVersion, statestore.Entry{Type: kind, Data: []byte("{}")}); err != nil {
					return err
				}
			}
			return nil
		})
		got, pages := all(t, 5, func(p stateapi.Page) (stateapi.Of[stateapi.Event], error) {
			return f.read.Events(t.Context(), stateapi.EventQuery{Types: []string{"rare"}}, p)
		}, func(e stateapi.Event) string { return fmt.Sprint(e.Seq) })
		if !slices.Equal(got, []string{fmt.Sprint(events)}) || pages != 3 {
			t.Errorf("found %v in %d pages", got, pages)
		}
	})
}

// TestAPlaceThatTheLogHasNotComeToIsRefused: the store was put back, and who goes on from there would miss what comes.
func TestAPlaceThatTheLogHasNotComeToIsRefused(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		for range 3 {
			f.append("s", "t", "{}")
		}
		f.append(ledger.Stream, "t", "{}")
		for since, good := range map[statestore.Seq]bool{0: true, 3: true, 4: true, 5: false, 1 << 63: false, 1<<64 - 1: false} {
			want := error(nil)
			if !good {
				want = stateapi.ErrBadPage
			}
			after := fmt.Sprint(uint64(since))
			_, of := f.read.Events(t.Context(), stateapi.EventQuery{Since: since}, stateapi.Page{})
			_, ofStream := f.read.Events(t.Context(), stateapi.EventQuery{Stream: "s", Since: since}, stateapi.Page{})
			_, ofTypes := f.read.Events(t.Context(), stateapi.EventQuery{Types: []string{"u"}, Since: since}, stateapi.Page{})
			_, page := f.read.Events(t.Context(), stateapi.EventQuery{}, stateapi.Page{Cursor: stateapi.Cursor("events", stateapi.EventQuery{}, after)})
			_, rows := f.read.Rows(t.Context(), stateapi.Page{Cursor: stateapi.Cursor("ledger", nil, after)})
			for i, err := range []error{of, ofStream, ofTypes, page, rows} {
				if !errors.Is(err, want) {
					t.Errorf("after %d, %d: %v", since, i, err)
				}
			}
		}
	})
}

func TestNewestIsTheEndOfTheLog(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		for want := statestore.Seq(0); want < 20; want++ {
			if got, err := f.read.Newest(t.Context()); err != nil || got != want {
				t.Fatalf("it is %d, want %d: %v", got, want, err)
			}
			f.append("s", "t", "{}")
		}
	})
}

// TestMoneyIsTheSameAsEverybodySays, and what cannot be read of it is told.
func TestMoneyIsTheSameAsEverybodySays(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		l := ledger.New(f.store)
		a := f.reader(stateapi.ReadConfig{Store: f.store, Ledger: l})
		usd := cost.Money(1_000_000_000)
		for n, wave := range []string{"w1", "w1", "w2"} {
			_, err := l.Record(t.Context(), cost.Call{ID: fmt.Sprint(n), At: f.now.Add(-time.Second - time.Duration(n)*time.Hour), Wave: wave, Cost: &usd,
				Usage: cost.Usage{Model: "m", Input: 10, Metered: true}})
			if err != nil {
				t.Fatal(err)
			}
		}
		f.append(ledger.Stream, "ledger.call", "{")
		s, err := a.Spent(t.Context(), cost.Question{Last: 90 * time.Minute}, cost.ByWave)
		if err != nil || !s.Found || s.Total.Calls != 2 || s.Corrupt != 1 || len(s.Groups) != 1 || !s.Query.Window.To.Equal(f.now) {
			t.Errorf("spent is %+v, %v", s, err)
		}
		book, err := l.Book(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		question := cost.Question{Query: cost.Query{Wave: "w2"}, Period: cost.WavePeriod, Now: f.now}
		query, _ := question.Select(book)
		s, err = a.Spent(t.Context(), question)
		if diff := cmp.Diff(book.Total(query), s.Total); err != nil || diff != "" || s.Groups != nil {
			t.Errorf("%v %s", err, diff)
		}
		empty, err := stateapi.NewRead(stateapi.ReadConfig{Ledger: ledger.New(statestore.NewMemory(statestore.MemoryConfig{}))})
		if err != nil {
			t.Fatal(err)
		}
		s, err = empty.Spent(t.Context(), cost.Question{Period: cost.WavePeriod, Now: f.now})
		if err != nil || s.Found {
			t.Errorf("of a wave that is not there: %+v, %v", s, err)
		}
		if _, err = empty.Spent(t.Context(), cost.Question{}); !errors.Is(err, stateapi.ErrNotConfigured) {
			t.Errorf("without a clock: %v", err)
		}
		rows, err := a.Rows(t.Context(), stateapi.Page{})
		if err != nil || len(rows.Entries) != 4 || rows.Entries[0].Call.Wave != "w1" || rows.Entries[3].Call != nil || rows.Entries[3].Damage == "" {
			t.Errorf("rows are %+v, %v", rows.Entries, err)
		}
		got, pages := all(t, 3, func(p stateapi.Page) (stateapi.Of[stateapi.Row], error) { return a.Rows(t.Context(), p) },
			func(r stateapi.Row) string { return fmt.Sprint(r.Seq) })
		if !slices.Equal(got, []string{"1", "2", "3", "4"}) || pages != 2 {
			t.Errorf("rows are %v in %d pages", got, pages)
		}
	})
}

// TestAStatusThatThereIsNotIsNoEmptyPage: a misspelt word is told.
func TestAStatusThatThereIsNotIsNoEmptyPage(t *testing.T) {
	read, err := stateapi.NewRead(stateapi.ReadConfig{Store: statestore.NewMemory(statestore.MemoryConfig{})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Jobs(t.Context(), stateapi.JobQuery{Status: "done"}, stateapi.Page{}); !errors.Is(err, stateapi.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
	if page, err := read.Jobs(t.Context(), stateapi.JobQuery{Status: job.Failed}, stateapi.Page{}); err != nil || len(page.Entries) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
}
