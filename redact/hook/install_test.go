package hook_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aesop/redact/hook"
)

func TestInstallTwiceAndAnew(t *testing.T) {
	p := newPlace(t)
	first := p.install()
	text := p.read(p.hookPath())
	info, err := os.Stat(p.hookPath())
	if err != nil || first.Change != hook.Made || first.Path != p.hookPath() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("%+v, %v, %v", first, info, err)
	}
	if again := p.install(); again.Change != hook.Unchanged {
		t.Errorf("again: %+v", again)
	}
	if err := os.Chmod(p.hookPath(), 0o644); err != nil {
		t.Fatal(err)
	}
	if again := p.install(); again.Change != hook.Renewed || p.read(p.hookPath()) != text {
		t.Errorf("not executable: %+v", again)
	}
	other := p.settings()
	other.Protect, other.State = []string{"it's"}, filepath.Join(p.dir, "another state")
	if again, err := hook.Install(t.Context(), p.repo, other); err != nil || again.Change != hook.Renewed || !strings.Contains(p.read(p.hookPath()), `'it'\''s'`) {
		t.Errorf("other settings: %+v, %v", again, err)
	}
	older := strings.Replace(text, "hook, version 1, ", "hook, version 0, ", 1)
	p.write(p.hookPath(), older)
	if again := p.install(); again.Change != hook.Renewed || p.read(p.hookPath()) != text {
		t.Errorf("older: %+v", again)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(p.hookPath()), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestInstallWhereGitLooks(t *testing.T) {
	p := newPlace(t)
	shared := filepath.Join(p.dir, "shared", "hooks")
	p.git(p.repo, "config", "core.hooksPath", shared)
	if installed := p.install(); installed.Path != filepath.Join(shared, "pre-push") {
		t.Errorf("%+v", installed)
	}
	p.commit("b.txt", secret())
	p.push(hook.SecretFound, "origin", "work")
}

// TestInstallNotIntoTheWorkTree: a branch could bring another hook.
func TestInstallNotIntoTheWorkTree(t *testing.T) {
	p := newPlace(t)
	p.git(p.repo, "config", "core.hooksPath", "own/hooks") // from the top of the work tree
	var e *hook.Error
	if _, err := hook.Install(t.Context(), filepath.Join(p.repo, ".git", ".."), p.settings()); !errors.As(err, &e) || e.Code != "hooks_in_work_tree" {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(p.repo, "own")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	p.git(p.repo, "config", "core.hooksPath", ".git/own")
	if installed := p.install(); installed.Path != filepath.Join(p.repo, ".git", "own", "pre-push") {
		t.Errorf("%+v", installed)
	}
}

func TestInstallOverwritesNothing(t *testing.T) {
	const foreign = "#!/bin/sh\nexit 0\n"
	for name, tt := range map[string]struct {
		code string
		make func(p *place)
	}{
		"foreign hook": {"foreign_hook", func(p *place) { p.write(p.hookPath(), foreign) }},
		"empty file":   {"foreign_hook", func(p *place) { p.write(p.hookPath(), "") }},
		"mark elsewhere": {"foreign_hook", func(p *place) {
			p.install()
			p.write(p.hookPath(), "#!/bin/sh\nmine\n"+p.read(p.hookPath()))
		}},
		"edited":       {"changed_hook", func(p *place) { p.install(); p.write(p.hookPath(), p.read(p.hookPath())+"mine\n") }},
		"link to file": {"symlink", func(p *place) { p.write(p.dir+"/f", foreign); _ = os.Symlink(p.dir+"/f", p.hookPath()) }},
		"link to ours": {"symlink", func(p *place) {
			p.install()
			_ = os.Rename(p.hookPath(), p.dir+"/f")
			_ = os.Symlink(p.dir+"/f", p.hookPath())
		}},
		"link to nowhere": {"symlink", func(p *place) { _ = os.Symlink(p.dir+"/absent", p.hookPath()) }},
		"linked folder": {"symlink", func(p *place) {
			_ = os.RemoveAll(filepath.Dir(p.hookPath()))
			_ = os.Mkdir(p.dir+"/f", 0o755)
			_ = os.Symlink(p.dir+"/f", filepath.Dir(p.hookPath()))
		}},
		"folder linked to nowhere": {"symlink", func(p *place) {
			_ = os.RemoveAll(filepath.Dir(p.hookPath()))
			_ = os.Symlink(p.dir+"/absent", filepath.Dir(p.hookPath()))
		}},
		"folder":           {"not_a_file", func(p *place) { _ = os.Mkdir(p.hookPath(), 0o755) }},
		"no repository":    {"not_a_repository", func(p *place) { p.repo = p.dir }},
		"no binary":        {"binary", func(p *place) { p.binary += "x" }},
		"binary a folder":  {"binary", func(p *place) { p.binary = p.dir }},
		"binary no prog":   {"binary", func(p *place) { p.binary = p.dir + "/f"; p.write(p.binary, "x") }},
		"binary relative":  {"binary", func(p *place) { p.binary = "program" }},
		"binary of go run": {"binary", func(p *place) { p.binary = "/tmp/go-build1/b001/exe/redact" }},
		"binary inside": {"binary", func(p *place) {
			p.binary = filepath.Join(p.repo, "bin")
			p.write(p.binary, foreign)
			_ = os.Chmod(p.binary, 0o755)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			tt.make(p)
			before := p.tree()
			_, err := hook.Install(t.Context(), p.repo, p.settings())
			var e *hook.Error
			if !errors.As(err, &e) || e.Code != tt.code {
				t.Errorf("error is %v", err)
			}
			if after := p.tree(); !slices.Equal(before, after) {
				t.Errorf("it changed\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		})
	}
	p := newPlace(t)
	for _, pattern := range []string{"[", "", "\xff", "a\x00b"} {
		bad := p.settings()
		bad.Protect = []string{pattern}
		if _, err := hook.Install(t.Context(), p.repo, bad); err == nil {
			t.Errorf("the pattern %q is installed", pattern)
		}
	}
}

// TestNewFileReplacesNone that came while it was written.
func TestNewFileReplacesNone(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for n, want := range []error{nil, fs.ErrExist} {
		if err := hook.ReplaceFile(root, "f", strconv.Itoa(n), 0o600, true); !errors.Is(err, want) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if data, err := root.ReadFile("f"); err != nil || string(data) != "0" {
		t.Errorf("%s, %v", data, err)
	}
	if left, err := fs.Glob(root.FS(), "*"); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// tree is all that is there: names, kinds, and contents of what is near the hook.
func (p *place) tree() (all []string) {
	p.Helper()
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		line := path + " " + d.Type().String()
		if err == nil && d.Type().IsRegular() && strings.Contains(path, "pre-push") {
			line += " " + p.read(path)
		}
		all = append(all, line)
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return all
}

// TestScriptPassesEverythingOn to a program in sh: words, the arguments of git and standard input.
func TestScriptPassesEverythingOn(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "it's $(here) `x` \"y\"\\\n*")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\nprintf '<%s>' \"$@\" >&2\ncat >&2\necho '"+hook.Allowed+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := hook.Script(hook.Settings{Binary: binary, Command: []string{"a b", "$x"}, State: "it's", Protect: []string{"*", "-x"}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh, "-c", text, "pre-push", "origin", "file:///a b")
	cmd.Stdin = strings.NewReader("in")
	out, err := cmd.CombinedOutput()
	if want := "<a b><$x><--state><it's><--protect><*><--protect><-x><--><origin><file:///a b>in"; err != nil || string(out) != want {
		t.Errorf("%v: %s\nwant %s", err, out, want)
	}
}

// FuzzScript: what is made from settings is read back as them, and no other text passes for it.
func FuzzScript(f *testing.F) {
	f.Add("/bin/redact", "hook run", "", "main", 3)
	f.Add("/it's\n here", "x", "/state", "release/*", 100)
	f.Fuzz(func(t *testing.T, binary, command, state, protect string, at int) {
		text, err := hook.Script(hook.Settings{Binary: binary, Command: []string{command}, State: state, Protect: []string{protect}})
		if err != nil {
			return // no text of a script
		}
		if !hook.IsSame(hook.Parse(text)) {
			t.Errorf("%q is not recognised", text)
		}
		if at < 0 || at >= len(text) {
			return
		}
		changed := text[:at] + string(text[at]^1) + text[at+1:]
		if hook.IsSame(hook.Parse(changed)) {
			t.Errorf("%q is taken for ours", changed)
		}
	})
}

// TestInstallAgainKeeps what is not said anew, as after an update of the program.
func TestInstallAgainKeeps(t *testing.T) {
	p := newPlace(t)
	first := p.settings()
	first.Protect, first.State = []string{"stable-*"}, filepath.Join(p.dir, "another state")
	if _, err := hook.Install(t.Context(), p.repo, first); err != nil {
		t.Fatal(err)
	}
	again := p.settings()
	again.Protect, again.State = nil, ""
	got, err := hook.Install(t.Context(), p.repo, again)
	if err != nil || !slices.Equal(got.Settings.Protect, first.Protect) || got.Settings.State != first.State {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInstallRefusesAStateThatABranchCouldBring(t *testing.T) {
	p := newPlace(t)
	s := p.settings()
	s.State = filepath.Join(p.repo, "state")
	var e *hook.Error
	if _, err := hook.Install(t.Context(), p.repo, s); !errors.As(err, &e) || e.Code != "state_inside" {
		t.Error(err)
	}
}
