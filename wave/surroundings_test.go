package wave_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aesop/driver"
	"aesop/wave"
	"aesop/wave/journal"
)

func TestLockFilesOfAKilledGitAreNoObstacle(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	w.run()
	w.edit(`"status": "done"`, `"status": "blocked"`)
	engines, err := filepath.Glob(filepath.Join(w.state, "git", "*.git"))
	must(t, err)
	if len(engines) != 1 {
		t.Fatalf("engine repositories: %v", engines)
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"packed-refs.lock", "shallow.lock", "refs/user/heads/main.lock"} {
		path := filepath.Join(engines[0], name)
		must(t, os.WriteFile(path, nil, 0o600))
		must(t, os.Chtimes(path, old, old))
	}
	w.git(w.repo, "commit", "--quiet", "--allow-empty", "--message=more") // so that refs move
	must(t, os.WriteFile(filepath.Join(w.repo, ".git", "index.lock"), nil, 0o600))
	w.items(item{"id": "c"})
	w.script(map[string][]attempt{"c": good("c")})
	wantOutcome(t, w.run(), journal.Good)
	if _, err := os.Stat(filepath.Join(w.repo, ".git", "index.lock")); err != nil {
		t.Errorf("the user's own lock file: %v", err)
	}
}

func TestUsersPrePushHookIsAskedAndMayRefuse(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	hook := filepath.Join(w.repo, ".git", "hooks", "pre-push")
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\necho the hook says no >&2\nexit 1\n"), 0o755))
	report := w.run()
	i := wantState(t, report, "a", journal.StateShipFailed)
	if !strings.Contains(i.Failure.Tail, "the hook says no") {
		t.Errorf("failure: %s", asJSON(i.Failure))
	}
	must(t, os.Remove(hook))
	reports, err := w.scheduler().Resume(t.Context(), report.Wave)
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
}

// plants are what an agent can leave in the user's repository for the engine to run: commands of a shell, by what git would run.
func (w *world) plants() (ran string, plants map[string]string) {
	ran = filepath.Join(w.dir, "ran")
	hook, helper := filepath.Join(w.repo, ".git", "hooks", "pre-push"), filepath.Join(w.dir, "helper")
	script := func(path, then string) string {
		return "mkdir -p '" + filepath.Dir(path) + "' && printf '#!/bin/sh\\ntouch \"" + ran + "\"\\n" + then + "' > '" + path + "' && chmod +x '" + path + "'"
	}
	return ran, map[string]string{
		"a hook":    script(hook, ""),
		"a program": script(helper, `exec git-upload-pack "$@"\n`) + " && git --git-dir='" + w.repo + "/.git' config remote.origin.uploadpack '" + helper + "'",
	}
}

// TestPlantedInTheRepository: what an agent left in the user's repository is run neither by its own wave nor by one that is resumed after
// a crash, until people have been told of it.
func TestPlantedInTheRepository(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	for _, what := range []string{"a hook", "a program"} {
		for _, killed := range []string{"", "attempt_ended", "verified"} {
			t.Run(what+" "+killed, func(t *testing.T) {
				w := newWorld(t)
				w.items(item{"id": "a"})
				ran, plants := w.plants()
				w.script(map[string][]attempt{"a": {{"files": map[string]string{"a.txt": "good\n"}, "exec": plants[what]}}})
				code, out := w.binary(killed, "run")
				if killed != "" && code == -1 {
					for _, again := range []string{"taken_over", ""} { // a resume that is killed says nothing to anybody
						code, out = w.binary(again, "resume")
					}
				}
				if code != 2 || !strings.Contains(out, string(journal.GateUnavailable)) || !strings.Contains(out, "look at them, then resume") {
					t.Errorf("exit %d\n%s", code, out)
				}
				if _, err := os.Stat(ran); err == nil {
					t.Fatal("what the agent planted was run")
				}
				// Who resumes now has been told.
				if code, out := w.binary("", "resume"); code != 0 {
					t.Errorf("resume: exit %d\n%s", code, out)
				}
				if _, err := os.Stat(ran); err != nil {
					t.Errorf("what people left there was not run: %v", err)
				}
			})
		}
	}
}

// TestStopTellsOfEachChange, whatever it stops for; what was there when people resumed is taken for theirs, and nothing that comes later.
func TestStopTellsOfEachChange(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	store, ran := w.store(), filepath.Join(w.dir, "ran")
	plant := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(w.repo, ".git", "hooks", name), []byte(text), 0o755))
	}
	must(t, os.MkdirAll(filepath.Join(w.repo, ".git", "hooks"), 0o755))
	began := 0
	worked := with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		began++
		if began == 1 {
			plant("pre-push", "#!/bin/sh\nexit 0\n")
			return driver.Result{}, put(task, "a.txt", "good\n")
		}
		plant("pre-push", "#!/bin/sh\ntouch '"+ran+"'\n")
		return driver.Result{}, put(task, "b.txt", "good\n")
	}})
	var s *wave.Scheduler
	first := func(c *wave.Config) { c.Parallel = 1 }
	s = w.schedulerOn(store, worked, first, func(c *wave.Config) {
		c.Observers = append(c.Observers, &watcher{look: func(_ *journal.Wave, e journal.Event) {
			if e.Type() == "verified" {
				s.Stop()
			}
		}})
	})
	report, err := s.Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Interrupted)
	if i := wantState(t, report, "b", journal.StateParked); !strings.Contains(i.Reason, "look at them, then resume") {
		t.Errorf("nobody is told: %s", i.Reason)
	}
	for _, want := range []journal.Outcome{journal.GateUnavailable, journal.Good} {
		reports, err := w.schedulerOn(store, worked, first).Resume(t.Context(), report.Wave)
		must(t, err)
		wantOutcome(t, reports[0], want)
		if _, err := os.Stat(ran); (err == nil) != (want == journal.Good) {
			t.Errorf("%s: the second hook: %v", want, err)
		}
	}
}

// TestPlantedWhereNothingIsPushed: the next wave would take it for the user's, so the wave in which it came looks, and is the last.
func TestPlantedWhereNothingIsPushed(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "priority": "P0"}, item{"id": "b"})
	ran, hook := filepath.Join(w.dir, "ran"), filepath.Join(w.repo, ".git", "hooks", "pre-push")
	worked := with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		if task.Item == "a" {
			must(t, os.MkdirAll(filepath.Dir(hook), 0o755))
			must(t, os.WriteFile(hook, []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o755))
			return driver.Result{}, put(task, "a.txt", "poor\n")
		}
		return driver.Result{}, put(task, "b.txt", "good\n")
	}})
	one := func(c *wave.Config) { c.MaxItems = 1 }
	reports, err := w.scheduler(worked, one).Drain(t.Context())
	must(t, err)
	if len(reports) != 1 {
		t.Fatalf("%d waves", len(reports))
	}
	wantOutcome(t, reports[0], journal.GateUnavailable)
	wantState(t, reports[0], "a", journal.StateNotVerified)
	if _, err := os.Stat(ran); err == nil {
		t.Error("what the agent planted was run")
	}
	must(t, os.Remove(hook))
	reports, err = w.scheduler(worked, one).Drain(t.Context())
	must(t, err)
	if len(reports) != 2 {
		t.Fatalf("%d waves after the hook was removed", len(reports))
	}
	wantOutcome(t, reports[0], journal.Failed)
	wantState(t, reports[1], "b", journal.StateShipped)
}

// TestPushMayWriteIntoTheConfiguration, as hooks of the user's do that keep something there.
func TestPushMayWriteIntoTheConfiguration(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	must(t, os.MkdirAll(filepath.Join(w.repo, ".git", "hooks"), 0o755))
	must(t, os.WriteFile(filepath.Join(w.repo, ".git", "hooks", "pre-push"), []byte("#!/bin/sh\ngit config lfs.access basic\n"), 0o755))
	wantOutcome(t, w.run(), journal.Good)
	if w.git(w.repo, "config", "lfs.access") != "basic" {
		t.Error("the hook did not run")
	}
}
