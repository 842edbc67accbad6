package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnoresAgreesWithStatus: on a tree of new files, what is left out is what git itself leaves out, by its own walk.
func TestIgnoresAgreesWithStatus(t *testing.T) {
	p := newPlace(t)
	p.write(".gitignore", "*.log\nbuild/\nd/*\n!d/keep.txt\n/only-root\nnode_modules\n\\!odd\nspaced\\ \n")
	p.write("sub/.gitignore", "!special.log\nsecret\n")
	p.write("tracked/build/in-the-commit.txt", "x\n")
	p.git(p.repo, "add", "--force", "--all")
	p.commit("ignore files")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	_, engine, remote := p.open(p.repo)
	commit := p.tip(engine, remote)
	// What has no say: rules of the user's, and of the work tree.
	p.write(".git/info/exclude", "plain.txt\n")
	p.write(".gitignore", "plain.txt\n")
	dir := filepath.Join(p.dir, "ignores")
	ignores, err := engine.Ignores(t.Context(), commit, dir)
	must(t, err)
	defer ignores.Close()

	clean := filepath.Join(p.dir, "clean")
	p.git("", "clone", "--quiet", p.remoteDir, clean)
	files := []string{"plain.txt", "a.log", "build/x", "deep/build/x", "d/drop.txt", "d/keep.txt", "only-root", "sub/only-root", "sub/special.log",
		"sub/other.log", "sub/secret", "sub/deeper/secret", "node_modules/a/b.js", "sub/node_modules/c.js", "!odd", "spaced ", "tracked/build/new.txt",
		"deep/plain.txt", ":(top)odd.log", "-n.log", "ü/ö.log", "ü/ö.txt"}
	for _, name := range files {
		path := filepath.Join(clean, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte("x"), 0o644))
	}
	left := p.git(clean, "ls-files", "--others", "--ignored", "--exclude-per-directory=.gitignore", "-z")
	for _, name := range files {
		want := slices.Contains(strings.Split(left, "\x00"), name)
		got := false
		for i := range len(name) { // as a walk comes to it, folder by folder
			if name[i] == '/' && !got && !strings.HasPrefix("tracked/build", name[:i]) {
				got, err = ignores.Match(name[:i], true)
				must(t, err)
			}
		}
		if !got {
			got, err = ignores.Match(name, false)
			must(t, err)
		}
		if got != want {
			t.Errorf("%q: left out %v, by git's own walk %v", name, got, want)
		}
	}
	must(t, ignores.Close())
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

func TestIgnoresOfACommitWithoutRules(t *testing.T) {
	p := newPlace(t)
	_, engine, remote := p.open(p.repo)
	commit := p.tip(engine, remote)
	dir := filepath.Join(p.dir, "ignores")
	ignores, err := engine.Ignores(t.Context(), commit, dir)
	must(t, err)
	if left, err := ignores.Match("node_modules", true); left || err != nil {
		t.Errorf("left out %v, error %v", left, err)
	}
	must(t, ignores.Close())
	// A folder that somebody else made is not to be trusted.
	must(t, os.Mkdir(dir, 0o755))
	if ignores, err = engine.Ignores(t.Context(), commit, dir); err == nil {
		t.Error("took a folder that was there")
	}
	must(t, ignores.Close())
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("removed what is not its own: %v", err)
	}
}

// TestIgnoresOfAnOddTree: what an agent can make, and the folder of the rules cannot hold, is not left out.
func TestIgnoresOfAnOddTree(t *testing.T) {
	p := newPlace(t)
	p.write(".gitignore", "deps/\n")
	p.write("a/.gitignore", "*.log\n")
	p.commit("Rules")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	_, engine, remote := p.open(p.repo)
	commit := p.tip(engine, remote)
	ignores, err := engine.Ignores(t.Context(), commit, filepath.Join(p.dir, "ignores"))
	must(t, err)
	deep := strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 200)+"/", 30), "/")
	for _, odd := range []struct {
		name   string
		folder bool
		want   bool
	}{
		{deep, true, false}, {deep + "/file", false, false}, {".gitignore/sub", true, false}, {".gitignore/file", false, false}, {"a/.gitignore", true, false},
		{"new/.gitignore", true, false}, {"new/.gitignore/sub", true, false}, {"new/x.log", false, false}, {"a/x.log", false, true}, {"deps", true, true},
	} {
		if got, err := ignores.Match(odd.name, odd.folder); got != odd.want || err != nil {
			t.Errorf("%.40q: left out %v, error %v", odd.name, got, err)
		}
	}
	must(t, ignores.Close())
}
