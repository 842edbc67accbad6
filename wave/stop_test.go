package wave_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// stuck is an agent that works until it is stopped; started is closed when it works.
func stuck(started chan<- struct{}) *agent {
	return &agent{work: func(ctx context.Context, t driver.Task) (driver.Result, error) {
		if err := put(t, "a.txt", "half"); err != nil {
			return driver.Result{}, err
		}
		close(started)
		<-ctx.Done()
		return driver.Result{}, &driver.Error{Class: driver.Cancelled}
	}}
}

func TestHaltedWaveClaimsNothing(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	s := w.scheduler()
	must(t, s.Halt().Set(wave.HaltNote{Reason: "lunch"}))
	report, err := s.Run(t.Context())
	must(t, err)
	checkContract(t, report)
	wantOutcome(t, report, journal.Halted)
	if report.HaltReason == nil || *report.HaltReason != "lunch" || len(report.Items) != 0 {
		t.Errorf("report: %s", asJSON(report))
	}
	plan, err := s.Plan(t.Context())
	must(t, err)
	if plan.Outcome != journal.Halted || plan.Reason != "lunch" {
		t.Errorf("plan: %s", asJSON(plan))
	}
	wantStatus(t, w.read("a"), tracker.Todo)
	must(t, s.Halt().Clear())
	report, err = s.Run(t.Context())
	must(t, err)
	checkContract(t, report)
	wantOutcome(t, report, journal.Good)
}

func TestHaltKillsAgentAndResumeFinishes(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	started := make(chan struct{})
	store := w.store()
	s := w.schedulerOn(store, with(stuck(started)))
	go func() {
		<-started
		if err := s.Halt().Set(wave.HaltNote{Reason: "stop"}); err != nil {
			t.Error(err)
		}
	}()
	report, err := s.Run(t.Context())
	must(t, err)
	checkContract(t, report)
	wantOutcome(t, report, journal.Halted)
	i := wantState(t, report, "a", journal.StateParked)
	if len(i.Attempts) != 1 || i.Attempts[0].Outcome != "cancelled" {
		t.Errorf("attempts: %s", asJSON(i.Attempts))
	}
	row := w.read("a")
	wantStatus(t, row, tracker.InProgress)
	if row.Claim == nil || row.Claim.Wave != report.Wave {
		t.Errorf("claim: %+v", row.Claim)
	}
	again, err := w.schedulerOn(store).Resume(t.Context(), report.Wave)
	must(t, err)
	if len(again) != 1 {
		t.Fatalf("%d reports", len(again))
	}
	wantOutcome(t, again[0], journal.Halted)
	must(t, s.Halt().Clear())
	again, err = w.schedulerOn(store).Resume(t.Context(), "")
	must(t, err)
	if len(again) != 1 || again[0].Wave != report.Wave {
		t.Fatalf("reports: %s", asJSON(again))
	}
	wantOutcome(t, again[0], journal.Good)
	wantStatus(t, w.read("a"), tracker.Done)
}

func TestHaltKillsRunningTest(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(w.dir, "test-runs")
	w.items(item{"id": "a", "testCmd": "test -e a.txt || exit 1; echo > " + mark + "; while :; do sleep 0.05; done"})
	w.script(map[string][]attempt{"a": good("a")})
	s := w.scheduler()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		waitForFile(t.Context(), mark)
		if err := s.Halt().Set(wave.HaltNote{Reason: "stop"}); err != nil {
			t.Error(err)
		}
	}()
	report, err := s.Run(t.Context())
	<-watched
	must(t, err)
	checkContract(t, report)
	wantOutcome(t, report, journal.Halted)
	wantState(t, report, "a", journal.StateParked)
}

func TestStopParksAndSecondStopKills(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	started := make(chan struct{})
	played := stuck(started)
	store := w.store()
	s := w.schedulerOn(store, with(played), func(c *wave.Config) { c.Parallel = 1 })
	go func() { <-started; s.Stop() }()
	report, err := s.Run(t.Context())
	must(t, err)
	checkContract(t, report)
	wantOutcome(t, report, journal.Interrupted)
	if len(played.tasks) != 1 {
		t.Errorf("%d dispatches after the stop", len(played.tasks)-1)
	}
	for _, id := range []string{"a", "b"} {
		wantState(t, report, id, journal.StateParked)
		wantStatus(t, w.read(id), tracker.InProgress)
	}
	report = w.runOn(store)
	wantOutcome(t, report, journal.NothingToDo)
	if len(report.Resumed) != 1 || report.Resumed[0].Outcome != journal.Good {
		t.Errorf("resumed: %s", asJSON(report.Resumed))
	}
}

func TestSecondStopEndsAgentThatIgnoresTheFirst(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(w.dir, "agent-runs")
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": {{"exec": "trap '' TERM; echo > " + mark + "; while :; do sleep 0.05; done"}}})
	s := w.scheduler()
	go func() { waitForFile(t.Context(), mark); s.Stop(); s.Stop() }()
	report, err := s.Run(t.Context())
	must(t, err)
	checkContract(t, report)
	wantOutcome(t, report, journal.Interrupted)
	wantState(t, report, "a", journal.StateParked)
}

// refusing is a gate that says no at one step.
type refusing struct {
	step string
	err  error
}

func (refusing) Name() string { return "refusing" }

func (g refusing) Check(_ context.Context, at wave.Point) error {
	if at.Step == g.step {
		return g.err
	}
	return nil
}

func TestGatesStopAtEveryStep(t *testing.T) {
	for _, step := range []string{"claim", "dispatch", "repair", "ship"} {
		t.Run(step, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": {writes("a.txt", "poor"), writes("a.txt", "good")}})
			store := w.store()
			s := w.schedulerOn(store, func(c *wave.Config) { c.Gates = []wave.Gate{refusing{step, &wave.Stop{Reason: "enough"}}} })
			report, err := s.Run(t.Context())
			must(t, err)
			wantOutcome(t, report, journal.Halted)
			if _, pushed := w.refs()["refs/aesop/items/a"]; pushed {
				t.Error("something was pushed after the gate's no")
			}
			answered := false
			for _, g := range report.Gates {
				answered = answered || g == wave.GateReport{Name: "refusing", At: step, Verdict: "stop", Reason: "enough"}
			}
			if !answered {
				t.Errorf("gates: %s", asJSON(report.Gates))
			}
			report = w.runOn(store)
			wantStatus(t, w.read("a"), tracker.Done)
		})
	}
}

func TestGateThatCannotBeEvaluatedStops(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	report := w.run(func(c *wave.Config) { c.Gates = []wave.Gate{refusing{"dispatch", os.ErrPermission}} })
	wantOutcome(t, report, journal.GateUnavailable)
	wantState(t, report, "a", journal.StateParked)
}

// waitForFile returns when the file exists, or ctx ends.
func waitForFile(ctx context.Context, path string) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// TestAStoppedPushLeavesNoLocks: a remote that is a folder has the refs locked while it moves them. A push that HALT or a signal catches there
// comes to its end; were it killed, no later one could ever move those refs.
func TestAStoppedPushLeavesNoLocks(t *testing.T) {
	for name, stop := range map[string]func(*wave.Scheduler) error{
		"halt":          func(s *wave.Scheduler) error { return s.Halt().Set(wave.HaltNote{Reason: "stop"}) },
		"interrupt":     func(s *wave.Scheduler) error { s.Stop(); return nil },
		"second signal": func(s *wave.Scheduler) error { s.Stop(); s.Stop(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			mark := filepath.Join(w.dir, "locked")
			w.hook("reference-transaction", `if [ "$1" = prepared ] && [ ! -e `+mark+` ]; then : >`+mark+`; sleep 0.6; fi; exit 0`)
			s := w.scheduler()
			stopped := make(chan error, 1)
			go func() {
				waitForFile(t.Context(), mark)
				stopped <- stop(s)
			}()
			_, err := s.Run(t.Context())
			must(t, err)
			must(t, <-stopped)
			must(t, s.Halt().Clear())
			must(t, filepath.WalkDir(filepath.Join(w.remote, "refs"), func(path string, _ fs.DirEntry, err error) error {
				if strings.HasSuffix(path, ".lock") {
					t.Errorf("%s was left", path)
				}
				return err
			}))
			_, err = w.scheduler().Run(t.Context())
			must(t, err)
			wantStatus(t, w.read("a"), tracker.Done)
		})
	}
}

// TestAStoppedPushThatHangsIsKilled, soon: HALT waits for no remote.
func TestAStoppedPushThatHangsIsKilled(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	mark := filepath.Join(w.dir, "at-work")
	w.hook("pre-receive", ": >"+mark+"; while :; do sleep 0.05; done")
	s := w.scheduler()
	go func() {
		waitForFile(t.Context(), mark)
		s.Stop()
	}()
	report, err := s.Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Interrupted)
	wantState(t, report, "a", journal.StateParked)
}
