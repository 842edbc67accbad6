package wave_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

func TestTheAgentsOwnTreeProvesNothing(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": "grep -q good a.txt && test -d empty && test -e .git/planted"})
	w.script(map[string][]attempt{"a": {{"exec": "echo good > a.txt; mkdir empty; echo > .git/planted; grep -q good a.txt && test -d empty && test -e .git/planted"}}})
	wantState(t, w.run(), "a", journal.StateNotVerified)
}

func TestTestsStartWithTheCachesOfTheBase(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": `test -e a.txt || { echo > "$XDG_CACHE_HOME/seen"; exit 1; }; test -e "$XDG_CACHE_HOME/seen"`})
	w.script(map[string][]attempt{"a": good("a")})
	wantState(t, w.run(), "a", journal.StateShipped)
}

func TestOffenderInTheMiddleIsFound(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"}, item{"id": "c"}, item{"id": "d"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "c": good("c"), "d": good("d")})
	report := w.run(func(c *wave.Config) { c.Verify = tracker.Command{Shell: "! { test -e b.txt && test -e c.txt; }"} })
	for _, id := range []string{"a", "b", "d"} {
		wantState(t, report, id, journal.StateShipped)
	}
	wantState(t, report, "c", journal.StateIntegrationFailed)
}

func TestItemShippedWhileTheWavePushesIsAdoptedAndTheRestShips(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	// Another machine of the fleet, with a backlog and a store of its own and the same key, ships one of the items first.
	other := &world{t: t, dir: w.dir, repo: w.repo, remote: w.remote, state: w.state + "-other", backlog: filepath.Join(w.dir, "other.json"), scriptFile: w.scriptFile}
	other.items(item{"id": "a"})
	first := ""
	race := &onEvent{event: "push_intent", act: func() {
		if first != "" {
			return
		}
		theirs := other.store()
		copyKey(t, store, theirs)
		first = *wantState(t, other.runOn(theirs), "a", journal.StateShipped).Commit
	}}
	report := w.runOn(store, func(c *wave.Config) { c.Observers = []wave.Observer{race} })
	wantOutcome(t, report, journal.Good)
	if i := wantState(t, report, "a", journal.StateShipped); *i.Commit != first || w.refs()[wave.ItemRef("a")] != first || i.Reason == "" {
		t.Errorf("a was not adopted: %s", asJSON(i))
	}
	if i := wantState(t, report, "b", journal.StateShipped); w.refs()[wave.ItemRef("b")] != *i.Commit {
		t.Errorf("b: ref %s, report %s", w.refs()[wave.ItemRef("b")], *i.Commit)
	}
}

func TestResumeEndsWhatLeftTheAgentsGroup(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the process table of Linux")
	}
	w := newWorld(t)
	w.items(item{"id": "a"})
	mark := filepath.Join(w.dir, "left")
	w.script(map[string][]attempt{"a": {{"exec": "test -e " + mark + " && { echo good > a.txt; exit; }; setsid -f sh -c 'while :; do sleep 0.1; done'; echo > " + mark + "; kill -9 $PPID; sleep 60"}}})
	if code, _ := w.binary("", "run"); code != -1 {
		t.Fatalf("exit %d", code)
	}
	entries, err := os.ReadDir(filepath.Join(w.state, "trees"))
	must(t, err)
	id := entries[len(entries)-1].Name()[:20]
	if len(marked(t, id)) == 0 {
		t.Fatal("nothing outlived the engine, and the test shows nothing")
	}
	if code, out := w.binary("", "resume"); code != 0 {
		t.Fatalf("resume: exit %d\n%s", code, out)
	}
	if left := marked(t, id); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
