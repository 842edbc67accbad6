package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/internal/git"
)

// bare makes another place that the remote can be pushed to.
func (p *place) bare(name string) string {
	dir := filepath.Join(p.dir, name)
	p.git("", "init", "--quiet", "--bare", "--initial-branch=main", dir)
	return dir
}

// at is where a bare repository has a ref, or "".
func (p *place) at(dir, ref string) string {
	return p.git("", "--git-dir="+dir, "for-each-ref", "--format=%(objectname)", ref)
}

// TestPushesGoWhereGitWouldPush: a URL is rewritten once, by the rules that the user has, and the remote's later words come
// from there.
func TestPushesGoWhereGitWouldPush(t *testing.T) {
	for name, prepare := range map[string]func(p *place, config func(key, value string)) string{
		"push URL": func(p *place, config func(key, value string)) string {
			config("remote.origin.pushurl", p.bare("second.git"))
			return "second.git"
		},
		"rewritten to what is rewritten": func(p *place, config func(key, value string)) string {
			p.bare("second.git")
			config("remote.origin.pushurl", "short:first.git")
			config("url."+p.dir+"/second.git.insteadOf", "short:first.git")
			config("url."+p.dir+"/nowhere.insteadOf", p.dir+"/second.git")
			return "second.git"
		},
		"prefix of the rewritten is rewritten": func(p *place, config func(key, value string)) string {
			p.bare("deep/second.git")
			config("remote.origin.pushurl", "short:second.git")
			config("url."+p.dir+"/deep/.insteadOf", "short:")
			config("url."+p.dir+"/nowhere/.insteadOf", p.dir+"/deep/")
			return "deep/second.git"
		},
		"only pushes are rewritten": func(p *place, config func(key, value string)) string {
			config("url."+p.bare("second.git")+".pushInsteadOf", p.remoteDir)
			return "second.git"
		},
		"push URL is not rewritten for pushes": func(p *place, config func(key, value string)) string {
			config("remote.origin.pushurl", p.bare("second.git"))
			config("url."+p.dir+"/nowhere.pushInsteadOf", p.dir+"/second.git")
			return "second.git"
		},
		"sign of equality": func(p *place, config func(key, value string)) string {
			config("remote.origin.pushurl", p.bare("a=b.git"))
			return "a=b.git"
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			target := filepath.Join(p.dir, prepare(p, func(key, value string) { p.git(p.repo, "config", key, value) }))
			_, engine, remote := p.open(p.repo)
			commit := build(t, engine, p.tip(engine, remote), "x", "1")
			must(t, remote.Push(t.Context(), engine.Dir, []git.Update{{Ref: "refs/heads/new", New: commit}}))
			if at := p.at(target, "refs/heads/new"); at != commit {
				t.Errorf("it is at %q there", at)
			}
			if at := p.at(p.remoteDir, "refs/heads/new"); at != "" {
				t.Errorf("it was pushed to where fetches come from")
			}
			refs, err := remote.ListPushed(t.Context())
			must(t, err)
			if refs.All["refs/heads/new"] != commit {
				t.Errorf("refs %v", refs.All)
			}
			if refs := p.git(p.repo, "for-each-ref"); strings.Contains(refs, "new") {
				t.Errorf("a ref of the user's moved: %s", refs)
			}
		})
	}
}

func TestSeveralPushURLsAreRefused(t *testing.T) {
	p := newPlace(t)
	user, _, _ := p.open(p.repo)
	for name, key := range map[string]string{"push URLs": "remote.several.pushurl", "URLs": "remote.urls.url"} {
		p.git(p.repo, "config", "--add", key, p.remoteDir)
		p.git(p.repo, "config", "--add", key, p.bare("second.git"))
		remote := strings.Split(key, ".")[1]
		p.git(p.repo, "config", "--add", "remote."+remote+".url", p.remoteDir)
		if _, err := user.Remote(t.Context(), remote, "test/remote"); !errors.Is(err, git.ErrSeveralPushURLs) || !strings.Contains(err.Error(), remote) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := user.Remote(t.Context(), "unknown", "test/remote"); err == nil || errors.Is(err, git.ErrSeveralPushURLs) {
		t.Errorf("error %v", err)
	}
}

// TestFetchAlsoAsksWherePushesGo: what an earlier run pushed is there and nowhere else.
func TestFetchAlsoAsksWherePushesGo(t *testing.T) {
	p := newPlace(t)
	second := p.bare("second.git")
	p.git(p.repo, "push", "--quiet", second, "main")
	p.git(p.repo, "config", "remote.origin.pushurl", second)
	p.git("", "clone", "--quiet", second, filepath.Join(p.dir, "other"))
	p.git(filepath.Join(p.dir, "other"), "commit", "--quiet", "--allow-empty", "--message=there")
	p.git(filepath.Join(p.dir, "other"), "push", "--quiet", "origin", "HEAD:refs/aesop/items/i")
	commit := p.at(second, "refs/aesop/items/i")
	_, engine, remote := p.open(p.repo)
	must(t, engine.Fetch(t.Context(), remote, commit))
	if has, err := engine.Has(t.Context(), commit); err != nil || !has {
		t.Errorf("it is not here: %v", err)
	}
	if err := engine.Fetch(t.Context(), remote, strings.Repeat("1", 40)); err == nil || strings.Count(err.Error(), "\n") == 0 {
		t.Errorf("a commit that is nowhere: error %v", err)
	}
}

// TestPathsOfEveryKind: git has lists of folders, in which some characters mean something.
func TestPathsOfEveryKind(t *testing.T) {
	for _, name := range []string{"a:b", `"quoted"`, "a;b c", "#a", `back\slash`} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Skipf("not applicable: no such folder here: %v", err)
			}
			p := newPlaceIn(t, dir)
			// What is newer than the clone comes through the list.
			p.git("", "clone", "--quiet", p.remoteDir, filepath.Join(p.dir, "behind"))
			p.write("a.txt", "newer\n")
			p.commit("newer")
			p.git(p.repo, "push", "--quiet", "origin", "main")
			p.turn(filepath.Join(p.dir, "behind"))
		})
	}
	p := newPlace(t)
	user, _, _ := p.open(p.repo)
	dir := filepath.Join(p.dir, "a\nb")
	if _, err := p.program.OpenEngine(t.Context(), user, dir, filepath.Join(p.dir, "state", "lock")); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("error %v", err)
	}
}

// TestPartialClones: the files of the base come from the remote, to the engine and not to the user's repository.
func TestPartialClones(t *testing.T) {
	for name, flags := range map[string][]string{
		"without contents":            {"--filter=blob:none"},
		"without trees":               {"--filter=tree:0"},
		"without contents, shallow":   {"--filter=blob:none", "--depth=1"},
		"without contents, borrowing": {"--filter=blob:none"},
		"without contents, fetching":  {"--filter=blob:none"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.git(p.remoteDir, "config", "uploadpack.allowFilter", "true")
			p.git(p.remoteDir, "config", "uploadpack.allowAnySHA1InWant", "true")
			p.write("deep/er/b.txt", "b\n")
			p.commit("two")
			p.git(p.repo, "push", "--quiet", "origin", "main")
			partial := filepath.Join(p.dir, "partial")
			p.git("", append([]string{"clone", "--quiet", "--no-checkout", "file://" + p.remoteDir, partial}, flags...)...)
			if strings.HasSuffix(name, "borrowing") {
				lender := partial
				partial = filepath.Join(p.dir, "borrower")
				p.git("", "clone", "--quiet", "--shared", "--no-checkout", lender, partial)
				p.git(partial, "remote", "set-url", "origin", "file://"+p.remoteDir)
				p.git(partial, "config", "remote.origin.promisor", "true")
			}
			if strings.HasSuffix(name, "fetching") { // more comes after the engine's repository was made
				p.open(partial)
				p.write("deep/er/b.txt", "c\n")
				p.write("more.txt", "more\n")
				p.commit("three")
				p.git(p.repo, "push", "--quiet", "origin", "main")
				p.git(partial, "fetch", "--quiet")
				p.write("more.txt", "more and more\n")
				p.commit("four")
				p.git(p.repo, "push", "--quiet", "origin", "main")
			}
			p.turn(partial)
		})
	}
}

// TestBrokenRefIsNoObstacle: one that points to nothing, beside good ones.
func TestBrokenRefIsNoObstacle(t *testing.T) {
	p := newPlace(t)
	must(t, os.WriteFile(filepath.Join(p.repo, ".git", "refs", "heads", "broken"), []byte(strings.Repeat("1", 40)+"\n"), 0o644))
	p.git("", "clone", "--quiet", p.remoteDir, filepath.Join(p.dir, "other"))
	p.git(filepath.Join(p.dir, "other"), "commit", "--quiet", "--allow-empty", "--message=newer")
	p.git(filepath.Join(p.dir, "other"), "push", "--quiet", "origin", "main")
	user, engine, remote := p.open(p.repo)
	if has, err := user.HasCommits(t.Context()); err != nil || !has {
		t.Errorf("has commits: %v, %v", has, err)
	}
	build(t, engine, p.tip(engine, remote), "x", "1")
}

func TestHasCommits(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(p *place, dir string)
		want    bool
	}{
		"empty": {func(*place, string) {}, false},
		"broken": {func(_ *place, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, ".git/refs/heads/main"), []byte(strings.Repeat("1", 40)+"\n"), 0o644))
		}, false},
		"detached": {func(p *place, dir string) {
			p.git(dir, "fetch", "--quiet", p.remoteDir, "main")
			p.git(dir, "checkout", "--quiet", "FETCH_HEAD")
		}, true},
		"tag": {func(p *place, dir string) {
			p.git(dir, "fetch", "--quiet", p.remoteDir, "main")
			p.git(dir, "tag", "-m", "t", "t", "FETCH_HEAD")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			dir := filepath.Join(p.dir, "here")
			p.git("", "init", "--quiet", "--initial-branch=main", dir)
			tt.prepare(p, dir)
			user, err := p.program.OpenUser(t.Context(), dir)
			must(t, err)
			if has, err := user.HasCommits(t.Context()); err != nil || has != tt.want {
				t.Errorf("has commits: %v, %v", has, err)
			}
		})
	}
}

// TestBranchBesideATagOfItsName: git's short form of its name is another then.
func TestBranchBesideATagOfItsName(t *testing.T) {
	p := newPlace(t)
	p.git(p.repo, "tag", "main")
	p.git(p.repo, "branch", "--set-upstream-to=origin/main")
	user, _, _ := p.open(p.repo)
	if branch, err := user.Branch(t.Context()); err != nil || branch != "main" {
		t.Errorf("branch %q, %v", branch, err)
	}
	if upstream, err := user.Upstream(t.Context(), "origin"); err != nil || upstream != "main" {
		t.Errorf("upstream %q, %v", upstream, err)
	}
}
