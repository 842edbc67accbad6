package wave_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// This file and its neighbours limits_test.go, seams_test.go and redact_test.go show the effect of each field of Config. Verify
// and AllowRedBase are in ship_test.go, Gates in stop_test.go, Reviewer and Approver in wave_test.go.

// writer is an agent that makes every item pass its default test.
func writer() *agent {
	return &agent{work: func(_ context.Context, t driver.Task) (driver.Result, error) {
		return driver.Result{}, put(t, t.Item+".txt", "good")
	}}
}

func TestRequiredFields(t *testing.T) {
	w := newWorld(t)
	w.items()
	full := wave.Config{Repo: w.repo, State: w.state, Tracker: w.tracker(), Store: w.store(), Driver: writer()}
	if _, err := wave.New(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	for name, forget := range map[string]func(*wave.Config){
		"Repo": func(c *wave.Config) { c.Repo = "" }, "State": func(c *wave.Config) { c.State = "" },
		"Tracker": func(c *wave.Config) { c.Tracker = nil }, "Store": func(c *wave.Config) { c.Store = nil },
		"Driver": func(c *wave.Config) { c.Driver = nil },
	} {
		c := full
		forget(&c)
		if _, err := wave.New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "Config."+name+" is required") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestRemoteAndBase(t *testing.T) {
	w := newWorld(t)
	fork := filepath.Join(w.dir, "fork.git")
	w.git("", "clone", "--quiet", "--bare", w.remote, fork)
	w.git(w.repo, "remote", "add", "fork", fork)
	main := w.git(w.repo, "rev-parse", "HEAD")
	w.write("next.txt", "next\n")
	next := w.commit("Next")
	w.git(w.repo, "push", "--quiet", "fork", "HEAD:next")
	w.items(item{"id": "a", "testCmd": "test -e next.txt && grep -q good a.txt"})
	configure := func(remote, base string) option {
		return func(c *wave.Config) { c.Remote, c.Base = remote, base }
	}
	report := w.run(with(writer()), configure("fork", "next"))
	i := wantState(t, report, "a", journal.StateShipped)
	if r := report.Repositories[0]; r.Remote != "fork" || r.Base != "next" || *report.Base != next || next == main {
		t.Errorf("repository: %s", asJSON(r))
	}
	if got := w.git("", "--git-dir="+fork, "rev-parse", "refs/heads/aesop/"+report.Wave); got != *i.Commit {
		t.Errorf("the fork's branch is at %s, the item at %s", got, *i.Commit)
	}
	if refs := w.refs(); len(refs) != 1 {
		t.Errorf("origin has %v", refs)
	}
	for code, o := range map[string]option{"no_remote": configure("forc", ""), "no_base": configure("fork", "nxt")} {
		_, err := w.scheduler(with(writer()), o).Run(t.Context())
		want := map[string]string{"no_remote": "known remotes: fork, origin", "no_base": "known branches: main, next"}[code]
		if e := wave.Explain(err); err == nil || e.Code != code || !strings.HasPrefix(strings.ReplaceAll(e.Hint, "aesop/"+report.Wave+", ", ""), want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestModelPrecedence: the item's own, then the configured, then the driver's for workers, then none.
func TestModelPrecedence(t *testing.T) {
	for name, tt := range map[string]struct{ item, configured, driver, want string }{
		"item":    {"of-item", "configured", "of-driver", "of-item"},
		"config":  {"", "configured", "of-driver", "configured"},
		"driver":  {"", "", "of-driver", "of-driver"},
		"program": {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			row := item{"id": "a"}
			if tt.item != "" {
				row["model"] = tt.item
			}
			w.items(row)
			played := writer()
			played.info = driver.Info{Name: "played", Tier: 4, Models: map[driver.Role]string{driver.Reviewer: "of-reviewer"}}
			if tt.driver != "" {
				played.info.Models[driver.Worker] = tt.driver
			}
			s := w.scheduler(with(played), func(c *wave.Config) { c.Model = tt.configured })
			plan, err := s.Plan(t.Context())
			must(t, err)
			report, err := s.Run(t.Context())
			must(t, err)
			task, reported, planned := played.tasks[0].Model, "", ""
			if m := wantState(t, report, "a", journal.StateShipped).Model; m != nil {
				reported = *m
			}
			if m := plan.Items[0].Model; m != nil {
				planned = *m
			}
			if task != tt.want || reported != tt.want || planned != tt.want {
				t.Errorf("task %q, report %q, plan %q, want %q", task, reported, planned, tt.want)
			}
		})
	}
}

func TestOwnerAndLeaseStandInTheClaim(t *testing.T) {
	host, err := os.Hostname()
	must(t, err)
	for name, tt := range map[string]struct {
		owner string
		user  string
		want  string
	}{"given": {"night shift", "u", "night shift"}, "user": {"", "u", "u@" + host}, "nobody": {"", "", "aesop@" + host}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			var during tracker.Item
			before := time.Now()
			played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				during = w.read("a")
				return driver.Result{}, put(task, "a.txt", "good")
			}}
			report := w.run(with(played), func(c *wave.Config) {
				c.Owner, c.Lease = tt.owner, 77*time.Minute
				c.Lookup = func(name string) (string, bool) {
					if name == "USER" && tt.user != "" {
						return tt.user, true
					}
					return w.lookup(name)
				}
			})
			wantOutcome(t, report, journal.Good)
			claim := during.Claim
			if during.Status != tracker.InProgress || claim == nil || claim.Owner != tt.want || claim.Wave != report.Wave {
				t.Fatalf("while it runs: %s, claim %+v, want owner %s", during.Status, claim, tt.want)
			}
			if early, late := before.Add(77*time.Minute), time.Now().Add(77*time.Minute+time.Second); claim.LeaseUntil.Before(early) || claim.LeaseUntil.After(late) {
				t.Errorf("lease until %s, want from %s to %s", claim.LeaseUntil, early, late)
			}
		})
	}
}

// TestProtectedBranches: a pattern that covers a wave's branch stops the wave before any agent is paid; one that cannot be read is
// no configuration.
func TestProtectedBranches(t *testing.T) {
	for pattern, protected := range map[string]bool{"aesop/*": true, "aesop": false, "release/**": false} {
		t.Run(pattern, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			played := writer()
			report, err := w.scheduler(with(played), func(c *wave.Config) { c.ProtectedBranches = []string{"other", pattern} }).Run(t.Context())
			if !protected {
				must(t, err)
				wantOutcome(t, report, journal.Good)
				return
			}
			if err == nil || report.Error == nil || report.Error.Code != "protected_branch" || len(played.tasks) != 0 || len(w.refs()) != 1 {
				t.Errorf("error %v, %d dispatches, refs %v, report %s", err, len(played.tasks), w.refs(), asJSON(report))
			}
		})
	}
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{})
	_, err := wave.New(t.Context(), wave.Config{Repo: w.repo, State: w.state, Tracker: w.tracker(), Store: w.store(), Driver: w.scriptDriver(), ProtectedBranches: []string{"["}})
	if err == nil || !strings.Contains(err.Error(), `"["`) {
		t.Errorf("a pattern that cannot be read: %v", err)
	}
}

// TestPassEnv: agents and tests see what is named, what every program needs and, for agents, what their driver declares.
func TestPassEnv(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": "env; exit 1"})
	played := writer()
	played.info = driver.Info{Name: "played", Tier: 1, Environment: []string{"AGENT_LOGIN"}}
	environment := map[string]string{"GOOD_SETTING": "passed", "PROVIDER_API_KEY": "not-passed", "AGENT_LOGIN": "declared", "AESOP_TOKEN": "not-passed"}
	report := w.run(with(played), func(c *wave.Config) {
		c.PassEnv = []string{"GOOD_SETTING", "ABSENT_SETTING"}
		c.Lookup = func(name string) (string, bool) {
			if value, ok := environment[name]; ok {
				return value, true
			}
			return w.lookup(name)
		}
	})
	i := wantState(t, report, "a", journal.StateNotVerified)
	agents, tests := strings.Join(played.tasks[0].Environment, "\n")+"\n", i.Failure.Tail+"\n"
	for who, env := range map[string]string{"agent": agents, "test": tests} {
		if !strings.Contains(env, "GOOD_SETTING=passed\n") || !strings.Contains(env, "PATH=") {
			t.Errorf("the %s lacks a variable:\n%s", who, env)
		}
		if strings.Contains(env, "not-passed") || strings.Contains(env, "ABSENT_SETTING") {
			t.Errorf("the %s sees what it was not given:\n%s", who, env)
		}
	}
	if !strings.Contains(agents, "AGENT_LOGIN=declared\n") || strings.Contains(tests, "AGENT_LOGIN") {
		t.Errorf("the driver's own variable is for agents only:\n%s\n%s", agents, tests)
	}
	if home := "HOME=" + filepath.Join(w.dir, "home") + "\n"; !strings.Contains(agents, home) || strings.Contains(tests, home) {
		t.Errorf("the home is for agents only:\n%s\n%s", agents, tests)
	}
}

func TestMaxItems(t *testing.T) {
	w := newWorld(t)
	var rows []item
	for _, id := range strings.Split("abcdefg", "") {
		rows = append(rows, item{"id": id, "testCmd": "true"})
	}
	w.items(rows...)
	for limit, want := range map[int]int{0: wave.DefaultMaxItems, 2: 2, 100: 7} {
		plan, err := w.scheduler(with(writer()), func(c *wave.Config) { c.MaxItems = limit }).Plan(t.Context())
		must(t, err)
		if len(plan.Items) != want {
			t.Errorf("limit %d: %d items, want %d", limit, len(plan.Items), want)
		}
	}
	if report := w.run(with(writer()), func(c *wave.Config) { c.MaxItems = 2 }); len(report.Items) != 2 {
		t.Errorf("%d items in the report", len(report.Items))
	}
}

// TestParallel: up to the limit at once, and never more.
func TestParallel(t *testing.T) {
	for _, limit := range []int{1, 2} {
		w := newWorld(t)
		w.items(item{"id": "a", "testCmd": "true"}, item{"id": "b", "testCmd": "true"}, item{"id": "c", "testCmd": "true"})
		var mu sync.Mutex
		running, most := 0, 0
		full, tooMany := make(chan struct{}), make(chan struct{})
		played := &agent{work: func(ctx context.Context, task driver.Task) (driver.Result, error) {
			mu.Lock()
			if running++; running > most {
				switch most = running; most {
				case limit:
					close(full)
				case limit + 1:
					close(tooMany)
				}
			}
			mu.Unlock()
			defer func() { mu.Lock(); running--; mu.Unlock() }()
			select { // whoever comes first waits for the others that may run beside it,
			case <-full:
			case <-ctx.Done():
			}
			bounded, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			select { // and a while for one that may not
			case <-tooMany:
			case <-bounded.Done():
			}
			return driver.Result{}, put(task, task.Item+".txt", "good")
		}}
		wantOutcome(t, w.run(with(played), func(c *wave.Config) { c.Parallel = limit }), journal.Good)
		if most != limit || len(played.tasks) != 3 {
			t.Errorf("%d agents at once, want %d; %d in all", most, limit, len(played.tasks))
		}
	}
}

func TestMaxAttempts(t *testing.T) {
	for limit, want := range map[int]tracker.Status{1: tracker.Failed, 2: tracker.Todo} {
		w := newWorld(t)
		w.items(item{"id": "a"})
		w.script(map[string][]attempt{"a": {{"fail": "crashed"}}})
		w.run(func(c *wave.Config) { c.MaxAttempts = limit })
		wantStatus(t, w.read("a"), want)
		// An item whose attempts another limit has used up is not taken.
		w.edit(`"status": "`+string(want)+`"`, `"status": "todo"`)
		report := w.run(func(c *wave.Config) { c.MaxAttempts = 1 })
		wantOutcome(t, report, journal.NothingSelectable)
		if len(report.Skipped) != 1 || report.Skipped[0].Reason != string(tracker.AttemptsExhausted) {
			t.Errorf("skipped: %s", asJSON(report.Skipped))
		}
	}
}

// TestClockAndRandNameTheWave, and the clock measures what the engine does.
func TestClockAndRandNameTheWave(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	var mu sync.Mutex
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		mu.Lock()
		now = now.Add(90 * time.Second)
		mu.Unlock()
		return driver.Result{}, put(task, "a.txt", "good")
	}}
	report := w.run(with(played), func(c *wave.Config) {
		c.Clock, c.Rand = clock, bytes.NewReader(bytes.Repeat([]byte{0xab, 0xcd}, 500))
	})
	if want := "20310203-030506-abcd"; report.Wave != want {
		t.Errorf("wave %s, want %s", report.Wave, want)
	}
	if i := wantState(t, report, "a", journal.StateShipped); i.Attempts[0].DurationMs != 90_000 {
		t.Errorf("attempt took %d ms", i.Attempts[0].DurationMs)
	}
	w.items(item{"id": "b"})
	report, err := w.scheduler(with(writer()), func(c *wave.Config) { c.Rand = bytes.NewReader(nil) }).Run(t.Context())
	if err == nil || report.Outcome != journal.ErrorOutcome {
		t.Errorf("without randomness: %s, %v", report.Outcome, err)
	}
}
