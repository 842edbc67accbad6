package wave_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"aesop/driver"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// refuseItemRefs makes a remote take only branches, in one of the ways that remotes have for that.
func (w *world) refuseItemRefs(how string) {
	w.t.Helper()
	switch how {
	case "hidden":
		w.git("", "--git-dir="+w.remote, "config", "receive.hideRefs", "refs/aesop")
	case "hook":
		must(w.t, os.WriteFile(filepath.Join(w.remote, "hooks", "update"),
			[]byte("#!/bin/sh\ncase $1 in refs/heads/*) exit 0;; esac\necho only branches here >&2\nexit 1\n"), 0o755))
	}
}

// TestRemoteThatTakesNoItemRefs gets the branch alone; the report says that the fence is weak, and what shipped is not shipped again.
func TestRemoteThatTakesNoItemRefs(t *testing.T) {
	for _, how := range []string{"hidden", "hook"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			w.refuseItemRefs(how)
			w.items(item{"id": "a"}, item{"id": "b"})
			w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
			store := w.store()
			report := w.runOn(store)
			wantOutcome(t, report, journal.Good)
			row := report.Repositories[0]
			if row.Fence != "weak" || !row.Pushed || row.Error != nil || w.refs()["refs/heads/aesop/"+report.Wave] != *row.SHA {
				t.Errorf("the record: %s; the remote: %v", asJSON(row), w.refs())
			}
			for ref := range w.refs() {
				if !strings.HasPrefix(ref, "refs/heads/") {
					t.Errorf("the remote has %s", ref)
				}
			}
			// The backlog forgets; the branch does not.
			w.items(item{"id": "a"}, item{"id": "b"})
			idle := &agent{work: func(context.Context, driver.Task) (driver.Result, error) {
				t.Error("an agent was started for shipped work")
				return driver.Result{}, nil
			}}
			again := w.runOn(store, with(idle))
			wantOutcome(t, again, journal.Good)
			for _, id := range []string{"a", "b"} {
				i := wantState(t, again, id, journal.StateShipped)
				if !strings.HasPrefix(i.Reason, "adopted") || *i.Branch != "aesop/"+report.Wave || w.read(id).Shipped.Commit != *i.Commit {
					t.Errorf("%s: %s", id, asJSON(i))
				}
			}
			if again.Repositories[0].Fence != "weak" {
				t.Error("the second wave does not know that the fence is weak")
			}
		})
	}
}

// TestWeakFenceHoldsBySignature: a state that lost its memory knows its work by the signature, and is not taken in by a trailer alone,
// nor by what an earlier turn of the item shipped.
func TestWeakFenceHoldsBySignature(t *testing.T) {
	w := newWorld(t)
	w.refuseItemRefs("hidden")
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	first := w.run()
	wantOutcome(t, first, journal.Good)
	// Somebody claims, in a newer wave's name, to have done b.
	w.git(w.repo, "fetch", "--quiet", "origin")
	w.git(w.repo, "commit", "--quiet", "--allow-empty", "--message=Lie\n\nAesop-Item: b\nAesop-Wave: 29990101-000000-aaaa\nAesop-Attempt: x\nAesop-Signature: "+strings.Repeat("0", 64)+"\n")
	w.git(w.repo, "push", "--quiet", "origin", "HEAD:refs/heads/aesop/29990101-000000-aaaa")
	w.git(w.repo, "reset", "--quiet", "--hard", "HEAD~1")
	w.keepOnlyKey()
	w.items(item{"id": "a"}, item{"id": "b"})
	store := w.store()
	second := w.runOn(store) // does not know yet that the fence is weak: it works, is refused, and looks
	for _, id := range []string{"a", "b"} {
		i := wantState(t, second, id, journal.StateShipped)
		if !strings.HasPrefix(i.Reason, "adopted") || *i.Commit != *reported(t, first, id).Commit {
			t.Errorf("%s: %s", id, asJSON(i))
		}
	}
	// The remote took the second wave's branch although it refused the rest; it is not left there as if it were a shipment.
	if at := w.refs()["refs/heads/aesop/"+second.Wave]; at != "" {
		t.Errorf("the second wave left its branch at %s", at)
	}
	// A reopened item is done anew, though the branch of its first turn is there.
	w.edit(`"status": "done"`, `"status": "todo"`)
	w.script(map[string][]attempt{"a": {writes("a.txt", "good again\n")}, "b": {writes("b.txt", "good again\n")}})
	for _, branch := range []string{"aesop/" + first.Wave, "aesop/29990101-000000-aaaa"} { // merged, so that its paths are free
		w.git(w.repo, "fetch", "--quiet", "origin", branch)
		w.git(w.repo, "merge", "--quiet", "--no-edit", "FETCH_HEAD")
	}
	w.git(w.repo, "push", "--quiet", "origin", "main")
	third := w.runOn(store)
	for _, id := range []string{"a", "b"} {
		if i := wantState(t, third, id, journal.StateShipped); strings.HasPrefix(i.Reason, "adopted") || len(i.Attempts) != 1 {
			t.Errorf("%s: %s", id, asJSON(i))
		}
	}
}

// TestKilledWithAWeakFence at every point of the push: the work is on one branch, once.
func TestKilledWithAWeakFence(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not applicable: needs SIGKILL")
	}
	for _, ship := range []string{"push", "local"} {
		for _, point := range []string{"push_intent", "push", "shipped", "settled"} {
			t.Run(ship+"/"+point, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.refuseItemRefs("hidden")
				w.items(item{"id": "a"}, item{"id": "b"})
				w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
				if code, out := w.binary(point, "run", "--ship", ship); code != -1 {
					t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
				}
				if code, out := w.binary("", "resume"); code != 0 {
					t.Fatalf("resume: exit %d\n%s", code, out)
				}
				dir := w.remote
				if ship == "local" {
					dir = filepath.Join(w.repo, ".git")
				}
				branches := strings.Fields(w.git("", "--git-dir="+dir, "for-each-ref", "--format=%(refname)", "refs/heads/aesop"))
				if len(branches) != 1 {
					t.Fatalf("branches %v", branches)
				}
				w.git("", "--git-dir="+dir, "show", branches[0]+":a.txt")
				w.git("", "--git-dir="+dir, "show", branches[0]+":b.txt")
				for _, id := range []string{"a", "b"} {
					wantStatus(t, w.read(id), tracker.Done)
				}
			})
		}
	}
}

func local(c *wave.Config) { c.Local = true }

// TestShipLocal writes one branch into the user's repository, which needs no remote, and nothing else.
func TestShipLocal(t *testing.T) {
	w := newWorld(t)
	w.git(w.repo, "remote", "remove", "origin")
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	before := w.git(w.repo, "for-each-ref") + w.git(w.repo, "status", "--porcelain") + w.git(w.repo, "config", "--list", "--local")
	store := w.store()
	report := w.runOn(store, local)
	wantOutcome(t, report, journal.Good)
	branch := "refs/heads/aesop/" + report.Wave
	row := report.Repositories[0]
	if row.Remote != "." || row.Base != "main" || row.Fence != "weak" || !row.Pushed || w.git(w.repo, "rev-parse", branch) != *row.SHA {
		t.Errorf("the record: %s", asJSON(row))
	}
	w.git(w.repo, "fsck", "--strict", "--no-dangling")
	if w.git(w.repo, "show", branch+":a.txt") != "good" || w.git(w.repo, "show", branch+":b.txt") != "good" {
		t.Error("the branch does not hold the work")
	}
	tip := w.git(w.repo, "rev-parse", branch)
	w.git(w.repo, "update-ref", "-d", branch)
	if after := w.git(w.repo, "for-each-ref") + w.git(w.repo, "status", "--porcelain") + w.git(w.repo, "config", "--list", "--local"); after != before {
		t.Errorf("besides the branch, before:\n%s\nafter:\n%s", before, after)
	}
	w.git(w.repo, "update-ref", branch, tip)
	// A second wave does not begin on what is not merged; merged, it is in the base.
	w.items(item{"id": "a", "status": "done", "shipped": map[string]string{"wave": report.Wave, "branch": "aesop/" + report.Wave, "commit": *reported(t, report, "a").Commit}},
		item{"id": "c", "dependsOn": []string{"a"}})
	w.script(map[string][]attempt{"c": good("c")})
	if second := w.runOn(store, local); second.Outcome != journal.NothingSelectable || second.Skipped[0].Reason != "blocked_by" {
		t.Errorf("before the merge: %s, %s", second.Outcome, asJSON(second.Skipped))
	}
	w.git(w.repo, "merge", "--quiet", "--ff-only", branch)
	second := w.runOn(store, local)
	wantState(t, second, "c", journal.StateShipped)
}

// TestNoRemoteNamesTheWayOut: without a remote, and nothing said, nothing is written.
func TestNoRemoteNamesTheWayOut(t *testing.T) {
	w := newWorld(t)
	w.git(w.repo, "remote", "remove", "origin")
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	_, err := w.scheduler().Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "set ship to local") {
		t.Errorf("error %v", err)
	}
}

// TestLocalShipmentSaysNothingOfTheRemote: a wave that shipped locally says nothing about the remote.
func TestLocalShipmentSaysNothingOfTheRemote(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	wantOutcome(t, w.runOn(store, local), journal.Good)
	w.items(item{"id": "b"})
	report := w.runOn(store)
	wantOutcome(t, report, journal.Good)
	if report.Repositories[0].Fence != "item_refs" || w.refs()["refs/aesop/items/b"] == "" {
		t.Errorf("a remote that takes item refs got none: fence %s, remote %v", report.Repositories[0].Fence, w.refs())
	}
}

// TestWeakFenceStillLooksAtItemRefs: once a state takes the fence for weak, it does not look at the item refs that are on the remote.
func TestWeakFenceStillLooksAtItemRefs(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "z"})
	w.script(map[string][]attempt{"z": good("z"), "a": {writes("a.txt", "good\n")}})
	store := w.store()
	wantOutcome(t, w.runOn(store, local), journal.Good)
	// Another state of the fleet, with the same key, ships a, and the branch is removed; main goes on.
	w.items(item{"id": "a"})
	other := *w
	other.state += "-2"
	theirs := other.store()
	copyKey(t, store, theirs)
	first := other.runOn(theirs)
	wantOutcome(t, first, journal.Good)
	w.git("", "--git-dir="+w.remote, "update-ref", "-d", "refs/heads/aesop/"+first.Wave)
	// This state has a backlog that does not know.
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": {writes("a.txt", "good, otherwise\n")}})
	second := w.runOn(store)
	i := wantState(t, second, "a", journal.StateShipped)
	if !strings.HasPrefix(i.Reason, "adopted") {
		t.Errorf("a shipped twice: %s holds %s, and now also %s is on %v", "refs/aesop/items/a", w.refs()["refs/aesop/items/a"], *i.Commit, w.refs())
	}
}

// TestRemoteThatRefusedEverythingOnceIsNotWeak: a hook that refuses everything once is no remote that takes no item refs.
func TestRemoteThatRefusedEverythingOnceIsNotWeak(t *testing.T) {
	w := newWorld(t)
	must(t, os.WriteFile(filepath.Join(w.remote, "hooks", "pre-receive"), []byte("#!/bin/sh\ntest -e once && exit 0\ntouch once\necho busy, try again >&2\nexit 1\n"), 0o755))
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	first := w.runOn(store)
	w.items(item{"id": "b"})
	second := w.runOn(store)
	if second.Repositories[0].Fence != "item_refs" || w.refs()["refs/aesop/items/b"] == "" {
		t.Errorf("fences %s, %s: the remote takes item refs: %v", first.Repositories[0].Fence, second.Repositories[0].Fence, w.refs())
	}
}

// refusedByHalf runs a wave whose push the remote refuses but for the branch; then somebody changes the item's file on main.
func (w *world) refusedByHalf(store statestore.Store) wave.Report {
	w.t.Helper()
	w.refuseItemRefs("hidden")
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	meanwhile := sync.OnceFunc(func() { w.pushMain("a.txt", "theirs\n") })
	return w.runOn(store, atEvent("push_failed", func(journal.Event) { meanwhile() }))
}

// TestBranchOfARefusedPushIsTakenBack: git 2.39 moves the branch although it refuses the items' refs; then the items leave the wave.
func TestBranchOfARefusedPushIsTakenBack(t *testing.T) {
	w := newWorld(t)
	report := w.refusedByHalf(w.store())
	i := wantState(t, report, "a", journal.StateIntegrationFailed)
	if at := w.refs()["refs/heads/aesop/"+report.Wave]; at != "" {
		t.Errorf("a is %s (%s), pushed %t, and the branch stays on the remote at %s", i.State, i.Reason, report.Repositories[0].Pushed, at)
	}
}

// TestKilledAfterAHalfPush: killed after the push of which a git 2.39 took the branch alone; the base moves; resumed.
func TestKilledAfterAHalfPush(t *testing.T) {
	w := newWorld(t)
	w.refuseItemRefs("hidden")
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	if code, out := w.binary("push", "run"); code != -1 {
		t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
	}
	w.pushMain("other.txt", "other\n")
	for range 2 {
		if code, out := w.binary("", "resume"); code != 0 {
			t.Errorf("resume: exit %d\n%s\n%v", code, out, w.refs())
		}
	}
	wantStatus(t, w.read("a"), tracker.Done)
}

// TestRetryAfterARefusedPush: what a remote took from a push that it refused is no shipment, and the item is done anew.
func TestRetryAfterARefusedPush(t *testing.T) {
	w := newWorld(t)
	store := w.store()
	wantState(t, w.refusedByHalf(store), "a", journal.StateIntegrationFailed)
	w.edit(`"status": "failed"`, `"status": "todo"`)
	w.script(map[string][]attempt{"a": {writes("a.txt", "theirs, and good\n")}})
	i := wantState(t, w.runOn(store), "a", journal.StateShipped)
	if text := w.show(*i.Commit, "a.txt"); text != "theirs, and good" {
		t.Errorf("shipped %q (%s)", text, i.Reason)
	}
}

// TestSquashedAfterAWeakPush: a push without item refs landed, the process died, and people squashed the branch and removed it.
func TestSquashedAfterAWeakPush(t *testing.T) {
	w := newWorld(t)
	w.refuseItemRefs("hidden")
	w.items(item{"id": "z"})
	w.script(map[string][]attempt{"z": good("z"), "a": good("a")})
	if code, out := w.binary("", "run"); code != 0 {
		t.Fatal(code, out)
	}
	w.items(item{"id": "a"})
	if code, out := w.binary("push", "run"); code != -1 {
		t.Fatalf("exit %d, the failpoint was not reached\n%s", code, out)
	}
	var branch string
	for ref, at := range w.refs() {
		if strings.HasPrefix(ref, "refs/heads/aesop/") && strings.Contains(w.git("", "--git-dir="+w.remote, "ls-tree", "--name-only", at), "a.txt") {
			branch = ref
		}
	}
	w.git(w.repo, "fetch", "--quiet", "origin", branch)
	w.git(w.repo, "merge", "--quiet", "--squash", "FETCH_HEAD")
	w.git(w.repo, "commit", "--quiet", "--message=Squashed")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	w.git(w.repo, "push", "--quiet", "origin", ":"+branch)
	code, _ := w.binary("", "resume")
	if row := w.read("a"); row.Status != tracker.Done {
		t.Errorf("resume exits %d; a is in main, and in the backlog %s: %s", code, row.Status, row.StatusReason)
	}
}
