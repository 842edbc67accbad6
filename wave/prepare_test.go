package wave_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// kitWorld has the ignored folders deps/ and kit/; the work tree has a kit.
func kitWorld(t *testing.T) *world {
	w := newWorld(t)
	w.write(".gitignore", "tracker.json\ndeps/\nkit/\n")
	w.commit("Rules")
	w.git(w.repo, "push", "--quiet")
	w.write("kit/data", "carried\n")
	w.items(item{"id": "a", "testCmd": "grep -qx made deps/tool && grep -qx carried kit/data && grep -q good a.txt"})
	return w
}

func making(lines ...string) option { return func(c *wave.Config) { c.Prepare = lines } }
func carrying(c *wave.Config)       { c.Carry = []string{"kit/"} }

// TestTreesAreMadeReady: agents and tests find what prepare makes and what is carried; what an agent does to its own reaches no test and
// no commit.
func TestTreesAreMadeReady(t *testing.T) {
	w := kitWorld(t)
	worked := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		for name, want := range map[string]string{"deps/tool": "made\n", "kit/data": "carried\n"} {
			if got, err := os.ReadFile(filepath.Join(task.Dir, name)); string(got) != want {
				t.Errorf("the agent finds %q in %s (%v)", got, name, err)
			}
			if err := put(task, name, "spoilt\n"); err != nil {
				return driver.Result{}, err
			}
		}
		return driver.Result{}, put(task, "a.txt", "good")
	}}
	report := w.run(with(worked), making("mkdir deps", "echo made > deps/tool"), carrying)
	i := wantState(t, report, "a", journal.StateShipped)
	if names := w.git("", "--git-dir="+w.remote, "diff-tree", "--no-commit-id", "--name-only", "-r", *i.Commit); names != "a.txt" {
		t.Errorf("shipped %s", names)
	}
	if got, err := os.ReadFile(filepath.Join(w.repo, "kit/data")); string(got) != "carried\n" {
		t.Errorf("the user's kit is %q (%v)", got, err)
	}
	log, err := os.ReadFile(filepath.Join(w.state, i.Log))
	must(t, err)
	if strings.Count(string(log), "--- prepare: mkdir deps") != 4 { // on the base, for the agent, on the commit, and once more there
		t.Errorf("the log:\n%s", log)
	}
	left, err := filepath.Glob(filepath.Join(w.state, "trees", "*"))
	if len(left) > 0 || err != nil {
		t.Errorf("left in the state: %v (%v)", left, err)
	}
}

// TestTreeThatCannotBeMadeReady ends its item before an agent is paid, and counts for nothing.
func TestTreeThatCannotBeMadeReady(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		says  string
	}{
		"a line fails":         {[]string{"echo made > made.txt", "echo out of paint >&2; exit 3"}, "out of paint"},
		"a file of the base":   {[]string{"echo mine > README.md"}, "README.md (outside_owned)"},
		"a file that is new":   {[]string{"echo mine > new.txt"}, "new.txt (outside_owned)"},
		"a file of the item's": {[]string{"echo good > a.txt"}, "would pass for the agent's work; let the item own other files: a.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			w := kitWorld(t)
			worked := &agent{work: func(context.Context, driver.Task) (driver.Result, error) {
				t.Error("an agent was started")
				return driver.Result{}, nil
			}}
			report := w.run(with(worked), making(tt.lines...))
			i := wantState(t, report, "a", journal.StateSetupFailed)
			if !strings.Contains(i.Reason, tt.says) {
				t.Errorf("reason %q does not say %q", i.Reason, tt.says)
			}
			if row := w.read("a"); row.Status != tracker.Todo || row.Attempts != 0 {
				t.Errorf("the backlog has %+v", row)
			}
		})
	}
}

// TestCommitThatCannotBeMadeReady is a failed test, which the agent hears of and repairs.
func TestCommitThatCannotBeMadeReady(t *testing.T) {
	w := newWorld(t)
	w.write("setup.sh", "true\n")
	w.commit("Setup")
	w.git(w.repo, "push", "--quiet")
	w.items(item{"id": "a", "ownsFiles": []string{"setup.sh"}, "testCmd": "grep -q better setup.sh"})
	worked := &agent{info: driver.Info{Name: "played", Tier: 2}}
	worked.work = func(_ context.Context, task driver.Task) (driver.Result, error) {
		if task.Round == 1 {
			return driver.Result{}, put(task, "setup.sh", "echo no glue >&2; exit 4 # better\n")
		}
		if task.Failure == nil || *task.Failure.ExitCode != 4 || !strings.Contains(task.Failure.Stderr, "no glue") || !strings.Contains(task.Failure.Reason, "sh setup.sh") {
			t.Errorf("the agent is told %s", asJSON(task.Failure))
		}
		return driver.Result{}, put(task, "setup.sh", "true # better\n")
	}
	report := w.run(with(worked), making("sh setup.sh"))
	if i := wantState(t, report, "a", journal.StateShipped); len(i.Attempts) != 2 {
		t.Errorf("attempts: %s", asJSON(i.Attempts))
	}
}

// TestWhatCannotBeCarried stops the wave before it begins, with what to do.
func TestWhatCannotBeCarried(t *testing.T) {
	for name, tt := range map[string]struct{ carry, says string }{
		"missing": {"deps", "is not in the work tree"}, "not ignored": {"README.md", "is not ignored"}, "outside": {"../kit", "relative"},
	} {
		t.Run(name, func(t *testing.T) {
			w := kitWorld(t)
			w.script(map[string][]attempt{"a": good("a")})
			s := w.scheduler(func(c *wave.Config) { c.Carry = []string{tt.carry} })
			report, err := s.Run(t.Context())
			setup, ok := errors.AsType[*wave.SetupError](err)
			if !ok || setup.Code != "carry" || !strings.Contains(err.Error(), tt.says) || report.Outcome != journal.ErrorOutcome {
				t.Fatalf("outcome %s, error %v", report.Outcome, err)
			}
			if row := w.read("a"); row.Status != tracker.Todo || row.Claim != nil {
				t.Errorf("the backlog has %+v", row)
			}
			reports, err := s.Resume(t.Context(), "")
			if len(reports) > 0 || err != nil {
				t.Errorf("something is left to resume: %v, %v", reports, err)
			}
		})
	}
}

// TestCarriedLinks are kept where they lead to a place of the repository, and refused by name where they do not.
func TestCarriedLinks(t *testing.T) {
	w := kitWorld(t)
	link := filepath.Join(w.repo, "kit", "workspace")
	must(t, os.Symlink("../README.md", link))
	worked := with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		if points, err := os.Readlink(filepath.Join(task.Dir, "kit", "workspace")); points != "../README.md" {
			t.Errorf("the agent's link leads to %q (%v)", points, err)
		}
		return driver.Result{}, put(task, "a.txt", "good\n")
	}})
	wantOutcome(t, w.run(worked, making("mkdir deps", "echo made > deps/tool"), carrying), journal.Good)
	must(t, os.Remove(link))
	must(t, os.Symlink("../../elsewhere", link))
	w.items(item{"id": "b"})
	_, err := w.scheduler(worked, carrying).Run(t.Context())
	if setup, ok := errors.AsType[*wave.SetupError](err); !ok || setup.Code != "carry" || !strings.Contains(err.Error(), "kit/workspace leads to ../../elsewhere") {
		t.Errorf("error %v", err)
	}
}

// TestResumeKeepsWhatWasCarried: agents could have changed what stands in the work tree since the wave began.
func TestResumeKeepsWhatWasCarried(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	for name, tt := range map[string]struct {
		between func(w *world)
		ships   bool
	}{
		"changed by an agent": {func(*world) {}, true},
		"pruned meanwhile":    {func(w *world) { w.prune(w.store(), everything) }, true},
		"the copy is gone": {func(w *world) {
			for _, kept := range w.kept() {
				must(w.t, os.RemoveAll(kept))
			}
		}, false},
		"the copy is spoilt": {func(w *world) {
			for _, kept := range w.kept() {
				must(w.t, os.WriteFile(filepath.Join(kept, "kit", "data"), []byte("carried\nand spoilt\n"), 0o644))
			}
		}, false},
		"the copy is gone, and all is as it was": {func(w *world) {
			w.write("kit/data", "carried\n")
			for _, kept := range w.kept() {
				must(w.t, os.RemoveAll(kept))
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := kitWorld(t)
			w.items(item{"id": "a", "testCmd": "grep -q good a.txt && grep -qx carried kit/data"})
			w.write("aesop.json", `{"carry": ["kit/"]}`)
			w.script(map[string][]attempt{"a": {{"files": map[string]string{"a.txt": "good\n"}, "exec": "echo spoilt > '" + w.repo + "/kit/data'"}}})
			if code, out := w.binary("attempt_ended", "run"); code != -1 {
				t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
			}
			tt.between(w)
			code, out := w.binary("", "resume")
			if shipped := w.refs()["refs/aesop/items/a"] != ""; shipped != tt.ships || (code == 0) != tt.ships {
				t.Errorf("shipped %v, exit %d\n%s", shipped, code, out)
			}
			if left := w.kept(); tt.ships && len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// kept are the places where waves keep what is carried.
func (w *world) kept() []string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.state, "trees", "*.carried-*", "*"))
	must(w.t, err)
	return found
}

// TestPreparedFilesAreNobodysWork: what an item owns by its name counts as its agent's work though the base ignores it, so that nothing
// else may put it there.
func TestPreparedFilesAreNobodysWork(t *testing.T) {
	for name, tt := range map[string]struct {
		owns string
		with option
	}{
		"prepared": {"deps/tool", making("mkdir -p deps; echo made > deps/tool")},
		"carried":  {"kit/data", carrying},
	} {
		t.Run(name, func(t *testing.T) {
			w := kitWorld(t)
			w.items(item{"id": "a", "ownsFiles": []string{tt.owns}, "testCmd": "test -e " + tt.owns})
			report := w.run(with(&agent{work: func(context.Context, driver.Task) (driver.Result, error) {
				t.Error("an agent was started")
				return driver.Result{}, nil
			}}), tt.with)
			if i := wantState(t, report, "a", journal.StateSetupFailed); !strings.Contains(i.Reason, "own other files: "+tt.owns) {
				t.Errorf("reason %q", i.Reason)
			}
		})
	}
}

// TestCommitThatMakesPrepareLeaveFiles: in the repair the agent hears of it, and the end is its own and counts.
func TestCommitThatMakesPrepareLeaveFiles(t *testing.T) {
	for name, removes := range map[string]bool{"seen to": true, "left": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("prep.sh", "true\n")
			w.commit("Prepare")
			w.git(w.repo, "push", "--quiet")
			w.items(item{"id": "a", "ownsFiles": []string{"a.txt", "prep.sh"}})
			report := w.run(making("sh prep.sh"), with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				if task.Round == 1 {
					return driver.Result{}, errors.Join(put(task, "a.txt", "poor\n"), put(task, "prep.sh", "echo x > junk.txt\n"))
				}
				if task.Failure == nil || !strings.Contains(task.Failure.Reason, "junk.txt (outside_owned)") || !strings.Contains(task.Prompt, "junk.txt (outside_owned)") {
					t.Errorf("the agent is told %s", asJSON(task.Failure))
				}
				if removes {
					must(t, os.Remove(filepath.Join(task.Dir, "junk.txt")))
				}
				return driver.Result{}, errors.Join(put(task, "a.txt", "good\n"), put(task, "prep.sh", "true\n"))
			}, info: driver.Info{Name: "played", Tier: 2}}))
			state, attempts := journal.StateFenceViolation, 1
			if removes {
				state, attempts = journal.StateShipped, 0
			}
			wantState(t, report, "a", state)
			if row := w.read("a"); row.Attempts != attempts {
				t.Errorf("counted %d attempts, want %d", row.Attempts, attempts)
			}
		})
	}
}
