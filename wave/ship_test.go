package wave_test

import (
	"strings"
	"testing"

	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

func TestShipsWhatIsProven(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "title": "Do\na thing"})
	w.script(map[string][]attempt{"a": good("a")})
	before := w.refs()
	report := w.run()
	wantOutcome(t, report, journal.Good)
	i := wantState(t, report, "a", journal.StateShipped)
	refs := w.refs()
	branch := "aesop/" + report.Wave
	if refs["refs/heads/"+branch] != *i.Commit || refs["refs/aesop/items/a"] != *i.Commit || refs["refs/heads/main"] != before["refs/heads/main"] {
		t.Fatalf("refs of the remote: %v, commit %s", refs, *i.Commit)
	}
	if got := w.show(*i.Commit, "a.txt"); got != "good" {
		t.Errorf("a.txt at the commit: %q", got)
	}
	if parent := w.git("", "--git-dir="+w.remote, "rev-parse", *i.Commit+"^"); parent != before["refs/heads/main"] || parent != *report.Base {
		t.Errorf("parent %s, report's base %s", parent, *report.Base)
	}
	if subject := w.git("", "--git-dir="+w.remote, "log", "-1", "--format=%s", *i.Commit); subject != "Do a thing" {
		t.Errorf("subject %q", subject)
	}
	row := w.read("a")
	wantStatus(t, row, tracker.Done)
	if row.Claim != nil || row.Shipped == nil || *row.Shipped != (tracker.Shipped{Wave: report.Wave, Branch: branch, Commit: *i.Commit}) {
		t.Errorf("backlog row: %+v, shipped %+v", row, row.Shipped)
	}
	if report.Merged || !i.Verified || *i.Proof != "exit_only" || *i.TestExit != 0 {
		t.Errorf("report of the item: %s", asJSON(i))
	}
}

func TestRepairsWithTheFailureItWasShown(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": "cat a.txt; echo complaint >&2; grep -q good a.txt"})
	w.script(map[string][]attempt{"a": {writes("a.txt", "poor\n"), writes("a.txt", "good\n")}})
	report := w.run()
	i := wantState(t, report, "a", journal.StateShipped)
	if len(i.Attempts) != 2 || i.Attempts[0].Outcome != "not_verified" || i.Attempts[1].Outcome != "verified" {
		t.Errorf("attempts: %s", asJSON(i.Attempts))
	}
	if n := w.git("", "--git-dir="+w.remote, "rev-list", "--count", "main.."+*i.Commit); n != "1" {
		t.Errorf("the item has %s commits, want one", n)
	}
}

func TestDoneIsNotDoneWhileTestsFail(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": {{"files": map[string]string{"a.txt": "poor\n"}, "say": "all done, tests pass"}}, "b": good("b")})
	report := w.run()
	wantOutcome(t, report, journal.Partial)
	i := wantState(t, report, "a", journal.StateNotVerified)
	wantState(t, report, "b", journal.StateShipped)
	if i.Verified || i.Pushed || i.Commit != nil || i.Failure == nil || i.Failure.Step != "verify" || *i.Failure.Exit != 1 {
		t.Errorf("report: %s", asJSON(i))
	}
	if len(i.Attempts) != 4 {
		t.Errorf("%d attempts, want the first and three repairs of tier 4", len(i.Attempts))
	}
	wantStatus(t, w.read("a"), tracker.Failed)
	if w.read("a").Attempts != 1 {
		t.Errorf("attempts in the backlog: %d", w.read("a").Attempts)
	}
	if _, pushed := w.refs()["refs/aesop/items/a"]; pushed {
		t.Error("the item has a ref on the remote")
	}
}

func TestUnionOfItemsIsOneBranch(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"}, item{"id": "c"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "c": good("c")})
	report := w.run()
	wantOutcome(t, report, journal.Good)
	tip := w.refs()["refs/heads/aesop/"+report.Wave]
	for _, id := range []string{"a", "b", "c"} {
		i := wantState(t, report, id, journal.StateShipped)
		if w.refs()["refs/aesop/items/"+id] != *i.Commit {
			t.Errorf("%s: item ref is not its commit", id)
		}
		if w.show(tip, id+".txt") != "good" {
			t.Errorf("%s.txt is not in the union", id)
		}
		w.git("", "--git-dir="+w.remote, "merge-base", "--is-ancestor", *i.Commit, tip)
	}
}

func TestOffenderOfTheUnionIsDropped(t *testing.T) {
	w := newWorld(t)
	// Each passes alone; together the files are one too many.
	few := "test $(ls *.txt | wc -l) -le 3 && grep -q good "
	w.items(item{"id": "a", "testCmd": few + "a.txt"}, item{"id": "b", "testCmd": few + "b.txt"}, item{"id": "c", "testCmd": few + "c.txt"},
		item{"id": "d", "testCmd": few + "d.txt"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "c": good("c"), "d": good("d")})
	report := w.run()
	wantOutcome(t, report, journal.Partial)
	for _, id := range []string{"a", "b", "c"} {
		wantState(t, report, id, journal.StateShipped)
	}
	i := wantState(t, report, "d", journal.StateIntegrationFailed)
	if i.Failure == nil || i.Failure.Step != "integrate" {
		t.Errorf("failure: %s", asJSON(i.Failure))
	}
	wantStatus(t, w.read("d"), tracker.Failed)
}

func TestVerifyCommandJudgesTheUnion(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	report := w.run(func(c *wave.Config) { c.Verify = tracker.Command{Shell: "! test -e b.txt"} })
	wantOutcome(t, report, journal.Partial)
	wantState(t, report, "a", journal.StateShipped)
	wantState(t, report, "b", journal.StateIntegrationFailed)
}

func TestRedBaseStopsBeforeAnyAgent(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	verify := func(c *wave.Config) { c.Verify = tracker.Command{Shell: "echo broken; exit 7"} }
	report := w.run(verify)
	wantOutcome(t, report, journal.BaseRed)
	if i := wantState(t, report, "a", journal.StateCancelled); len(i.Attempts) != 0 {
		t.Errorf("an agent was paid: %s", asJSON(i))
	}
	if report.Error == nil || report.Error.Code != "base_red" || !strings.Contains(report.Error.Message, "broken") {
		t.Errorf("error: %s", asJSON(report.Error))
	}
	wantStatus(t, w.read("a"), tracker.Todo)
	report = w.run(verify, func(c *wave.Config) { c.AllowRedBase = true })
	wantOutcome(t, report, journal.Good)
}

func TestNoChangesBlocksTheItem(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": "true"})
	w.script(map[string][]attempt{"a": {{"say": "nothing to do"}}})
	report := w.run()
	wantOutcome(t, report, journal.Failed)
	wantState(t, report, "a", journal.StateNoChanges)
	wantStatus(t, w.read("a"), tracker.Blocked)
}
