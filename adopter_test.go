//go:build unix

package aesop_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goCommand runs the go command as a stranger with nothing but the modules that are here already.
func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// stranger is a copy of the module testdata/adopter outside of this one, which requires the library in root by its name.
func stranger(t *testing.T, root, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "adopter")
	copyTree(t, filepath.Join(root, "testdata", "adopter"), dir)
	path := filepath.Join(dir, "go.mod")
	write(t, path, strings.NewReplacer("aesop v0.0.0", name+" v0.0.0", "aesop => ../..", name+" => "+root).Replace(readFile(t, path)))
	return dir
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case entry.Name() == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, info.Mode().Perm())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// use builds, vets, tests and runs a stranger's module.
func use(t *testing.T, dir string) {
	t.Helper()
	goCommand(t, dir, "vet", "./...")
	goCommand(t, dir, "test", "./...")
	repo, _ := repository(t)
	if out := goCommand(t, dir, "run", ".", repo, filepath.Join(t.TempDir(), "state"), "echo hello >greeting.txt"); out != "shipped 1 item\ngreet shipped\n" {
		t.Errorf("a wave says %q", out)
	}
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// asStranger sets the environment of the go command: its caches, which are not to be found after a test took the home away, and settings.
func asStranger(t *testing.T, flags, work string) {
	t.Helper()
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		t.Setenv(name, strings.TrimSpace(goCommand(t, ".", "env", name)))
	}
	t.Setenv("GOFLAGS", flags+" -buildvcs=false")
	t.Setenv("GOWORK", work)
}

// modulesOfAWave are all that a program without a database links beside the library.
func modulesOfAWave() []string {
	return []string{"github.com/bmatcuk/doublestar/v4", "github.com/gofrs/flock", "github.com/google/renameio/v2", "github.com/tailscale/hujson",
		"go.uber.org/multierr", "go.uber.org/zap", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/text"}
}

// TestAdopter: a module of somebody else can use the library in every way that PORTING.md names.
func TestAdopter(t *testing.T) {
	root, name := repositoryRoot(t), modulePath(t)
	t.Run("replaced", func(t *testing.T) {
		asStranger(t, "-mod=mod", "off")
		dir := stranger(t, root, name)
		use(t, dir)
		checkLinked(t, dir, name)
	})
	t.Run("workspace", func(t *testing.T) {
		dir := stranger(t, root, name)
		asStranger(t, "", filepath.Join(filepath.Dir(dir), "go.work"))
		goCommand(t, dir, "mod", "edit", "-droprequire="+name, "-dropreplace="+name)
		goCommand(t, filepath.Dir(dir), "work", "init", "./adopter", root)
		use(t, dir)
	})
	t.Run("vendored", func(t *testing.T) {
		dir := stranger(t, root, name)
		asStranger(t, "-mod=mod", "off")
		goCommand(t, dir, "mod", "vendor")
		asStranger(t, "-mod=vendor", "off")
		use(t, dir)
	})
	t.Run("renamed", func(t *testing.T) {
		if name != "aesop" {
			t.Skip("not applicable: this module is renamed")
		}
		asStranger(t, "-mod=mod", "off")
		copied := filepath.Join(t.TempDir(), "aesop")
		copyTree(t, root, copied)
		rename(t, copied)
		goCommand(t, copied, "vet", ".", "./wave", "./driver/...") // also the tests
		use(t, stranger(t, copied, "example.com/you/aesop"))
	})
}

// checkLinked: a program that needs no database links none.
func checkLinked(t *testing.T, dir, name string) {
	t.Helper()
	linked := strings.Fields(goCommand(t, dir, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."))
	slices.Sort(linked)
	want := append(modulesOfAWave(), name, "example.com/adopter")
	slices.Sort(want)
	if linked = slices.Compact(linked); !slices.Equal(linked, want) {
		t.Errorf("the program links %q", linked)
	}
	mod := readFile(t, filepath.Join(dir, "go.mod"))
	for _, module := range heavy {
		if strings.Contains(mod, module) {
			t.Errorf("go.mod of the adopter names %s", module)
		}
	}
}

// rename does what PORTING.md says to give the module in dir another name.
func rename(t *testing.T, dir string) {
	t.Helper()
	commands := ""
	for _, block := range blocks(t, readFile(t, "PORTING.md")) {
		if strings.HasPrefix(block.body, "go mod edit -module ") {
			commands = block.body
		}
	}
	if n := strings.Count(commands, "\n"); n != 3 {
		t.Fatalf("PORTING.md renames by %d commands, want 3", n)
	}
	cmd := exec.Command("sh", "-e", "-c", commands)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("rename: %v\n%s", err, out)
	}
}
