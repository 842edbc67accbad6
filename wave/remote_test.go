package wave_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// hook installs a hook in the remote.
func (w *world) hook(name, script string) {
	w.t.Helper()
	must(w.t, os.WriteFile(filepath.Join(w.remote, "hooks", name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

func TestShippedItemIsAdoptedNotBuiltAgain(t *testing.T) {
	for name, forget := range map[string]func(*world){
		"by the store":     func(*world) {},
		"by its signature": func(w *world) { w.keepOnlyKey() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			original, err := os.ReadFile(w.backlog)
			must(t, err)
			w.script(map[string][]attempt{"a": good("a")})
			first := w.run()
			wantOutcome(t, first, journal.Good)
			must(t, os.WriteFile(w.backlog, original, 0o644)) // somebody restores an old backlog
			forget(w)
			second := w.run()
			wantOutcome(t, second, journal.Good)
			i := wantState(t, second, "a", journal.StateShipped)
			if len(i.Attempts) != 0 || !strings.Contains(i.Reason, first.Wave) || *i.Commit != *reported(t, first, "a").Commit {
				t.Errorf("report: %s", asJSON(i))
			}
			row := w.read("a")
			wantStatus(t, row, tracker.Done)
			if row.Shipped == nil || row.Shipped.Wave != first.Wave || row.Shipped.Commit != *i.Commit {
				t.Errorf("shipped: %+v", row.Shipped)
			}
		})
	}
}

func TestForgedTrailersAreNotAdopted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	w.write("a.txt", "good\n")
	w.git(w.repo, "add", "a.txt")
	w.git(w.repo, "commit", "--quiet", "--message=Forged\n\nAesop-Item: a\nAesop-Wave: 20260101-000000-0000\nAesop-Attempt: 0000000000000000\nAesop-Signature: "+strings.Repeat("0", 64))
	w.git(w.repo, "push", "--quiet", "origin", "HEAD:refs/aesop/items/a")
	w.git(w.repo, "reset", "--quiet", "--hard", "HEAD^")
	report := w.run()
	i := wantState(t, report, "a", journal.StateSetupFailed)
	if !strings.Contains(i.Reason, "refs/aesop/items/a") || len(i.Attempts) != 0 {
		t.Errorf("report: %s", asJSON(i))
	}
	wantStatus(t, w.read("a"), tracker.Todo)
}

func TestReopenedItemShipsOnceMore(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	first := w.run()
	must(t, w.tracker().Operate(t.Context(), tracker.Order{ID: "a", Request: tracker.Reopen, Reason: "again"}))
	w.script(map[string][]attempt{"a": {writes("a.txt", "good, better\n")}})
	second := w.run()
	wantOutcome(t, second, journal.Good)
	i := wantState(t, second, "a", journal.StateShipped)
	if *i.Commit == *reported(t, first, "a").Commit || w.refs()["refs/aesop/items/a"] != *i.Commit {
		t.Errorf("the item ref did not move to %s", *i.Commit)
	}
}

func TestRejectingRemoteLeavesWorkForResume(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	w.hook("pre-receive", "echo no pushes on Mondays >&2; exit 1")
	report := w.run()
	wantOutcome(t, report, journal.Failed)
	i := wantState(t, report, "a", journal.StateShipFailed)
	if !i.Verified || i.Pushed || i.Failure == nil || !strings.Contains(i.Failure.Tail, "no pushes on Mondays") {
		t.Errorf("report: %s", asJSON(i))
	}
	repository := report.Repositories[0]
	if repository.Pushed || repository.Error == nil || !strings.Contains(*repository.ErrorDetail, "no pushes on Mondays") {
		t.Errorf("repository: %s", asJSON(repository))
	}
	wantStatus(t, w.read("a"), tracker.InProgress)
	must(t, os.Remove(filepath.Join(w.remote, "hooks", "pre-receive")))
	reports, err := w.scheduler().Resume(t.Context(), "")
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
	if n := len(reported(t, reports[0], "a").Attempts); n != 1 {
		t.Errorf("%d attempts: the agent worked again for a push", n)
	}
	wantStatus(t, w.read("a"), tracker.Done)
}

func TestKilledWhileASlowRemoteTakesThePush(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	reached := filepath.Join(w.dir, "push-reached")
	w.hook("pre-receive", "echo > "+reached+"; while ! test -e "+filepath.Join(w.dir, "go-on")+"; do sleep 0.05; done")
	path, err := failing()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, "run", "--repo", w.repo, "--state", w.state, "--driver", "script", "--script", w.scriptFile)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(w.dir, "home"), "GIT_CONFIG_NOSYSTEM=1"}
	must(t, cmd.Start())
	waitForFile(t.Context(), reached)
	must(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait()
	must(t, os.WriteFile(filepath.Join(w.dir, "go-on"), nil, 0o644))
	if code, out := w.binary("", "resume"); code != 0 {
		t.Fatalf("resume: exit %d\n%s", code, out)
	}
	wantStatus(t, w.read("a"), tracker.Done)
	if got := w.refs()["refs/aesop/items/a"]; got != w.read("a").Shipped.Commit {
		t.Errorf("item ref %s, backlog %s", got, w.read("a").Shipped.Commit)
	}
	branches := 0
	for ref := range w.refs() {
		if strings.HasPrefix(ref, "refs/heads/aesop/") {
			branches++
		}
	}
	if branches != 1 {
		t.Errorf("%d wave branches", branches)
	}
}

func TestTwoSchedulersShareABacklog(t *testing.T) {
	w := newWorld(t)
	var rows []item
	plays := map[string][]attempt{}
	ids := strings.Split("abcdefgh", "")
	for _, id := range ids {
		rows, plays[id] = append(rows, item{"id": id}), good(id)
	}
	w.items(rows...)
	w.script(plays)
	store := w.store()
	var all sync.WaitGroup
	reports := make([][]wave.Report, 2)
	for n := range reports {
		s := w.schedulerOn(store, func(c *wave.Config) { c.MaxItems = 3; c.Parallel = 2 })
		all.Go(func() {
			var err error
			if reports[n], err = s.Drain(t.Context()); err != nil {
				t.Errorf("drain %d: %v", n, err)
			}
		})
	}
	all.Wait()
	shippedBy := map[string]string{}
	for _, mine := range reports {
		for _, r := range mine {
			for _, i := range r.Items {
				if i.State == journal.StateShipped && i.Reason == "" {
					if other := shippedBy[i.ID]; other != "" {
						t.Errorf("%s was shipped by %s and by %s", i.ID, other, r.Wave)
					}
					shippedBy[i.ID] = r.Wave
				}
			}
		}
	}
	for _, id := range ids {
		wantStatus(t, w.read(id), tracker.Done)
	}
	if len(shippedBy) != len(ids) {
		t.Errorf("shipped: %v", shippedBy)
	}
}

func TestSetupErrorsSayWhatToDo(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*world)
		code  string
		hint  string
	}{
		"no remote":    {func(w *world) { w.git(w.repo, "remote", "remove", "origin") }, "no_remote", "git remote add"},
		"remote gone":  {func(w *world) { must(w.t, os.RemoveAll(w.remote)) }, "remote_unreachable", "git remote -v"},
		"empty remote": {func(w *world) { w.git("", "--git-dir="+w.remote, "update-ref", "-d", "refs/heads/main") }, "no_base", "push your branch"},
		"several remotes": {func(w *world) {
			w.git(w.repo, "remote", "rename", "origin", "x")
			w.git(w.repo, "remote", "add", "y", w.remote)
		}, "no_remote", "x, y"},
		"head of remote wrong": {func(w *world) { w.twoBranchesNoHead() }, "no_base", "one, two"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			tt.spoil(w)
			report, err := w.scheduler().Run(t.Context())
			setup := wave.Explain(err)
			if err == nil || setup.Code != tt.code || !strings.Contains(setup.Hint, tt.hint) {
				t.Errorf("error %v, code %s, hint %q; want code %s and a hint with %q", err, setup.Code, setup.Hint, tt.code, tt.hint)
			}
			checkContract(t, report)
			if report.Outcome != journal.ErrorOutcome || report.Error == nil || report.Error.Code != tt.code {
				t.Errorf("report: %s", asJSON(report))
			}
			wantStatus(t, w.read("a"), tracker.Todo)
		})
	}
}

func (w *world) twoBranchesNoHead() {
	w.git("", "--git-dir="+w.remote, "update-ref", "refs/heads/one", "main")
	w.git("", "--git-dir="+w.remote, "update-ref", "refs/heads/two", "main")
	w.git("", "--git-dir="+w.remote, "update-ref", "-d", "refs/heads/main")
	w.git(w.repo, "branch", "--quiet", "--unset-upstream")
}
