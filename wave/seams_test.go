package wave_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/wave"
	"aesop/wave/journal"
)

// prompter is a PromptBuilder that keeps what it was asked.
type prompter struct {
	asked []wave.PromptInput
	err   error
}

func (*prompter) Version() string { return "mine-7" }

func (p *prompter) Prompt(in wave.PromptInput) (string, error) {
	p.asked = append(p.asked, in)
	return fmt.Sprintf("round %d of %s", in.Round, in.Item.ID), p.err
}

func TestPromptBuilder(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": []string{"grep", "-q", "good enough", "a.txt"}})
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, put(task, "a.txt", []string{"poor", "good enough"}[task.Round-1])
	}}
	p := &prompter{}
	report := w.run(with(played), func(c *wave.Config) { c.Prompts = p })
	wantOutcome(t, report, journal.Good)
	if report.Prompt != "mine-7" {
		t.Errorf("the report names the template %q", report.Prompt)
	}
	for n, want := range []struct{ prompt, step string }{{"round 1 of a", "base"}, {"round 2 of a", "verify"}} {
		if played.tasks[n].Prompt != want.prompt || p.asked[n].Failure.Step != want.step || p.asked[n].Test != "grep -q 'good enough' a.txt" {
			t.Errorf("round %d: prompt %q of %+v", n+1, played.tasks[n].Prompt, p.asked[n])
		}
	}
	w.items(item{"id": "b"})
	report = w.run(with(writer()), func(c *wave.Config) { c.Prompts = &prompter{err: errors.New("no words")} })
	if i := wantState(t, report, "b", journal.StateSetupFailed); !strings.Contains(i.Reason, "no words") {
		t.Errorf("reason %q", i.Reason)
	}
}

// shelf is a Shipper in memory.
type shelf struct {
	mu    sync.Mutex
	refs  map[string]string
	calls [][]journal.Update
	// how the next Ship goes, and whether Refs can be had after it
	keep    bool // moves no refs
	err     error
	silent  error // of Refs once something was shipped
	objects string
}

func (s *shelf) of(journal.Repository) wave.Shipper { return s }

func (*shelf) Name() string { return "shelf" }

func (s *shelf) Refs(context.Context) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) > 0 && s.silent != nil {
		return nil, s.silent
	}
	return maps.Clone(s.refs), nil
}

func (s *shelf) Ship(_ context.Context, objects string, updates []journal.Update) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.objects = append(s.calls, updates), objects
	if s.keep {
		return s.err
	}
	for _, u := range updates {
		if s.refs[u.Ref] != u.Old {
			return fmt.Errorf("%s is at %q", u.Ref, s.refs[u.Ref])
		}
	}
	for _, u := range updates {
		s.refs[u.Ref] = u.New
	}
	return s.err
}

// TestShipper: whatever Ship says, it is Refs that decides; and a resume makes up for what did not arrive.
func TestShipper(t *testing.T) {
	broken := errors.New("the line broke")
	for name, tt := range map[string]struct {
		shelf  *shelf
		state  journal.State
		reason string
		tail   string
		calls  int // after the resume
	}{
		"ships":             {&shelf{}, journal.StateShipped, "", "", 1},
		"ships, and errs":   {&shelf{err: broken}, journal.StateShipped, "", "", 1},
		"refuses":           {&shelf{keep: true, err: broken}, journal.StateShipFailed, "push_refused", "the line broke", 2},
		"lies":              {&shelf{keep: true}, journal.StateShipFailed, "push_refused", "does not hold it", 2},
		"ships, cannot say": {&shelf{silent: broken}, journal.StateShipFailed, "remote_unreachable", "the line broke", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"}, item{"id": "b"})
			s, store := tt.shelf, w.store()
			s.refs = map[string]string{}
			use := func(c *wave.Config) { c.Shipper = s.of }
			report := w.runOn(store, with(writer()), use)
			i := wantState(t, report, "a", tt.state)
			if report.Repositories[0].Remote != "shelf" || i.Reason != tt.reason || tt.tail != "" && !strings.Contains(i.Failure.Tail, tt.tail) {
				t.Errorf("remote %s, item %s", report.Repositories[0].Remote, asJSON(i))
			}
			if len(w.refs()) != 1 {
				t.Errorf("the repository's remote has %v", w.refs())
			}
			s.keep, s.err, s.silent = false, nil, nil
			played := writer()
			_, err := w.schedulerOn(store, with(played), use).Resume(t.Context(), "")
			must(t, err)
			for _, id := range []string{"a", "b"} {
				shipped := w.read(id).Shipped
				if shipped == nil || s.refs[wave.ItemRef(id)] != shipped.Commit {
					t.Fatalf("%s: the backlog has %+v, the shelf %v", id, shipped, s.refs)
				}
				w.git("", "--git-dir="+s.objects, "merge-base", "--is-ancestor", shipped.Commit, s.refs["refs/heads/"+wave.Branch(report.Wave)])
			}
			if len(s.calls) != tt.calls || len(played.tasks) != 0 {
				t.Errorf("%d times shipped, want %d; %d dispatches in the resume", len(s.calls), tt.calls, len(played.tasks))
			}
		})
	}
}

// watcher is an Observer that keeps the events, and looks at the wave that comes with each.
type watcher struct {
	events []journal.Event
	look   func(*journal.Wave, journal.Event)
}

func (o *watcher) Observe(w *journal.Wave, e journal.Event) {
	o.events = append(o.events, e)
	o.look(w, e)
}

// TestObservers see what is stored, in its order, with a state in which it has happened, and can spoil nothing.
func TestObservers(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": {writes("a.txt", "poor"), writes("a.txt", "good")}, "b": good("b")})
	check := func(w *journal.Wave, e journal.Event) {
		if _, before := e.(journal.GateChecked); before && w.StartedAt.IsZero() {
			return // asked before there was a plan
		}
		if w.Items["a"] == nil || w.Items["b"] == nil || len(w.Order) != 2 {
			t.Errorf("the state at %s is %s", e.Type(), asJSON(w))
			return
		}
		switch e := e.(type) {
		case journal.AttemptEnded:
			found := false
			for _, a := range w.Items[e.Item].Attempts {
				found = found || a.ID == e.Attempt && a.Ended != nil && a.Ended.Outcome == e.Outcome
			}
			if !found {
				t.Errorf("an attempt's end is not in the state: %s", asJSON(w.Items[e.Item]))
			}
		case journal.Shipped:
			if w.Repositories["."].Shipped == nil || w.Items["a"].Commit != e.Items["a"] {
				t.Errorf("the shipment is not in the state: %s", asJSON(w))
			}
		}
	}
	spoil := func(w *journal.Wave, _ journal.Event) {
		clear(w.Items)
		clear(w.Repositories)
		w.Order = nil
	}
	first, second := &watcher{look: spoil}, &watcher{look: check}
	store := w.store()
	report := w.runOn(store, func(c *wave.Config) { c.Observers = []wave.Observer{first, second} })
	wantOutcome(t, report, journal.Good)
	var seen, stored []string
	for _, e := range second.events {
		seen = append(seen, e.Type())
	}
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		for e, err := range r.Events(statestore.EventQuery{Stream: "wave/" + report.Wave}) {
			if err != nil {
				return err
			}
			stored = append(stored, e.Type)
		}
		return nil
	}))
	if diff := cmp.Diff(stored, seen); diff != "" || len(seen) == 0 || seen[len(seen)-1] != "ended" {
		t.Errorf("stored and seen: %s", diff)
	}
	if diff := cmp.Diff(len(first.events), len(second.events)); diff != "" {
		t.Errorf("the observers saw different numbers of events: %s", diff)
	}
}

// hearer is an Observer that also watches.
type hearer struct {
	mu    sync.Mutex
	heard []string
}

func (*hearer) Observe(*journal.Wave, journal.Event) {}

func (h *hearer) Watch(id, item, attempt string, e driver.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard = append(h.heard, fmt.Sprintf("%t %s %t %s %d", id != "", item, attempt != "", e.Kind, e.Usage.Output))
}

// emitter is a driver that tells what it uses.
type emitter struct{ agent }

func (e *emitter) Run(_ context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	for n := range 3 {
		emit(driver.Event{Kind: "usage", Usage: cost.Usage{Output: int64(n + 1)}})
	}
	return driver.Result{}, put(t, t.Item+".txt", "good\n")
}

func TestWatchersHearOfAgentsAtWork(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	h := &hearer{}
	wantOutcome(t, w.run(with(&emitter{}), func(c *wave.Config) { c.Observers = []wave.Observer{h} }), journal.Good)
	if n := len(h.heard); n < 2 || n > 3 || h.heard[0] != "true a true usage 1" || h.heard[n-1] != "true a true usage 3" {
		t.Errorf("heard %q", h.heard)
	}
}
