package wave_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

func TestReusedIDDoesNotInheritDone(t *testing.T) {
	for name, forget := range map[string]func(*world){"known": func(*world) {}, "by signature only": func(w *world) { w.keepOnlyKey() }} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "1"})
			w.script(map[string][]attempt{"1": good("1"), "new": {writes("n.txt", "good")}})
			wantOutcome(t, w.run(), journal.Good)
			forget(w)
			w.items(item{"id": "1", "slug": "new", "ownsFiles": []string{"n.txt"}, "testCmd": "grep good n.txt"})
			report := w.run()
			i := wantState(t, report, "1", journal.StateSetupFailed)
			if i.Pushed || i.Failure == nil {
				t.Errorf("report: %s", asJSON(i))
			}
			wantStatus(t, w.read("1"), tracker.Todo)
		})
	}
}

func TestAnothersCommitAtAnItemRefIsNotAdopted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b", "status": "blocked"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	wantOutcome(t, w.run(), journal.Good)
	w.git("", "--git-dir="+w.remote, "update-ref", "refs/aesop/items/b", w.refs()["refs/aesop/items/a"])
	w.edit(`"blocked"`, `"todo"`)
	wantState(t, w.run(), "b", journal.StateSetupFailed)
}

func TestIDsNeverShareARef(t *testing.T) {
	ids := []string{"a", "A", "x-41", "x-2d", "a/b", "a b", "caches", "base", "wave", "_wave", "items", strings.Repeat("y", 100), strings.Repeat("y", 101), strings.Repeat("Ä", 200), "..", "-"}
	seen := map[string]string{}
	for _, id := range ids {
		ref := wave.ItemRef(id)
		if other, taken := seen[ref]; taken {
			t.Errorf("%q and %q share %s", id, other, ref)
		}
		seen[ref] = id
		if name := filepath.Base(ref); len(name) > 210 {
			t.Errorf("the name of %q has %d bytes", id, len(name))
		}
	}
}

func TestOddIDsShip(t *testing.T) {
	w := newWorld(t)
	plays := map[string][]attempt{}
	var rows []item
	for n, id := range []string{"caches", "wave", "A b/c", strings.Repeat("Q", 150)} {
		slug := string(rune('a' + n))
		rows = append(rows, item{"id": id, "slug": slug, "ownsFiles": []string{slug + ".txt"}, "prompt": "x", "testCmd": "grep good " + slug + ".txt"})
		plays[slug] = good(slug)
	}
	w.items(rows...)
	w.script(plays)
	report := w.run(func(c *wave.Config) { c.Verify = tracker.Command{Shell: "true"} })
	wantOutcome(t, report, journal.Good)
}

func TestFileAndFolderOfOneNameDoNotShipTogether(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "ownsFiles": []string{"docs/*"}, "testCmd": "true"}, item{"id": "b", "ownsFiles": []string{"docs/guide/*"}, "testCmd": "true"})
	w.script(map[string][]attempt{"a": {writes("docs/guide", "x")}, "b": {writes("docs/guide/intro.md", "y")}})
	report := w.run()
	if len(report.Items) == 1 { // the overlap was seen before
		return
	}
	wantState(t, report, "a", journal.StateShipped)
	wantState(t, report, "b", journal.StateIntegrationFailed)
}

func TestTextChangedMeanwhileIsReported(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		w.edit("Write a.txt.", "Write another a.txt.")
		return driver.Result{}, put(task, "a.txt", "good")
	}}
	i := wantState(t, w.run(with(played)), "a", journal.StateShipped)
	if !strings.Contains(i.Reason, "changed meanwhile") {
		t.Errorf("reason: %q", i.Reason)
	}
}

func TestClaimThatTheBacklogLostIsReported(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	original, err := os.ReadFile(w.backlog)
	must(t, err)
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, errors.Join(os.WriteFile(w.backlog, original, 0o644), put(task, "a.txt", "good"))
	}}
	i := wantState(t, w.run(with(played)), "a", journal.StateShipped)
	if !strings.Contains(i.Reason, "could not be told") {
		t.Errorf("reason: %q", i.Reason)
	}
}

func TestAgentThatRemovesItsFolderIsCounted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	report := w.run(with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, os.RemoveAll(task.Dir)
	}}))
	wantState(t, report, "a", journal.StateDriverFailed)
	if row := w.read("a"); row.Attempts != 1 {
		t.Errorf("attempts: %d", row.Attempts)
	}
}

func TestPlantedHookStopsThePush(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	ran := filepath.Join(w.dir, "hook-ran")
	hook := filepath.Join(w.repo, ".git", "hooks", "pre-push")
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, errors.Join(os.WriteFile(hook, []byte("#!/bin/sh\necho > "+ran+"\n"), 0o755), put(task, "a.txt", "good"))
	}}
	report := w.run(with(played))
	wantOutcome(t, report, journal.GateUnavailable)
	if _, err := os.Stat(ran); err == nil {
		t.Error("the planted hook ran")
	}
	must(t, os.Remove(hook))
	reports, err := w.scheduler(with(played)).Resume(t.Context(), "")
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
}

func TestResumeKeepsThePlannedVerifyAndRemote(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	started := make(chan struct{})
	s := w.schedulerOn(store, with(stuck(started)), func(c *wave.Config) { c.Verify = tracker.Command{Shell: "! test -e a.txt"} })
	go func() { <-started; s.Stop() }()
	report, err := s.Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Interrupted)
	w.git("", "clone", "--quiet", "--bare", w.remote, filepath.Join(w.dir, "fork.git"))
	w.git(w.repo, "remote", "add", "fork", filepath.Join(w.dir, "fork.git"))
	reports, err := w.schedulerOn(store, func(c *wave.Config) { c.Remote = "fork" }).Resume(t.Context(), "")
	must(t, err)
	i := wantState(t, reports[0], "a", journal.StateIntegrationFailed) // by the verify command that the wave began with
	if i.Backend != "script" || len(i.Attempts) != 2 {
		t.Errorf("report: %s", asJSON(i))
	}
	if refs := w.git("", "--git-dir="+filepath.Join(w.dir, "fork.git"), "for-each-ref", "refs/aesop", "refs/heads/aesop"); refs != "" {
		t.Errorf("the fork was pushed to: %s", refs)
	}
}

func TestTreeOfAKilledAgentIsParkedAndListed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	w := newWorld(t)
	w.items(item{"id": "a"})
	mark := filepath.Join(w.dir, "killed")
	w.script(map[string][]attempt{"a": {{"exec": "test -e " + mark + " && { echo good > a.txt; exit; }; echo half > partial; echo > " + mark + "; kill -9 $PPID; sleep 60"}}})
	if code, _ := w.binary("", "run"); code != -1 {
		t.Fatalf("exit %d", code)
	}
	t.Setenv("HOME", filepath.Join(w.dir, "home")) // git has the same configuration as in the process that died
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	reports, err := w.scheduler().Resume(t.Context(), "")
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
	first := reported(t, reports[0], "a").Attempts[0]
	if first.Parked == nil {
		t.Fatalf("attempts: %s", asJSON(first))
	}
	if data, err := os.ReadFile(filepath.Join(w.state, *first.Parked, "partial")); err != nil || string(data) != "half\n" {
		t.Errorf("parked work: %q, %v", data, err)
	}
}

func TestAgentThatKeepsKillingTheEngineIsGivenUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": {{"exec": "kill -9 $PPID; sleep 60"}}})
	for n := range 3 {
		command := "run"
		if n > 0 {
			command = "resume"
		}
		if code, out := w.binary("", command); code != -1 {
			t.Fatalf("%s %d: exit %d\n%s", command, n, code, out)
		}
	}
	if code, out := w.binary("", "resume"); code != 1 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	if row := w.read("a"); row.Attempts != 1 || row.Claim != nil {
		t.Errorf("row: %+v", row)
	}
}

func TestSquashMergedWorkIsInTheBase(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b", "dependsOn": []string{"a"}})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	first := w.run()
	w.git(w.repo, "fetch", "--quiet", "origin")
	w.git(w.repo, "merge", "--quiet", "--squash", "origin/aesop/"+first.Wave)
	w.commit("squashed")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	wantOutcome(t, w.run(), journal.Good)
}

func TestStateMayMove(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	started := make(chan struct{})
	s := w.scheduler(with(stuck(started)))
	go func() { <-started; s.Stop() }()
	_, err := s.Run(t.Context())
	must(t, err)
	moved := w.state + "-moved"
	must(t, os.CopyFS(moved, os.DirFS(w.state)))
	w.state = moved
	reports, err := w.scheduler().Resume(t.Context(), "")
	must(t, err)
	if len(reports) != 1 {
		t.Fatalf("reports: %s", asJSON(reports))
	}
	wantOutcome(t, reports[0], journal.Good)
}

func TestHookOfTheRemoteThatRemovesTheBranch(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	w.hook("post-receive", "git for-each-ref --format='delete %(refname)' refs/heads/aesop | git update-ref --stdin")
	i := wantState(t, w.run(), "a", journal.StateShipped)
	if i.Reason != "" || !i.Verified {
		t.Errorf("report: %s", asJSON(i))
	}
}

// A rival claims an item at the moment at which a wave has planned it.
func TestDrainGoesOnWhereOthersWereFaster(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "priority": "P0"}, item{"id": "b"}, item{"id": "c"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "c": good("c")})
	planned := 0
	r := &onEvent{event: "planned", act: func() {
		if planned++; planned == 2 { // b is planned
			if _, err := w.tracker().Claim(t.Context(), tracker.Holder{Owner: "rival"}, time.Hour, tracker.Want{ID: "b"}); err != nil {
				t.Error(err)
			}
		}
	}}
	reports, err := w.scheduler(func(c *wave.Config) { c.MaxItems, c.Observers = 1, []wave.Observer{r} }).Drain(t.Context())
	must(t, err)
	wantStatus(t, w.read("c"), tracker.Done)
	if len(reports) != 2 || reports[1].Outcome != journal.Good {
		t.Errorf("%d waves: %s", len(reports), asJSON(reports))
	}
}

// onEvent acts each time an event is stored.
type onEvent struct {
	event string
	act   func()
}

func (o *onEvent) Observe(_ *journal.Wave, e journal.Event) {
	if e.Type() == o.event {
		o.act()
	}
}

func TestPathBeyondAnyCheckoutEndsItsItemOnly(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "ownsFiles": []string{"d/"}, "testCmd": "true"}, item{"id": "b"})
	deep := "i=0; while test $i -lt 600; do mkdir d && cd d || exit 1; i=$((i+1)); done; echo x > f"
	w.script(map[string][]attempt{"a": {{"exec": deep}}, "b": good("b")})
	report := w.run()
	wantState(t, report, "a", journal.StateFenceViolation)
	wantState(t, report, "b", journal.StateShipped)
}

func TestLinkInThePlaceOfTheTreeIsNotFollowed(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	elsewhere := filepath.Join(w.dir, "elsewhere")
	must(t, os.Mkdir(elsewhere, 0o755))
	must(t, os.WriteFile(filepath.Join(elsewhere, "a.txt"), []byte("good, and secret"), 0o600))
	must(t, os.WriteFile(filepath.Join(elsewhere, "README.md"), []byte("# A repository\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(elsewhere, ".gitignore"), []byte("tracker.json\n"), 0o600))
	must(t, os.Mkdir(filepath.Join(elsewhere, ".git"), 0o755))
	report := w.run(with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, errors.Join(os.RemoveAll(task.Dir), os.Symlink(elsewhere, task.Dir))
	}}))
	wantState(t, report, "a", journal.StateDriverFailed)
	if _, err := os.Stat(filepath.Join(elsewhere, "a.txt")); err != nil {
		t.Errorf("what the link led to: %v", err)
	}
}

func TestDrainGoesOnFromWhatAResumedWaveShipped(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b", "dependsOn": []string{"a"}})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	started := make(chan struct{})
	s := w.schedulerOn(store, with(stuck(started)))
	go func() { <-started; s.Stop() }()
	_, err := s.Drain(t.Context())
	must(t, err)
	reports, err := w.schedulerOn(store).Drain(t.Context())
	must(t, err)
	wantStatus(t, w.read("b"), tracker.Done)
	if len(reports) != 2 || *reports[1].Base != *reports[0].Repositories[0].SHA {
		t.Errorf("reports: %s", asJSON(reports))
	}
}

func TestItemTakenAwayEndsAloneNotTheWave(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		if task.Item == "b" {
			return driver.Result{}, put(task, "b.txt", "good")
		}
		// Whoever takes the item over ends its job.
		err := store.Update(t.Context(), func(tx statestore.Tx) error {
			record, _, err := job.Live(tx, "a")
			if err != nil {
				return err
			}
			_, err = job.Apply(tx, job.Cancel{ID: record.ID, By: job.Operator{TransitionSeq: record.TransitionSeq}, Reason: "taken"})
			return err
		})
		return driver.Result{}, errors.Join(err, &driver.Error{Class: driver.Refused})
	}}
	report := w.runOn(store, with(played))
	wantState(t, report, "a", journal.StateClaimLost)
	wantState(t, report, "b", journal.StateShipped)
}

func TestWaveThatCannotBeTakenUpKeepsNoOtherFromRunning(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b", "status": "blocked"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	started := make(chan struct{})
	s := w.schedulerOn(store, with(stuck(started)))
	go func() { <-started; s.Stop() }()
	_, err := s.Run(t.Context())
	must(t, err)
	w.git(w.repo, "remote", "rename", "origin", "up")
	w.edit(`"blocked"`, `"todo"`)
	report := w.runOn(store)
	wantState(t, report, "b", journal.StateShipped)
	if len(report.Resumed) != 1 || report.Resumed[0].Outcome != journal.ErrorOutcome {
		t.Errorf("resumed: %s", asJSON(report.Resumed))
	}
	if _, err := w.schedulerOn(store).Resume(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "origin") {
		t.Errorf("resume: %v", err)
	}
}

func TestStopDuringAPushToARemoteThatIsGoneIsAStop(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	reached := filepath.Join(w.dir, "push-reached")
	w.hook("pre-receive", "mv "+w.remote+" "+w.remote+".gone; echo > "+reached+"; while :; do sleep 0.05; done")
	s := w.scheduler()
	go func() { waitForFile(t.Context(), reached); s.Stop(); s.Stop() }()
	report, err := s.Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Interrupted)
}

func TestSwitchingBranchesDuringAWaveIsNoTampering(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	wantOutcome(t, w.run(with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		w.git(w.repo, "checkout", "--quiet", "-b", "feature", "origin/main")
		return driver.Result{}, put(task, "a.txt", "good")
	}})), journal.Good)
}

func TestLostNameOfTheStateIsAnError(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	w.run()
	must(t, os.Remove(filepath.Join(w.state, "id")))
	_, err := wave.Place(w.state)
	if setup, ok := errors.AsType[*wave.SetupError](err); !ok || setup.Code != "state_damaged" {
		t.Errorf("error: %v", err)
	}
}

func TestNamesThatAreOneSomewhereDoNotShipTogether(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "ownsFiles": []string{"Dir/x"}, "testCmd": "true"}, item{"id": "b", "ownsFiles": []string{"dir/y"}, "testCmd": "true"})
	w.script(map[string][]attempt{"a": {writes("Dir/x", "x")}, "b": {writes("dir/y", "y")}})
	report := w.run()
	wantState(t, report, "a", journal.StateShipped)
	wantState(t, report, "b", journal.StateIntegrationFailed)
}

func TestRunEndsWhereAnotherWaveIsAlwaysFaster(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	// A job of another wave that is about to claim, and does not.
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := job.Apply(tx, job.Create{ID: "other/a", Item: "a", Wave: "other", Seat: "worker"})
		return err
	}))
	report := w.runOn(store)
	wantOutcome(t, report, journal.NothingSelectable)
	if len(report.Skipped) != 1 || report.Skipped[0].Reason != "claimed" {
		t.Errorf("skipped: %s", asJSON(report.Skipped))
	}
	reports, err := w.schedulerOn(store).Drain(t.Context())
	must(t, err)
	if len(reports) != 1 || reports[0].Outcome != journal.NothingSelectable {
		t.Errorf("reports: %s", asJSON(reports))
	}
}
