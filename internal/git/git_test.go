package git_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/internal/git"
)

// place is a user's repository with a remote, and the engine's repository for it.
type place struct {
	t                    *testing.T
	dir, repo, remoteDir string
	program              git.Program
}

func newPlace(t *testing.T, initFlags ...string) *place {
	t.Helper()
	return newPlaceIn(t, t.TempDir(), initFlags...)
}

func newPlaceIn(t *testing.T, dir string, initFlags ...string) *place {
	t.Helper()
	p := &place{t: t, dir: dir, repo: filepath.Join(dir, "repo"), remoteDir: filepath.Join(dir, "remote.git")}
	var err error
	p.program, err = git.Find(t.Context())
	must(t, err)
	p.git("", append([]string{"init", "--quiet", "--bare", "--initial-branch=main", p.remoteDir}, initFlags...)...)
	p.git("", append([]string{"init", "--quiet", "--initial-branch=main", p.repo}, initFlags...)...)
	p.write("a.txt", "a\n")
	p.commit("one")
	p.git(p.repo, "remote", "add", "origin", p.remoteDir)
	p.git(p.repo, "push", "--quiet", "origin", "main")
	return p
}

func (p *place) git(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@example.com",
		"GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.repo, name)
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.t, os.WriteFile(path, []byte(text), 0o644))
}

func (p *place) commit(message string) string {
	p.t.Helper()
	p.git(p.repo, "add", "--all")
	p.git(p.repo, "commit", "--quiet", "--message="+message)
	return p.git(p.repo, "rev-parse", "HEAD")
}

func (p *place) open(repo string) (*git.User, *git.Engine, *git.Remote) {
	p.t.Helper()
	user, err := p.program.OpenUser(p.t.Context(), repo)
	must(p.t, err)
	engine, err := p.program.OpenEngine(p.t.Context(), user, filepath.Join(p.dir, "state", user.ID()+".git"), filepath.Join(p.dir, "state", "lock"))
	must(p.t, err)
	remote, err := user.Remote(p.t.Context(), "origin", "test"+p.dir)
	must(p.t, err)
	return user, engine, remote
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tip brings the remote's main into the engine's repository.
func (p *place) tip(engine *git.Engine, remote *git.Remote) git.SHA {
	p.t.Helper()
	refs, err := remote.List(p.t.Context())
	must(p.t, err)
	if refs.Head != "main" {
		p.t.Fatalf("head of the remote: %q", refs.Head)
	}
	tip := refs.All["refs/heads/main"]
	must(p.t, engine.Fetch(p.t.Context(), remote, tip))
	has, err := engine.Has(p.t.Context(), tip)
	must(p.t, err)
	if !has {
		p.t.Fatalf("%s was fetched and is not there", tip)
	}
	return tip
}

// build makes a commit on base that adds one file.
func build(t *testing.T, engine *git.Engine, base git.SHA, name, text string) git.SHA {
	t.Helper()
	id, err := engine.Build(t.Context(), git.Commit{Parents: []git.SHA{base}, Changes: []git.Change{{Path: name, Mode: "100644", Data: []byte(text)}},
		Message: "add\n", Who: git.Fallback, When: time.Unix(1700000000, 0), Ref: "refs/aesop/test"})
	must(t, err)
	return id
}

func TestWholeTurnInRepositoriesOfManyKinds(t *testing.T) {
	for name, prepare := range map[string]func(*place) string{
		"ordinary": func(p *place) string { return p.repo },
		"subfolder": func(p *place) string {
			p.write("sub/x", "x")
			return filepath.Join(p.repo, "sub")
		},
		"linked work tree": func(p *place) string {
			p.git(p.repo, "worktree", "add", "--quiet", "--detach", filepath.Join(p.dir, "linked"))
			return filepath.Join(p.dir, "linked")
		},
		"bare": func(p *place) string {
			p.git("", "clone", "--quiet", "--bare", p.remoteDir, filepath.Join(p.dir, "bare.git"))
			return filepath.Join(p.dir, "bare.git")
		},
		"shallow": func(p *place) string {
			p.write("a.txt", "b\n")
			p.commit("two")
			p.git(p.repo, "push", "--quiet", "origin", "main")
			p.git("", "clone", "--quiet", "--depth=1", "file://"+p.remoteDir, filepath.Join(p.dir, "shallow"))
			return filepath.Join(p.dir, "shallow")
		},
		"behind its remote": func(p *place) string {
			p.git("", "clone", "--quiet", p.remoteDir, filepath.Join(p.dir, "behind"))
			p.write("a.txt", "c\n")
			p.commit("newer")
			p.git(p.repo, "push", "--quiet", "origin", "main")
			return filepath.Join(p.dir, "behind")
		},
		"relative remote": func(p *place) string {
			p.git(p.repo, "remote", "set-url", "origin", "../remote.git")
			return p.repo
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			repo := prepare(p)
			p.turn(repo)
		})
	}
	t.Run("sha256", func(t *testing.T) {
		p := newPlace(t, "--object-format=sha256")
		p.turn(p.repo)
	})
}

// turn fetches, checks out, commits and pushes, and checks that nothing of the user's changed.
func (p *place) turn(repo string) {
	t := p.t
	t.Helper()
	user, engine, remote := p.open(repo)
	look := func() string {
		return p.git("", "--git-dir="+user.GitDir, "for-each-ref") + p.git("", "--git-dir="+user.GitDir, "count-objects", "-v") +
			p.git("", "--git-dir="+user.GitDir, "config", "--list", "--local")
	}
	before := look()
	base := p.tip(engine, remote)
	dir := filepath.Join(p.dir, "state", "tree")
	must(t, engine.Checkout(t.Context(), base, dir))
	if status := p.git(dir, "status", "--porcelain"); status != "" {
		t.Errorf("a fresh checkout is not clean: %s", status)
	}
	commit := build(t, engine, base, "new.txt", "new\n")
	changed, err := engine.Changed(t.Context(), base, commit)
	must(t, err)
	if len(changed) != 1 || changed[0].Path != "new.txt" || changed[0].Mode != "100644" {
		t.Errorf("changed: %+v", changed)
	}
	must(t, remote.Push(t.Context(), engine.Dir, []git.Update{{Ref: "refs/heads/aesop/w", New: commit}, {Ref: "refs/aesop/items/i", New: commit}}))
	refs, err := remote.ListPushed(t.Context())
	must(t, err)
	if refs.All["refs/heads/aesop/w"] != commit || refs.All["refs/aesop/items/i"] != commit {
		t.Errorf("refs of the remote: %v", refs.All)
	}
	if after := look(); after != before {
		t.Errorf("the user's repository changed:\n%s\nto\n%s", before, after)
	}
}

func TestPushIsAllOrNothingAndOnlyFromTheOldValue(t *testing.T) {
	p := newPlace(t)
	_, engine, remote := p.open(p.repo)
	base := p.tip(engine, remote)
	first, second := build(t, engine, base, "x", "1"), build(t, engine, base, "x", "2")
	must(t, remote.Push(t.Context(), engine.Dir, []git.Update{{Ref: "refs/aesop/items/i", New: first}}))
	err := remote.Push(t.Context(), engine.Dir, []git.Update{{Ref: "refs/heads/late", New: second}, {Ref: "refs/aesop/items/i", New: second}})
	if err == nil {
		t.Error("a push from the wrong old value was taken")
	}
	refs, err := remote.List(t.Context())
	must(t, err)
	if refs.All["refs/aesop/items/i"] != first || refs.All["refs/heads/late"] != "" {
		t.Errorf("refs: %v", refs.All)
	}
	must(t, remote.Push(t.Context(), engine.Dir, []git.Update{{Ref: "refs/heads/late", New: second}, {Ref: "refs/aesop/items/i", Old: first, New: second}}))
}

// TestMessagesPassRemotesThatCheckObjects: such a remote refuses a commit with a NUL.
func TestMessagesPassRemotesThatCheckObjects(t *testing.T) {
	p := newPlace(t)
	p.git(p.remoteDir, "config", "receive.fsckObjects", "true")
	_, engine, remote := p.open(p.repo)
	commit, err := engine.Build(t.Context(), git.Commit{Parents: []git.SHA{p.tip(engine, remote)}, Message: "a\x00b\x1b[31m\r\n\n\tü\x7f\u009b\n",
		Who: git.Fallback, When: time.Unix(1, 0), Ref: "refs/aesop/t"})
	must(t, err)
	must(t, remote.Push(t.Context(), engine.Dir, []git.Update{{Ref: "refs/heads/x", New: commit}}))
	message, err := engine.Message(t.Context(), commit)
	must(t, err)
	if got := strings.TrimRight(message, "\n"); got != "ab[31m\n\n\tü" {
		t.Errorf("message %q", got)
	}
}

func TestEqualDescriptionsGiveEqualCommits(t *testing.T) {
	p := newPlace(t)
	_, engine, remote := p.open(p.repo)
	base := p.tip(engine, remote)
	if a, b := build(t, engine, base, "x", "1"), build(t, engine, base, "x", "1"); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestBytesAreCommittedAsTheyAre(t *testing.T) {
	p := newPlace(t)
	p.write(".gitattributes", "* text=auto ident filter=evil\n*.txt eol=crlf\n")
	p.commit("attributes")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	p.git(p.repo, "config", "filter.evil.clean", "sed s/x/y/")
	_, engine, remote := p.open(p.repo)
	base := p.tip(engine, remote)
	names := []string{"crlf.txt", "sp ace", "qu\"ote", "back\\slash", "ünïcode", "dir/file", "new\nline", "tab\tname"}
	var changes []git.Change
	for _, name := range names {
		changes = append(changes, git.Change{Path: name, Mode: "100644", Data: []byte("x $Id$\r\n" + name)})
	}
	commit, err := engine.Build(t.Context(), git.Commit{Parents: []git.SHA{base}, Changes: changes, Message: "m\n", Who: git.Fallback, When: time.Unix(1, 0), Ref: "refs/aesop/t"})
	must(t, err)
	dir := filepath.Join(p.dir, "tree")
	must(t, engine.Checkout(t.Context(), commit, dir))
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if string(data) != "x $Id$\r\n"+name {
			t.Errorf("%q was checked out as %q", name, data)
		}
	}
}

func TestEngineOutlivesTheUsersGarbageCollection(t *testing.T) {
	p := newPlace(t)
	p.git(p.repo, "checkout", "--quiet", "-b", "topic")
	p.write("topic.txt", "x\n")
	lost := p.commit("topic")
	_, engine, remote := p.open(p.repo)
	p.tip(engine, remote)
	p.git(p.repo, "checkout", "--quiet", "main")
	p.git(p.repo, "branch", "--quiet", "-D", "topic")
	p.git(p.repo, "reflog", "expire", "--expire=now", "--all")
	p.git(p.repo, "gc", "--quiet", "--prune=now")
	if has, err := engine.Has(t.Context(), lost); err != nil || !has {
		t.Errorf("the engine lost %s: %v", lost, err)
	}
}

func TestMergeOfDisjointChanges(t *testing.T) {
	p := newPlace(t)
	_, engine, remote := p.open(p.repo)
	base := p.tip(engine, remote)
	a, b := build(t, engine, base, "x", "1"), build(t, engine, base, "y", "2")
	changes, err := engine.Changed(t.Context(), base, b)
	must(t, err)
	merge, err := engine.Build(t.Context(), git.Commit{Parents: []git.SHA{a, b}, Changes: changes, Message: "m\n", Who: git.Fallback, When: time.Unix(1, 0), Ref: "refs/aesop/m"})
	must(t, err)
	for _, parent := range []git.SHA{a, b, base} {
		if ok, err := engine.IsAncestor(t.Context(), parent, merge); err != nil || !ok {
			t.Errorf("%s is no ancestor of the merge: %v", parent, err)
		}
	}
	if ok, err := engine.IsAncestor(t.Context(), merge, a); err != nil || ok {
		t.Errorf("the merge is an ancestor of its parent: %v", err)
	}
	if ok, err := engine.IsAncestor(t.Context(), strings.Repeat("1", 40), a); err != nil || ok {
		t.Errorf("a commit that is nowhere is an ancestor: %v", err)
	}
}

func TestNotARepository(t *testing.T) {
	p := newPlace(t)
	if _, err := p.program.OpenUser(t.Context(), t.TempDir()); !errors.Is(err, git.ErrNotRepository) {
		t.Errorf("error: %v", err)
	}
}

func TestFailingRemoteSaysWhy(t *testing.T) {
	p := newPlace(t)
	_, engine, remote := p.open(p.repo)
	base := p.tip(engine, remote)
	must(t, os.WriteFile(filepath.Join(p.remoteDir, "hooks", "pre-receive"), []byte("#!/bin/sh\necho not today >&2\nexit 1\n"), 0o755))
	err := remote.Push(t.Context(), engine.Dir, []git.Update{{Ref: "refs/heads/x", New: base}})
	var failed *git.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Stderr, "not today") {
		t.Errorf("error: %v", err)
	}
}

// TestFetchTakesObjectIDsOnly: anything else could be a refspec, which writes into the user's repository.
func TestFetchTakesObjectIDsOnly(t *testing.T) {
	p := newPlace(t)
	tip := p.git(p.repo, "rev-parse", "HEAD")
	_, engine, remote := p.open(p.repo)
	before := p.git(p.repo, "for-each-ref") + p.git(engine.Dir, "for-each-ref")
	for _, id := range []string{"", "HEAD", "refs/user/heads/main", "+refs/heads/main:refs/heads/evil", tip[:10], strings.ToUpper(tip[:39]) + "F", tip + "\n" + tip, tip + ":refs/heads/evil", "--all"} {
		if err := engine.Fetch(t.Context(), remote, id); err == nil || !strings.Contains(err.Error(), "no object id") {
			t.Errorf("%q: %v", id, err)
		}
	}
	if after := p.git(p.repo, "for-each-ref") + p.git(engine.Dir, "for-each-ref"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	must(t, engine.Fetch(t.Context(), remote, tip))
}
