package wave_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// TestAgentLimits: an agent that takes too long, or says nothing for too long, fails its item, and the report says by which limit.
func TestAgentLimits(t *testing.T) {
	for class, limit := range map[driver.Class]func(*wave.Config){
		driver.Timeout: func(c *wave.Config) { c.AgentTimeout = 300 * time.Millisecond },
		driver.Idle:    func(c *wave.Config) { c.IdleTimeout = 300 * time.Millisecond },
	} {
		t.Run(string(class), func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": {{"exec": "sleep 600"}}})
			report := w.run(limit)
			i := wantState(t, report, "a", journal.StateDriverFailed)
			if !strings.HasPrefix(i.Reason, string(class)+": ") || i.Failure == nil || i.Failure.Step != "build" || !strings.Contains(i.Failure.Tail, "stopped after") {
				t.Errorf("item: %s", asJSON(i))
			}
			if row := w.read("a"); row.Attempts != 1 {
				t.Errorf("%d attempts are counted", row.Attempts)
			}
		})
	}
}

func TestBudgetIsTheDriversToo(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	played := writer()
	w.run(with(played), func(c *wave.Config) { c.AgentTimeout, c.IdleTimeout = 7*time.Minute, 3*time.Minute })
	if got, want := played.tasks[0].Budget, (driver.Budget{Timeout: 7 * time.Minute, Idle: 3 * time.Minute}); got != want {
		t.Errorf("budget %+v, want %+v", got, want)
	}
}

// TestTestsThatDoNotEndByThemselves prove nothing, and both the report and the next prompt say how they ended.
func TestTestsThatDoNotEndByThemselves(t *testing.T) {
	for name, tt := range map[string]struct{ command, says, prompt string }{
		"limit":  {"sleep 600", "its time limit", "It did not end in time."},
		"signal": {"kill -KILL $$", "ended by SIGKILL", "ended by SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a", "testCmd": "test -e a.txt || exit 1; echo so far; " + tt.command})
			played := writer()
			played.info = driver.Info{Name: "played", Tier: 1} // one repair
			report := w.run(with(played), func(c *wave.Config) { c.TestTimeout = time.Second })
			i := wantState(t, report, "a", journal.StateNotVerified)
			if i.Verified || i.TestExit != nil || i.Failure.Exit != nil || !strings.Contains(i.Failure.Tail, tt.says) || !strings.Contains(i.Failure.Tail, "so far") {
				t.Errorf("item: %s", asJSON(i))
			}
			if len(played.tasks) != 2 || played.tasks[1].Failure.TimedOut != (name == "limit") || !strings.Contains(played.tasks[1].Prompt, tt.prompt) {
				t.Errorf("%d dispatches; the repair's failure: %+v", len(played.tasks), played.tasks[len(played.tasks)-1].Failure)
			}
		})
	}
}

func TestVerifyThatDoesNotEndIsARedBase(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	report := w.run(with(writer()), func(c *wave.Config) {
		c.TestTimeout, c.Verify = 300*time.Millisecond, tracker.Command{Argv: []string{"sleep", "600"}}
	})
	wantOutcome(t, report, journal.BaseRed)
	if !strings.Contains(report.Error.Message, "sleep 600 fails on the base: stopped after") {
		t.Errorf("error: %s", asJSON(report.Error))
	}
}

// renewing is a Tracker whose renewals are seen, and answered with err where it is set.
type renewing struct {
	tracker.Tracker
	calls chan time.Duration
	err   error
}

func (r *renewing) Renew(ctx context.Context, lease time.Duration, held ...tracker.Claim) error {
	select {
	case r.calls <- lease:
	default:
	}
	if r.err != nil {
		return r.err
	}
	return r.Tracker.Renew(ctx, lease, held...)
}

// TestLeaseIsRenewedWhileAnAgentWorks, and what happens where it cannot be.
func TestLeaseIsRenewedWhileAnAgentWorks(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		state journal.State
		log   string
	}{
		"renewed":  {nil, journal.StateShipped, ""},
		"trouble":  {errors.New("the disk says no"), journal.StateShipped, "the disk says no"}, // the lease may last
		"lost":     {&tracker.LostError{IDs: []string{"a"}}, journal.StateClaimLost, ""},
		"of other": {&tracker.LostError{IDs: []string{"b"}}, journal.StateShipped, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			claims := &renewing{Tracker: w.tracker(), calls: make(chan time.Duration, 2), err: tt.err}
			const lease = 150 * time.Millisecond
			played := &agent{work: func(ctx context.Context, task driver.Task) (driver.Result, error) {
				ctx, cancel := context.WithTimeout(ctx, 100*lease) // not when it is long over
				defer cancel()
				for range cap(claims.calls) {
					select {
					case got := <-claims.calls:
						if got != lease {
							t.Errorf("renewed for %s", got)
						}
					case <-ctx.Done():
						return driver.Result{}, &driver.Error{Class: driver.Cancelled}
					}
				}
				return driver.Result{}, put(task, "a.txt", "good")
			}}
			core, logged := observer.New(zap.WarnLevel)
			report := w.run(with(played), func(c *wave.Config) { c.Tracker, c.Lease, c.Logger = claims, lease, zap.New(core) })
			wantState(t, report, "a", tt.state)
			if _, pushed := w.refs()["refs/aesop/items/a"]; pushed != (tt.state == journal.StateShipped) {
				t.Errorf("pushed: %v", pushed)
			}
			found := false
			for _, entry := range logged.All() {
				found = found || entry.ContextMap()["error"] == tt.log && entry.ContextMap()["wave"] == report.Wave
			}
			if found != (tt.log != "") {
				t.Errorf("log: %+v", logged.All())
			}
		})
	}
}
