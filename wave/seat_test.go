package wave_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aesop/cost"
	"aesop/driver"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// dispatching reviews by dispatching a driver; it approves where the dispatch has no error, and keeps that.
type dispatching struct {
	d    driver.Driver
	seen []error
	out  driver.Result
}

func (s *dispatching) Review(ctx context.Context, c wave.Change) (wave.Judgement, error) {
	result, err := c.Dispatch(ctx, s.d, driver.Task{Role: driver.Reviewer, Prompt: "Look.", Model: "m"})
	s.seen, s.out = append(s.seen, err), result
	usage := result.Usage()
	return wave.Judgement{OK: err == nil, Reason: "looked", Usage: &usage}, nil
}

func reviewedBy(s *dispatching) option {
	return func(c *wave.Config) { c.Reviewer, c.Policy = s, &policy.Policy{Review: 1} }
}

func TestReviewerLooksAtACheckoutOfTheCommit(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	looks := &agent{info: driver.Info{Name: "looks"}, work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		if text, err := os.ReadFile(filepath.Join(task.Dir, "a.txt")); string(text) != "good\n" {
			t.Errorf("the checkout has %q (%v)", text, err)
		}
		if err := os.WriteFile(filepath.Join(task.AttemptDir, "notes"), nil, 0o600); err != nil {
			t.Error(err)
		}
		return driver.Result{Summary: "seen it", Survivors: []string{"sh (process 1)"}, Confinement: "none", Calls: []cost.Usage{{Input: 5, Metered: true}}, Metered: true}, nil
	}}
	report := w.run(reviewedBy(&dispatching{d: looks}))
	i := wantState(t, report, "a", journal.StateShipped)
	if len(looks.tasks) != 1 {
		t.Fatalf("%d dispatches", len(looks.tasks))
	}
	task := looks.tasks[0]
	if task.Role != driver.Reviewer || !task.ReadOnly || task.Prompt != "Look." || task.Model != "m" || task.Item != "a" || task.Slug != "a" || task.Wave != report.Wave ||
		task.AttemptID == "" || task.AttemptID == i.Attempts[0].Attempt || task.Round != 1 || task.Budget.Timeout == 0 || !strings.Contains(task.Mark, "/"+report.Wave+"/") ||
		!slices.ContainsFunc(task.Environment, func(v string) bool { return strings.HasPrefix(v, "HOME=") }) || task.Owns != nil {
		t.Errorf("%+v", task)
	}
	if _, err := os.Stat(task.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the checkout is left: %v", err)
	}
	if j := i.Judgements[0]; j.Usage == nil || j.Usage.Input != 5 || !j.Usage.Metered || i.Usage.Input != 0 {
		t.Errorf("judgement %s, the agent's usage %+v", asJSON(j), i.Usage)
	}
	if !slices.Equal(report.Survivors, []string{"sh (process 1)"}) || report.Confinement != "none" {
		t.Errorf("survivors %v, confinement %s", report.Survivors, report.Confinement)
	}
	if log, err := os.ReadFile(filepath.Join(w.state, i.Log)); err != nil || !strings.Contains(string(log), "reviewer (looks) looks at ") || !strings.Contains(string(log), "seen it") {
		t.Errorf("the log (%v):\n%s", err, log)
	}
}

// TestReviewerThatChangesItsCheckoutIsVoid, and what it wrote goes nowhere.
func TestReviewerThatChangesItsCheckoutIsVoid(t *testing.T) {
	for name, tt := range map[string]struct {
		touch func(dir string) error
		path  string // "": nothing counts as changed
	}{
		"changes": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "a.txt"), []byte("better\n"), 0o644) }, "a.txt"},
		"adds":    {func(dir string) error { return os.WriteFile(filepath.Join(dir, "new.txt"), nil, 0o644) }, "new.txt"},
		"deletes": {func(dir string) error { return os.Remove(filepath.Join(dir, "README.md")) }, "README.md"},
		"ignored": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "tracker.json"), nil, 0o644) }, ""},
		"git":     {func(dir string) error { return os.RemoveAll(filepath.Join(dir, ".git")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			touches := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				return driver.Result{Calls: []cost.Usage{{Output: 2, Metered: true}}, Metered: true}, tt.touch(task.Dir)
			}}
			seat := &dispatching{d: touches}
			report := w.run(reviewedBy(seat))
			touched, void := errors.AsType[*wave.TouchedError](seat.seen[0])
			if void != (tt.path != "") || void && !slices.Contains(touched.Paths, tt.path) {
				t.Errorf("%v", seat.seen[0])
			}
			if seat.out.Usage().Output != 2 {
				t.Errorf("usage %+v", seat.out.Usage())
			}
			if !void {
				if i := wantState(t, report, "a", journal.StateShipped); w.show(*i.Commit, "a.txt") != "good" {
					t.Error("what shipped is not what was tested")
				}
			}
		})
	}
}

func TestReviewerThatPanicsGivesNoJudgement(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	seat := &dispatching{d: &agent{work: func(context.Context, driver.Task) (driver.Result, error) { panic("lost") }}}
	w.run(reviewedBy(seat))
	if len(seat.seen) != 1 || driver.ClassOf(seat.seen[0]) != driver.Crashed {
		t.Errorf("%v", seat.seen)
	}
}

// TestHaltEndsAReviewUnderWay, and the resume asks again.
func TestHaltEndsAReviewUnderWay(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	halt := wave.Halt{Dir: w.state}
	waits := &agent{work: func(ctx context.Context, _ driver.Task) (driver.Result, error) {
		must(t, halt.Set(wave.HaltNote{Reason: "lunch"}))
		<-ctx.Done()
		return driver.Result{}, &driver.Error{Class: driver.Cancelled, Message: "stopped"}
	}}
	store := w.store()
	wantOutcome(t, w.runOn(store, reviewedBy(&dispatching{d: waits})), journal.Halted)
	must(t, halt.Clear())
	sees := &agent{work: func(context.Context, driver.Task) (driver.Result, error) { return driver.Result{}, nil }}
	reports, err := w.schedulerOn(store, reviewedBy(&dispatching{d: sees})).Resume(t.Context(), "")
	must(t, err)
	wantState(t, reports[0], "a", journal.StateShipped)
	if len(sees.tasks) != 1 {
		t.Errorf("%d dispatches after the resume", len(sees.tasks))
	}
}

// TestGatesAreAskedBeforeAReviewer is paid.
func TestGatesAreAskedBeforeAReviewer(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	verified := false
	seen := &onEvent{event: "verified", act: func() { verified = true }}
	sees := &agent{work: func(context.Context, driver.Task) (driver.Result, error) { return driver.Result{}, nil }}
	report := w.run(reviewedBy(&dispatching{d: sees}), func(c *wave.Config) {
		c.Observers = []wave.Observer{seen}
		c.Gates = []wave.Gate{gateFunc(func(at wave.Point) error {
			if verified && at.Step == "dispatch" {
				return &wave.Stop{Outcome: journal.Ceiling, Reason: "nothing left"}
			}
			return nil
		})}
	})
	wantOutcome(t, report, journal.Ceiling)
	if len(sees.tasks) != 0 {
		t.Error("the reviewer was dispatched")
	}
}

// TestSilentReviewersAreAccountedFor: what was used for a judgement that did not come is told, and what held those agents.
func TestSilentReviewersAreAccountedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		end     func(ctx context.Context, s *wave.Scheduler) error
		outcome journal.Outcome
		reason  string
	}{
		"no answer": {func(context.Context, *wave.Scheduler) error { return errors.New("it said nothing") }, journal.GateUnavailable, "it said nothing"},
		"stopped": {func(ctx context.Context, s *wave.Scheduler) error {
			s.Stop()
			<-ctx.Done()
			return ctx.Err()
		}, journal.Interrupted, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			looks := &agent{work: func(context.Context, driver.Task) (driver.Result, error) {
				return driver.Result{Survivors: []string{"sh (process 1)"}, Confinement: "none", Calls: []cost.Usage{{Input: 4242, Metered: true}}, Metered: true}, nil
			}}
			var s *wave.Scheduler
			silent := &panel{answer: func(ctx context.Context, c wave.Change) (wave.Judgement, error) {
				result, err := c.Dispatch(ctx, looks, driver.Task{Role: driver.Reviewer, Prompt: "Look."})
				must(t, err)
				usage := result.Usage()
				return wave.Judgement{Usage: &usage}, tt.end(ctx, s)
			}}
			store := w.store()
			s = w.schedulerOn(store, func(c *wave.Config) { c.Reviewer = silent })
			report := w.runOn2(s)
			checkContract(t, report)
			wantOutcome(t, report, tt.outcome)
			i := reported(t, report, "a")
			if len(i.Unanswered) != 1 || i.Unanswered[0].Seat != "review" || i.Unanswered[0].Usage.Input != 4242 || !strings.Contains(i.Unanswered[0].Reason, tt.reason) || len(i.Judgements) != 0 {
				t.Errorf("unanswered %s, judgements %s", asJSON(i.Unanswered), asJSON(i.Judgements))
			}
			if !slices.Equal(report.Survivors, []string{"sh (process 1)"}) {
				t.Errorf("survivors %v", report.Survivors)
			}
			// It stays told when there is a judgement in the end, which has its own usage and nobody else's survivors.
			reports, err := w.schedulerOn(store, func(c *wave.Config) {
				c.Reviewer = &panel{answer: func(context.Context, wave.Change) (wave.Judgement, error) { return wave.Judgement{OK: true}, nil }}
			}).Resume(t.Context(), "")
			must(t, err)
			i = wantState(t, reports[0], "a", journal.StateShipped)
			if len(i.Unanswered) != 1 || len(i.Judgements) != 1 || i.Judgements[0].Usage != nil || len(reports[0].Survivors) != 1 {
				t.Errorf("%s, survivors %v", asJSON(i), reports[0].Survivors)
			}
		})
	}
}

type gateFunc func(at wave.Point) error

func (gateFunc) Name() string                                   { return "test" }
func (g gateFunc) Check(_ context.Context, at wave.Point) error { return g(at) }
