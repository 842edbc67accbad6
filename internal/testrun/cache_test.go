//go:build unix

package testrun_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"aesop/internal/testrun"
)

func TestCopyTree(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to", "cache")
	must(testrun.CopyTree(to, from))
	if _, err := os.Lstat(to); err == nil {
		t.Error("there was no cache, and now there is")
	}
	must(os.MkdirAll(filepath.Join(from, "a", "empty"), 0o755))
	must(os.WriteFile(filepath.Join(from, "a", "tool"), []byte("tool"), 0o755))
	must(os.WriteFile(filepath.Join(from, "fixed"), []byte("fixed"), 0o444))
	must(os.Symlink("../fixed", filepath.Join(from, "a", "link")))
	must(os.Symlink("a/empty", filepath.Join(from, "folder")))
	must(os.Symlink("nowhere", filepath.Join(from, "dangling")))
	must(os.Symlink("../outside", filepath.Join(from, "out")))
	must(os.Symlink(filepath.Join(from, "fixed"), filepath.Join(from, "absolute")))
	must(syscall.Mkfifo(filepath.Join(from, "fifo"), 0o644))
	socket, err := net.Listen("unix", filepath.Join(from, "a", "socket"))
	must(err)
	defer socket.Close()
	must(testrun.CopyTree(to, from))
	var got []string
	must(filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			name, _ := filepath.Rel(to, path)
			got = append(got, d.Type().String()[:1]+" "+name)
		}
		return err
	}))
	want := []string{"d .", "d a", "d a/empty", "L a/link", "- a/tool", "L dangling", "- fixed", "L folder"}
	if !slices.Equal(got, want) {
		t.Errorf("copied %q, want %q", got, want)
	}
	for name, mode := range map[string]fs.FileMode{"a/tool": 0o755, "a/link": 0o444} {
		info, err := os.Stat(filepath.Join(to, name))
		must(err)
		if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	must(os.WriteFile(filepath.Join(to, "a", "tool"), []byte("changed"), 0o755))
	if data, err := os.ReadFile(filepath.Join(from, "a", "tool")); err != nil || string(data) != "tool" {
		t.Errorf("the cache that was copied has %q, %v", data, err)
	}
}

func TestCopyWithin(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	must(os.MkdirAll(filepath.Join(from, "bin"), 0o755))
	must(os.Symlink("../../README.md", filepath.Join(from, "bin", "readme")))
	must(testrun.CopyWithin(filepath.Join(dir, "to"), "kit", from))
	if points, err := os.Readlink(filepath.Join(dir, "to", "kit", "bin", "readme")); points != "../../README.md" {
		t.Errorf("the link to elsewhere in the tree leads to %q (%v)", points, err)
	}
	for name, points := range map[string]string{"above": "../../out", "absolute": from} {
		must(os.Symlink(points, filepath.Join(from, "bin", name)))
		err := testrun.CopyWithin(filepath.Join(dir, name), "", filepath.Join(from, "bin"))
		if out, ok := errors.AsType[*testrun.OutsideError](err); !ok || out.Points == "" {
			t.Errorf("%s: %v", name, err)
		}
		must(os.Remove(filepath.Join(from, "bin", name)))
	}
}

// TestDigestTree: a copy has the digest of what was copied, and any change that matters gives another.
func TestDigestTree(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	make := func(name string) string {
		at := filepath.Join(dir, name)
		must(os.MkdirAll(filepath.Join(at, "sub"), 0o755))
		must(os.WriteFile(filepath.Join(at, "file"), []byte("x"), 0o644))
		must(os.Symlink("file", filepath.Join(at, "link")))
		return at
	}
	digest := func(at string) string {
		d, err := testrun.DigestTree(at)
		must(err)
		return d
	}
	same := digest(make("first"))
	copied := filepath.Join(dir, "copied")
	must(testrun.CopyTree(copied, filepath.Join(dir, "first")))
	if digest(copied) != same {
		t.Error("a copy has another digest")
	}
	for name, change := range map[string]func(at string) error{
		"content":    func(at string) error { return os.WriteFile(filepath.Join(at, "file"), []byte("y"), 0o644) },
		"executable": func(at string) error { return os.Chmod(filepath.Join(at, "file"), 0o755) },
		"name":       func(at string) error { return os.Rename(filepath.Join(at, "file"), filepath.Join(at, "file2")) },
		"folder":     func(at string) error { return os.Remove(filepath.Join(at, "sub")) },
		"link": func(at string) error {
			return errors.Join(os.Remove(filepath.Join(at, "link")), os.Symlink("sub", filepath.Join(at, "link")))
		},
	} {
		at := make(name)
		must(change(at))
		if digest(at) == same {
			t.Errorf("a change of %s is not seen", name)
		}
	}
	if _, err := testrun.DigestTree(filepath.Join(dir, "missing")); err == nil {
		t.Error("what is not there has a digest")
	}
}
