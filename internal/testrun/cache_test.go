//go:build unix

package testrun_test

import (
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
