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

// others is a clone from which somebody pushes to main.
func (w *world) others() string {
	dir := filepath.Join(w.dir, "others")
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		w.git("", "clone", "--quiet", w.remote, dir)
	}
	return dir
}

// pushMain commits a file to main of the remote, as somebody else.
func (w *world) pushMain(name, text string) string {
	w.t.Helper()
	dir := w.others()
	must(w.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	w.git(dir, "add", "--all")
	w.git(dir, "commit", "--quiet", "--message=Meanwhile")
	w.git(dir, "push", "--quiet", "origin", "HEAD:main")
	return w.git(dir, "rev-parse", "HEAD")
}

// TestItemsFollowTheBase: what was verified is made anew on the tip that the base branch has now, and tested there.
func TestItemsFollowTheBase(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text string // what somebody pushes meanwhile
		state      journal.State
		reason     string
	}{
		"beside it":       {"other.txt", "other\n", journal.StateShipped, ""},
		"breaks its test": {"strict", "yes\n", journal.StateIntegrationFailed, "where its test fails"},
		"the same file":   {"a.txt", "theirs\n", journal.StateIntegrationFailed, "where others changed a.txt too"},
		"a twin of it":    {"A.txt", "theirs\n", journal.StateIntegrationFailed, "where others have a.txt (twin: of A.txt)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a", "testCmd": "grep -q good a.txt && test ! -e strict"}, item{"id": "b"})
			base, tip := w.git(w.repo, "rev-parse", "HEAD"), ""
			worked := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				if task.Item == "a" {
					tip = w.pushMain(tt.file, tt.text)
				}
				return driver.Result{}, put(task, task.Item+".txt", "good\n")
			}}
			store := w.store()
			report := w.runOn(store, with(worked))
			if report.Repositories[0].BaseCommit == nil || *report.Repositories[0].BaseCommit != tip || *report.Base != tip {
				t.Errorf("the base is %s, want %s", asJSON(report.Repositories), tip)
			}
			shipped := []string{"b"}
			i := wantState(t, report, "a", tt.state)
			if tt.state == journal.StateShipped {
				shipped = []string{"a", "b"}
			} else if !strings.Contains(i.Reason, tt.reason) || !strings.Contains(i.Reason, "main moved on to "+tip[:10]) {
				t.Errorf("reason %q", i.Reason)
			}
			for _, id := range shipped {
				i := wantState(t, report, id, journal.StateShipped)
				if parent := w.git("", "--git-dir="+w.remote, "log", "-1", "--format=%P", *i.Commit); parent != tip {
					t.Errorf("%s stands on %s, want %s", id, parent, tip)
				}
				if tree := w.git("", "--git-dir="+w.remote, "rev-parse", *i.Commit+"^{tree}"); tree != *i.TreeSHA || len(i.Attempts) != 1 {
					t.Errorf("%s: tree %s, the report has %s", id, tree, asJSON(i))
				}
				if w.show(*i.Commit, tt.file) == "" {
					t.Errorf("%s has not what the base has", id)
				}
			}
			if tt.state != journal.StateShipped { // the work is kept
				wantStatus(t, w.read("a"), tracker.Failed)
				diff, err := wave.Archive{State: w.state, Store: store}.Diff(t.Context(), report.Wave, "a")
				must(t, err)
				if diff.Base != base || !strings.Contains(diff.Text, "+good") || strings.Contains(diff.Text, "theirs") {
					t.Errorf("the kept work: %s", asJSON(diff))
				}
			}
		})
	}
}

// TestBaseThatIsNotFollowed is left where it was, and the work ships on what it was tested on.
func TestBaseThatIsNotFollowed(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile func(w *world)
		verify    string
	}{
		"rewritten": {func(w *world) {
			dir := w.others()
			w.git(dir, "commit", "--quiet", "--amend", "--message=Begin anew")
			w.git(dir, "push", "--quiet", "--force", "origin", "HEAD:main")
		}, "true"},
		"gone":   {func(w *world) { w.git("", "--git-dir="+w.remote, "update-ref", "-d", "refs/heads/main") }, "true"},
		"broken": {func(w *world) { w.pushMain("broken", "yes\n") }, "test ! -e broken"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			base := w.git(w.repo, "rev-parse", "HEAD")
			worked := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				tt.meanwhile(w)
				return driver.Result{}, put(task, "a.txt", "good\n")
			}}
			report := w.run(with(worked), func(c *wave.Config) { c.Verify = tracker.Command{Shell: tt.verify} })
			i := wantState(t, report, "a", journal.StateShipped)
			if parent := w.git("", "--git-dir="+w.remote, "log", "-1", "--format=%P", *i.Commit); parent != base || *report.Base != base {
				t.Errorf("a stands on %s, the report has %s, want %s", parent, *report.Base, base)
			}
		})
	}
}

// TestBaseThatNeverRests is followed a few times, and then the work ships.
func TestBaseThatNeverRests(t *testing.T) {
	w := newWorld(t)
	others := w.others()
	w.git(others, "config", "user.name", "Other")
	w.git(others, "config", "user.email", "other@example.com")
	// Every run of the test pushes to main.
	push := filepath.Join(w.dir, "push.sh")
	must(t, os.WriteFile(push, []byte("cd '"+others+"' && git commit --quiet --allow-empty --message=More && git push --quiet origin HEAD:main\n"), 0o644))
	w.items(item{"id": "a", "testCmd": "sh '" + push + "' && grep -q good a.txt"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	report := w.runOn(store)
	wantState(t, report, "a", journal.StateShipped)
	tested := strings.Count(w.git("", "--git-dir="+w.remote, "log", "--format=%s", "main"), "More")
	if tested != 5 { // on the base, on the commit and once more, and after each of two moves
		t.Errorf("tested %d times", tested)
	}
}

// TestKilledWhileItemsFollow: the resumed wave brings all of them onto the newer base.
func TestKilledWhileItemsFollow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not applicable: needs SIGKILL")
	}
	for _, point := range []string{"base_moved", "rebased", "push_intent"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.items(item{"id": "a"}, item{"id": "b"})
			others := w.others()
			w.git(others, "config", "user.name", "Other")
			w.git(others, "config", "user.email", "other@example.com")
			w.script(map[string][]attempt{"a": {{"files": map[string]string{"a.txt": "good\n"}, "exec": "git -C '" + others + "' commit --quiet --allow-empty --message=More && git -C '" + others + "' push --quiet origin HEAD:main"}},
				"b": good("b")})
			if code, out := w.binary(point, "run"); code != -1 {
				t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
			}
			if code, out := w.binary("", "resume"); code != 0 {
				t.Fatalf("resume: exit %d\n%s", code, out)
			}
			main := w.refs()["refs/heads/main"]
			for _, id := range []string{"a", "b"} {
				shipped := w.refs()["refs/aesop/items/"+id]
				if parent := w.git("", "--git-dir="+w.remote, "log", "-1", "--format=%P", shipped); parent != main {
					t.Errorf("%s stands on %s, want %s", id, parent, main)
				}
			}
		})
	}
}

// TestTestsOfOthersAreNoneOfTheItem: how many there were before the change is counted on the newer base, whether others removed tests
// there or added some that the change loses.
func TestTestsOfOthersAreNoneOfTheItem(t *testing.T) {
	const count = `n=$(cat count*.txt | grep -c .); test -e fewer.txt && n=2; echo "$n passed in 0.01s"`
	for name, tt := range map[string]struct {
		own, verify string
		file, text  string // what others push
		change      string // file of the item
		state       journal.State
	}{
		"removed, the item's test":       {count + "; grep -q good a.txt", "", "count.txt", "1\n2\n", "a.txt", journal.StateShipped},
		"removed, the repository's test": {"grep -q good a.txt", count, "count.txt", "1\n2\n", "a.txt", journal.StateShipped},
		"lost, the item's test":          {strings.Replace(count, "n=2", "n=3", 1), "", "count2.txt", "4\n", "fewer.txt", journal.StateIntegrationFailed},
		"lost, the repository's test":    {"test -e fewer.txt", strings.Replace(count, "n=2", "n=3", 1), "count2.txt", "4\n", "fewer.txt", journal.StateIntegrationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("count.txt", "1\n2\n3\n")
			w.commit("Count")
			w.git(w.repo, "push", "--quiet")
			w.items(item{"id": "a", "testCmd": tt.own, "ownsFiles": []string{tt.change}})
			report := w.run(with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				w.pushMain(tt.file, tt.text)
				return driver.Result{}, put(task, tt.change, "good\n")
			}}), func(c *wave.Config) {
				if tt.verify != "" {
					c.Verify = tracker.Command{Shell: tt.verify}
				}
			})
			i := wantState(t, report, "a", tt.state)
			if tt.state != journal.StateShipped && !strings.Contains(i.Failure.Tail, "than before the change: 3, not 4") {
				t.Errorf("%s", asJSON(i.Failure))
			}
		})
	}
}
