package manifest_test

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/statestore/job/manifest"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.com",
		"GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestCommits(t *testing.T) {
	dir := t.TempDir()
	remote, repo, engine := filepath.Join(dir, "remote.git"), filepath.Join(dir, "repo"), filepath.Join(dir, "engine.git")
	git(t, dir, "init", "--quiet", "--bare", "--initial-branch=main", remote)
	git(t, dir, "init", "--quiet", "--initial-branch=main", repo)
	git(t, repo, "remote", "add", "origin", remote)
	commit := func(message string) string {
		git(t, repo, "commit", "--quiet", "--allow-empty", "--message="+message)
		return git(t, repo, "rev-parse", "HEAD")
	}
	one, two := commit("one"), commit("two")
	git(t, repo, "push", "--quiet", "origin", "main")
	git(t, dir, "clone", "--quiet", "--bare", remote, engine)
	here := commit("never pushed")
	git(t, repo, "push", "--quiet", "origin", one+":refs/heads/old")

	plain := manifest.Commits{Remotes: map[string]string{"origin": "origin", "url": remote, "gone": filepath.Join(dir, "gone.git")}, Dir: repo}
	with := plain
	with.Engine = engine
	check := func(name string, c manifest.Commits, ref string, want manifest.Verdict, says string) {
		t.Helper()
		if got, reason := look(t, manifest.Commit, c, ref); got != want || !strings.Contains(reason, says) {
			t.Errorf("%s: %s, %q; want %s, %q", name, got, reason, want, says)
		}
	}
	check("what a ref points to", plain, "origin refs/heads/main "+two, manifest.Proven, "")
	check("by URL", plain, "url refs/heads/old "+one, manifest.Proven, "")
	check("outside of any repository", manifest.Commits{Remotes: plain.Remotes, Dir: dir}, "url refs/heads/old "+one, manifest.Proven, "")
	check("in the history of a ref, without an engine", plain, "origin refs/heads/main "+one, manifest.Unproven, "points to "+two)
	check("in the history of a ref", with, "origin refs/heads/main "+one, manifest.Proven, "")
	check("not in the history of a ref", with, "origin refs/heads/old "+two, manifest.Unproven, "does not have it")
	check("only in the repository here", with, "origin refs/heads/main "+here, manifest.Unproven, "does not have it")
	check("no such ref", plain, "origin refs/heads/none "+two, manifest.Unproven, "no such ref")
	check("end of a ref's name", plain, "origin refs/main "+two, manifest.Unproven, "no such ref")
	check("a remote that may not be asked", plain, remote+" refs/heads/main "+two, manifest.Unproven, "may not be asked")
	check("a command for a remote", plain, "ext::false refs/heads/main "+two, manifest.Unproven, "may not be asked")
	for _, ref := range []string{"origin", "origin#" + two, "origin main " + two, "origin refs/heads/main " + two[:12], "origin refs/heads/* " + two,
		"origin refs/heads/main " + strings.ToUpper(two), "origin  refs/heads/main " + two} {
		check(ref, plain, ref, manifest.Unproven, "is not a remote")
	}
	check("a remote that is gone", plain, "gone refs/heads/main "+two, manifest.Unknown, "gone")
	check("a relative folder", manifest.Commits{Remotes: plain.Remotes}, "origin refs/heads/main "+two, manifest.Unknown, "not absolute")

	git(t, repo, "push", "--quiet", "origin", "main")
	check("the engine is behind", with, "origin refs/heads/main "+two, manifest.Unknown, "not known here")
	with.Engine = filepath.Join(dir, "none.git")
	check("no engine there", with, "origin refs/heads/main "+two, manifest.Unknown, "")
}

// TestARemoteThatDoesNotAnswerIsUnknown, and the password in its URL stays where it is.
func TestARemoteThatDoesNotAnswerIsUnknown(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	remote := url.URL{Scheme: "http", User: url.UserPassword("me", "pass"), Host: silent.Addr().String(), Path: "/x"}
	c := manifest.Commits{Remotes: map[string]string{"origin": remote.String()}, Dir: t.TempDir(), Timeout: time.Second}
	got, reason := look(t, manifest.Commit, c, "origin refs/heads/main "+strings.Repeat("1", 40))
	if got != manifest.Unknown || !strings.Contains(reason, "no answer within 1s") || strings.Contains(reason, "pass") {
		t.Errorf("%s, %s", got, reason)
	}
}
