package wave_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/wave/journal"
)

// TestIgnoredPathsAreLeftOut: what the ignore files of the base name is neither shipped nor held against an agent; what the agent
// itself says is to be ignored counts for nothing.
func TestIgnoredPathsAreLeftOut(t *testing.T) {
	for name, tt := range map[string]struct {
		files  map[string]string
		state  journal.State
		reason string
		ships  string // names of the commit's changes
	}{
		"caches beside the work": {map[string]string{"a.txt": "good", "__pycache__/a.pyc": "x", "lib/__pycache__/b.pyc": "x", "debug.log": "x"},
			journal.StateShipped, "", "a.txt"},
		"ignored, though its folder is owned": {map[string]string{"a.txt": "good", "owned/x.log": "x", "owned/y.txt": "y"}, journal.StateShipped, "", "a.txt owned/y.txt"},
		"ignored, but owned by its name":      {map[string]string{"a.txt": "good", "dist/app.log": "x", "dist/other.log": "x"}, journal.StateShipped, "", "a.txt dist/app.log"},
		"nothing else":                        {map[string]string{"debug.log": "x"}, journal.StateNoChanges, "debug.log", ""},
		"tracked, though a rule names it":     {map[string]string{"a.txt": "good", "tracked.log": "changed"}, journal.StateFenceViolation, "tracked.log", ""},
		"a rule of the agent's": {map[string]string{"a.txt": "good", "sub/.gitignore": "*", "sub/x": "x"}, journal.StateFenceViolation,
			"sub/.gitignore (outside_owned), sub/x (outside_owned)", ""},
		"a rule in its own repository": {map[string]string{"a.txt": "good", ".git/info/exclude": "x\n", "x": "x"}, journal.StateFenceViolation, "x (outside_owned)", ""},
		"a repository among the ignored": {map[string]string{"a.txt": "good", ".git/config": "[core]\n\texcludesFile = /x\n", "__pycache__/.git/config": "x", "b/.git/config": "x"},
			journal.StateFenceViolation, "b/.git (git_directory", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("tracked.log", "old")
			w.git(w.repo, "add", "--force", "tracked.log")
			w.write(".gitignore", "tracker.json\n__pycache__/\n*.log\n")
			w.commit("Rules")
			w.git(w.repo, "push", "--quiet")
			w.items(item{"id": "a", "ownsFiles": []string{"a.txt", "owned/", "dist/app.log"}})
			report := w.run(with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				for name, text := range tt.files {
					if err := put(task, name, text); err != nil {
						return driver.Result{}, err
					}
				}
				return driver.Result{}, nil
			}}))
			i := wantState(t, report, "a", tt.state)
			if !strings.Contains(i.Reason, tt.reason) {
				t.Errorf("reason %q does not say %q", i.Reason, tt.reason)
			}
			if tt.state == journal.StateShipped {
				changed := strings.Join(strings.Fields(w.git("", "--git-dir="+w.remote, "diff-tree", "--no-commit-id", "--name-only", "-r", *i.Commit)), " ")
				if changed != tt.ships {
					t.Errorf("shipped %s, want %s", changed, tt.ships)
				}
			}
			log, err := os.ReadFile(filepath.Join(w.state, i.Log))
			must(t, err)
			if name == "caches beside the work" && !strings.Contains(string(log), "left out, by the ignore files of the base: __pycache__, debug.log, lib/__pycache__") {
				t.Errorf("the log does not say what was left out:\n%s", log)
			}
		})
	}
}

// TestTreeThatIgnoreFilesCannotDescribe is the agent's doing: it is judged and counted like any other, not taken for a fault of the set-up.
func TestTreeThatIgnoreFilesCannotDescribe(t *testing.T) {
	for name, tt := range map[string]struct {
		make  func(task driver.Task) error
		state journal.State
	}{
		"too deep for a path": {func(task driver.Task) error {
			root, err := os.OpenRoot(task.Dir)
			if err != nil {
				return err
			}
			defer root.Close()
			for range 30 {
				if err := root.Mkdir(strings.Repeat("d", 200), 0o755); err != nil {
					return err
				}
				if root, err = root.OpenRoot(strings.Repeat("d", 200)); err != nil {
					return err
				}
				defer root.Close()
			}
			return root.WriteFile("file", nil, 0o644)
		}, journal.StateFenceViolation},
		"a folder in the place of the rules": {func(task driver.Task) error {
			if err := os.Remove(filepath.Join(task.Dir, ".gitignore")); err != nil {
				return err
			}
			return put(task, ".gitignore/sub/file", "")
		}, journal.StateFenceViolation},
		"a folder where the engine could have its own": {func(task driver.Task) error { return os.Mkdir(task.Dir+".ignores", 0o755) }, journal.StateShipped},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			report := w.run(with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				return driver.Result{}, errors.Join(put(task, "a.txt", "good\n"), tt.make(task))
			}}))
			wantState(t, report, "a", tt.state)
		})
	}
}

// TestIgnoredWorkIsParked: what the base ignores and the item owns, by its name or by a pattern, may be all that an agent did. It is kept
// and shown; an agent that did nothing leaves nothing.
func TestIgnoredWorkIsParked(t *testing.T) {
	limited := &driver.Error{Class: driver.RateLimited, Message: "later"}
	for name, tt := range map[string]struct {
		owns   []string
		writes string
		err    error
		parked bool
		diff   string // what the diff of the parked tree names
		left   string // what it says is left out
	}{
		"by its name, cut short":         {[]string{"dist/app.js"}, "dist/app.js", limited, true, "dist/app.js", ""},
		"in its folder, cut short":       {[]string{"dist/"}, "dist/app.js", limited, true, "", "dist (left out, by the ignore files of the base)"},
		"in its folder":                  {[]string{"dist/"}, "dist/app.js", nil, true, "", "dist (left out, by the ignore files of the base)"},
		"by a pattern":                   {[]string{"**/*.js"}, "dist/sub/app.js", nil, true, "", "dist (left out, by the ignore files of the base)"},
		"changed what prepare made":      {[]string{"dist/"}, "dist/made", nil, true, "", "dist"},
		"elsewhere":                      {[]string{"a.txt"}, "dist/app.js", nil, false, "", ""},
		"nothing, beside what was there": {[]string{"dist/"}, "", nil, false, "", ""},
		"nothing, cut short":             {[]string{"dist/"}, "", limited, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(".gitignore", "tracker.json\ndist/\n")
			w.commit("Rules")
			w.git(w.repo, "push", "--quiet")
			w.items(item{"id": "a", "ownsFiles": tt.owns})
			store := w.store()
			report := w.runOn(store, making("mkdir dist", "echo made > dist/made"), with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				if tt.writes != "" {
					must(t, put(task, tt.writes, "work\n"))
				}
				return driver.Result{}, tt.err
			}}))
			i := reported(t, report, "a")
			if i.Commit != nil || len(i.Attempts) != 1 || (i.Attempts[0].Parked != nil) != tt.parked {
				t.Fatalf("%s: %s\n%s", i.State, i.Reason, asJSON(i.Attempts))
			}
			if !tt.parked {
				return
			}
			text, err := os.ReadFile(filepath.Join(w.state, *i.Attempts[0].Parked, tt.writes))
			if string(text) != "work\n" {
				t.Errorf("parked is %q (%v)", text, err)
			}
			diff, err := w.archive(store).Diff(t.Context(), report.Wave, "a")
			must(t, err)
			if !strings.Contains(diff.Text, tt.diff) || !strings.Contains(strings.Join(diff.Left, ", "), tt.left) || tt.left == "" && len(diff.Left) > 0 {
				t.Errorf("the diff shows %q and leaves out %q", diff.Text, diff.Left)
			}
		})
	}
}
