//go:build unix

package git_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func stat(t *testing.T, path string) *syscall.Stat_t {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Sys().(*syscall.Stat_t)
}

func TestEngineOnAnotherFileSystem(t *testing.T) {
	state, err := os.MkdirTemp("/dev/shm", "aesop-test-")
	if err != nil {
		t.Skipf("not applicable: no folder in memory: %v", err)
	}
	t.Cleanup(func() { must(t, os.RemoveAll(state)) })
	p := newPlace(t)
	if stat(t, state).Dev == stat(t, p.dir).Dev {
		t.Skip("not applicable: it is one file system")
	}
	p.git(p.remoteDir, "config", "uploadpack.allowFilter", "true")
	partial := filepath.Join(p.dir, "partial")
	p.git("", "clone", "--quiet", "--filter=blob:none", "file://"+p.remoteDir, partial)
	for _, repo := range []string{p.repo, partial} {
		user, err := p.program.OpenUser(t.Context(), repo)
		must(t, err)
		engine, err := p.program.OpenEngine(t.Context(), user, filepath.Join(state, "git", user.ID()+".git"), filepath.Join(state, "lock"))
		must(t, err)
		remote, err := user.Remote(t.Context(), "origin", "test"+p.dir)
		must(t, err)
		base := p.tip(engine, remote)
		p.git("", "--git-dir="+engine.Dir, "fsck", "--full")
		must(t, engine.Checkout(t.Context(), build(t, engine, base, "x", "1"), filepath.Join(state, "tree", user.ID())))
	}
}

func TestObjectsAreLinkedWhereTheyCanBe(t *testing.T) {
	p := newPlace(t)
	_, engine, _ := p.open(p.repo)
	linked := 0
	must(t, filepath.WalkDir(filepath.Join(engine.Dir, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && stat(t, path).Nlink > 1 {
			linked++
		}
		return err
	}))
	if linked < 3 {
		t.Errorf("%d files are links", linked)
	}
}

// TestEngineOutlivesTheLenderOfTheUsersObjects: the user's repository can itself borrow its objects.
func TestEngineOutlivesTheLenderOfTheUsersObjects(t *testing.T) {
	p := newPlace(t)
	base := p.git(p.repo, "rev-parse", "HEAD")
	borrower := filepath.Join(p.dir, "borrower")
	p.git("", "clone", "--quiet", "--shared", p.repo, borrower)
	p.git(borrower, "commit", "--quiet", "--allow-empty", "--message=own")
	_, engine, _ := p.open(borrower)
	must(t, os.RemoveAll(p.repo))
	must(t, engine.Checkout(t.Context(), base, filepath.Join(p.dir, "tree")))
	if has, err := engine.Has(t.Context(), p.git("", "--git-dir="+engine.Dir, "rev-parse", "HEAD")); err != nil || !has {
		t.Errorf("the borrower's own commit is not here: %v", err)
	}
}

// TestRepositoryOfAnotherUser: whoever told git that it may be used need not tell it again for the engine.
func TestRepositoryOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not applicable: only root can give files away")
	}
	p := newPlaceIn(t, filepath.Join(t.TempDir(), `qu"ote`))
	p.write("late.txt", "x")
	must(t, filepath.WalkDir(p.repo, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 4711, 4711)
	}))
	config := filepath.Join(p.dir, "gitconfig")
	must(t, os.WriteFile(config, nil, 0o600))
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	if _, err := p.program.OpenUser(t.Context(), p.repo); err == nil || !strings.Contains(err.Error(), "dubious") {
		t.Fatalf("git does not mind: %v", err)
	}
	must(t, os.WriteFile(config, []byte(fmt.Sprintf("[safe]\n\tdirectory = %q\n", p.repo)), 0o600))
	p.turn(p.repo)
}

// TestHooksInTheEnginesRepositoryDoNotRun: whoever finds it can leave one.
func TestHooksInTheEnginesRepositoryDoNotRun(t *testing.T) {
	p := newPlace(t)
	_, engine, _ := p.open(p.repo)
	trace := filepath.Join(p.dir, "trace")
	for _, dir := range []string{engine.Dir, p.dir} {
		for _, name := range []string{"reference-transaction", "post-index-change", "post-checkout", "pre-auto-gc", "update", "pre-receive"} {
			must(t, os.MkdirAll(filepath.Join(dir, "hooks"), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, "hooks", name), []byte("#!/bin/sh\necho "+name+" >>'"+trace+"'\n"), 0o755))
		}
	}
	config, err := os.ReadFile(filepath.Join(engine.Dir, "config"))
	must(t, err)
	for name, text := range map[string]string{"as made": string(config), "changed": string(config) + "[core]\n\thooksPath = " + p.dir + "/hooks\n",
		"without the setting": strings.ReplaceAll(string(config), "\thooksPath", "\tother")} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(filepath.Join(engine.Dir, "config"), []byte(text), 0o600))
			p.write("a.txt", name)
			p.commit(name)
			p.git(p.repo, "push", "--quiet", "origin", "main")
			_, engine, remote := p.open(p.repo)
			base := p.tip(engine, remote)
			commit := build(t, engine, base, "x", "1")
			must(t, engine.Pin(t.Context(), "refs/aesop/pin", commit))
			must(t, engine.Checkout(t.Context(), commit, filepath.Join(t.TempDir(), "tree")))
			if _, err := engine.Changed(t.Context(), base, commit); err != nil {
				t.Error(err)
			}
			if ran, err := os.ReadFile(trace); err == nil {
				t.Errorf("hooks ran: %s", ran)
			}
		})
	}
}
