package wave_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
