package aesop_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop"
	"aesop/tracker"
	"aesop/wave"
)

// TestComplete: what the remote does not hold completes nothing, whoever says so; what it holds completes once and again.
func TestComplete(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	repo, remote := filepath.Join(dir, "repo"), filepath.Join(dir, "remote.git")
	git("init", "--quiet", "--bare", remote)
	git("init", "--quiet", repo)
	git("-C", repo, "commit", "--quiet", "--allow-empty", "--message=one")
	commit := git("-C", repo, "rev-parse", "HEAD")
	text := `[{"id": "a", "slug": "a", "ownsFiles": ["x"], "prompt": "p", "testCmd": "t"}]`
	if err := os.WriteFile(filepath.Join(repo, "tracker.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	place, err := aesop.Locate(t.Context(), repo, aesop.Settings{State: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	backlog, err := place.OpenBacklog()
	if err != nil {
		t.Fatal(err)
	}
	claims, err := backlog.Claim(t.Context(), tracker.Holder{Wave: "w", Owner: "ann"}, time.Hour, tracker.Want{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	good := aesop.Completion{Item: "a", Token: claims[0].Token, Remote: remote, Ref: "refs/heads/work", Commit: commit}
	status := func() tracker.Status {
		t.Helper()
		read, err := backlog.Backlog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return read.Items[0].Status
	}
	refused := func(c aesop.Completion, is func(error) bool) {
		t.Helper()
		before := status()
		if err := place.Complete(t.Context(), backlog, c); !is(err) || status() != before {
			t.Errorf("%+v: %v; the item is %s", c, err, status())
		}
	}
	absent := func(found string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*aesop.NotOnRemoteError](err)
			return ok && e.Found == found
		}
	}
	setup := func(code string) func(error) bool {
		return func(err error) bool { e, ok := errors.AsType[*wave.SetupError](err); return ok && e.Code == code }
	}
	lost := func(err error) bool { _, ok := errors.AsType[*tracker.LostError](err); return ok }
	with := func(change func(*aesop.Completion)) aesop.Completion { c := good; change(&c); return c }

	refused(good, absent("")) // not pushed yet
	git("-C", repo, "push", "--quiet", remote, "HEAD:refs/heads/work")
	other := strings.Repeat("0", 40)
	refused(with(func(c *aesop.Completion) { c.Commit = other }), absent(commit))
	refused(with(func(c *aesop.Completion) { c.Remote = filepath.Join(dir, "none") }), setup("remote_unreachable"))
	refused(with(func(c *aesop.Completion) { c.Ref = "work" }), setup("usage"))
	refused(with(func(c *aesop.Completion) { c.Commit = commit[:10] }), setup("usage"))
	refused(with(func(c *aesop.Completion) { c.Token = "" }), setup("usage"))
	refused(with(func(c *aesop.Completion) { c.Token = "another" }), lost)
	refused(with(func(c *aesop.Completion) { c.Item = "nobody" }), lost)
	for range 2 {
		if err := place.Complete(t.Context(), backlog, good); err != nil || status() != tracker.Done {
			t.Fatalf("%v; the item is %s", err, status())
		}
	}
	refused(with(func(c *aesop.Completion) { c.Commit = other }), lost)
}
