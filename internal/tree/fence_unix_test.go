//go:build unix

package tree_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"aesop/internal/git"
	"aesop/internal/tree"
	"aesop/tracker"
)

// base is what the folder of each test begins with.
var base = map[string]string{"kept.txt": "kept\n", "owned/a.txt": "a\n", "owned/run.sh": "#!/bin/sh\n", "other/b.txt": "b\n"}

// folder makes a checkout of base and returns it with git's list of it.
func folder(t *testing.T) (string, []git.Entry) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range base {
		write(t, dir, name, text)
	}
	must(t, os.Chmod(filepath.Join(dir, "owned/run.sh"), 0o755))
	must(t, os.Symlink("a.txt", filepath.Join(dir, "owned/link")))
	must(t, os.MkdirAll(filepath.Join(dir, "module"), 0o755)) // where a submodule is not checked out
	entries := []git.Entry{{Mode: "160000", Blob: strings.Repeat("1", 40), Path: "module"}, {Mode: "120000", Blob: blob(t, "a.txt"), Path: "owned/link"}}
	for name, text := range base {
		mode := "100644"
		if name == "owned/run.sh" {
			mode = "100755"
		}
		entries = append(entries, git.Entry{Mode: mode, Blob: blob(t, text), Path: name})
	}
	return dir, entries
}

// blob is git's own id of a text.
func blob(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.Command("git", "hash-object", "--stdin")
	cmd.Stdin = strings.NewReader(text)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func owning(t *testing.T, patterns ...string) tracker.Ownership {
	t.Helper()
	owns, err := tracker.ParseOwnership(patterns)
	must(t, err)
	return owns
}

func TestFence(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for name, tt := range map[string]struct {
		act     func(t *testing.T, dir string)
		changes []string // mode and path; - is a removal
		refused []string // path and kind
	}{
		"nothing": {func(*testing.T, string) {}, nil, nil},
		"touched": {func(t *testing.T, d string) { write(t, d, "kept.txt", "kept\n") }, nil, nil},
		"change":  {func(t *testing.T, d string) { write(t, d, "owned/a.txt", "b\n") }, []string{"100644 owned/a.txt"}, nil},
		"same size, old time": {func(t *testing.T, d string) {
			info, err := os.Stat(at(d, "owned/a.txt"))
			must(t, err)
			write(t, d, "owned/a.txt", "b\n")
			must(t, os.Chtimes(at(d, "owned/a.txt"), info.ModTime(), info.ModTime()))
		}, []string{"100644 owned/a.txt"}, nil},
		"new":            {func(t *testing.T, d string) { write(t, d, "owned/deep/er.txt", "x") }, []string{"100644 owned/deep/er.txt"}, nil},
		"removed":        {func(t *testing.T, d string) { must(t, os.Remove(at(d, "owned/a.txt"))) }, []string{"- owned/a.txt"}, nil},
		"executable":     {func(t *testing.T, d string) { must(t, os.Chmod(at(d, "owned/a.txt"), 0o755)) }, []string{"100755 owned/a.txt"}, nil},
		"not executable": {func(t *testing.T, d string) { must(t, os.Chmod(at(d, "owned/run.sh"), 0o644)) }, []string{"100644 owned/run.sh"}, nil},
		"link moved": {func(t *testing.T, d string) {
			must(t, os.Remove(at(d, "owned/link")))
			must(t, os.Symlink("../kept.txt", at(d, "owned/link")))
		}, []string{"120000 owned/link"}, nil},
		"file becomes folder": {func(t *testing.T, d string) {
			must(t, os.Remove(at(d, "owned/a.txt")))
			write(t, d, "owned/a.txt/inside", "x")
		}, []string{"- owned/a.txt", "100644 owned/a.txt/inside"}, nil},
		"empty folder":              {func(t *testing.T, d string) { must(t, os.MkdirAll(at(d, "elsewhere/empty"), 0o755)) }, nil, nil},
		"the throw-away repository": {func(t *testing.T, d string) { write(t, d, ".git/config", "[core] fsmonitor = evil") }, nil, nil},

		"outside":          {func(t *testing.T, d string) { write(t, d, "kept.txt", "x") }, nil, []string{"kept.txt outside_owned"}},
		"outside, new":     {func(t *testing.T, d string) { write(t, d, "new.txt", "x") }, nil, []string{"new.txt outside_owned"}},
		"outside, removed": {func(t *testing.T, d string) { must(t, os.Remove(at(d, "other/b.txt"))) }, nil, []string{"other/b.txt outside_owned"}},
		"outside, mode":    {func(t *testing.T, d string) { must(t, os.Chmod(at(d, "kept.txt"), 0o755)) }, nil, []string{"kept.txt outside_owned"}},
		"moved out":        {func(t *testing.T, d string) { must(t, os.Rename(at(d, "owned/a.txt"), at(d, "a.txt"))) }, []string{"- owned/a.txt"}, []string{"a.txt outside_owned"}},
		"ignored all the same": {func(t *testing.T, d string) {
			write(t, d, "owned/.gitignore", "*\n")
			write(t, d, "cache/x", "x")
			write(t, d, ".git/info/exclude", "cache/\n")
		}, []string{"100644 owned/.gitignore"}, []string{"cache/x outside_owned"}},
		"attributes":                    {func(t *testing.T, d string) { write(t, d, ".gitattributes", "* filter=evil") }, nil, []string{".gitattributes outside_owned"}},
		"nested repository":             {func(t *testing.T, d string) { write(t, d, "owned/sub/.git/HEAD", "x") }, nil, []string{"owned/sub/.git git_directory"}},
		"nested repository, other case": {func(t *testing.T, d string) { write(t, d, "owned/.GiT/hooks/x", "x") }, nil, []string{"owned/.GiT git_directory"}},
		"git file":                      {func(t *testing.T, d string) { write(t, d, "owned/.git", "gitdir: /elsewhere") }, nil, []string{"owned/.git git_directory"}},
		"short name":                    {func(t *testing.T, d string) { write(t, d, "owned/GIT~1/config", "x") }, nil, []string{"owned/GIT~1/config invalid_name"}},
		"submodule filled":              {func(t *testing.T, d string) { write(t, d, "module/x", "x") }, nil, []string{"module submodule"}},
		"hard link":                     {func(t *testing.T, d string) { must(t, os.Link(at(d, "kept.txt"), at(d, "owned/hard.txt"))) }, nil, []string{"owned/hard.txt hard_link"}},
		"absolute link":                 {func(t *testing.T, d string) { must(t, os.Symlink("/etc/passwd", at(d, "owned/l"))) }, nil, []string{"owned/l symlink_escapes"}},
		"link out":                      {func(t *testing.T, d string) { must(t, os.Symlink("../../x", at(d, "owned/l"))) }, nil, []string{"owned/l symlink_escapes"}},
		"link to .git":                  {func(t *testing.T, d string) { must(t, os.Symlink("../.git/config", at(d, "owned/l"))) }, nil, []string{"owned/l symlink_escapes"}},
		"folder becomes link": {func(t *testing.T, d string) {
			must(t, os.RemoveAll(at(d, "other")))
			must(t, os.Symlink("/tmp", at(d, "other")))
		}, nil, []string{"other symlink_escapes", "other/b.txt outside_owned"}},
		"fifo":        {func(t *testing.T, d string) { must(t, syscall.Mkfifo(at(d, "owned/pipe"), 0o644)) }, nil, []string{"owned/pipe not_a_file"}},
		"case twin":   {func(t *testing.T, d string) { write(t, d, "owned/A.TXT", "x") }, nil, []string{"owned/A.TXT twin"}},
		"folder twin": {func(t *testing.T, d string) { write(t, d, "OWNED/c.txt", "x") }, nil, []string{"OWNED/c.txt twin"}},
		"unicode twin": {func(t *testing.T, d string) {
			write(t, d, "owned/\u00e9", "x")
			write(t, d, "owned/e\u0301", "x")
		}, nil, []string{"owned/\u00e9 twin"}},
		"replaced twin":     {func(t *testing.T, d string) { must(t, os.Rename(at(d, "owned/a.txt"), at(d, "owned/A.txt"))) }, []string{"- owned/a.txt", "100644 owned/A.txt"}, nil},
		"reserved name":     {func(t *testing.T, d string) { write(t, d, "owned/aux.c", "x") }, nil, []string{"owned/aux.c invalid_name"}},
		"control character": {func(t *testing.T, d string) { write(t, d, "owned/a\nb", "x") }, nil, []string{"owned/a\nb invalid_name"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, entries := folder(t)
			tt.act(t, dir)
			changes, violations, err := tree.Fence(t.Context(), dir, entries, owning(t, "owned/"))
			must(t, err)
			var got, refused []string
			for _, c := range changes {
				mode := c.Mode
				if mode == "" {
					mode = "-"
				}
				got = append(got, mode+" "+c.Path)
			}
			for _, v := range violations {
				refused = append(refused, v.Path+" "+v.Kind)
			}
			slices.Sort(got)
			slices.Sort(tt.changes)
			if len(tt.refused) == 0 && !slices.Equal(got, tt.changes) {
				t.Errorf("changes %q, want %q", got, tt.changes)
			}
			for _, want := range tt.refused {
				if !slices.Contains(refused, want) {
					t.Errorf("refused %q, want %q", refused, want)
				}
			}
			if len(tt.refused) == 0 && len(refused) > 0 {
				t.Errorf("refused %q, want nothing", refused)
			}
		})
	}
}

func TestFenceReturnsTheBytesItChecked(t *testing.T) {
	dir, entries := folder(t)
	write(t, dir, "owned/a.txt", "new\x00bytes")
	changes, _, err := tree.Fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(changes) != 1 || string(changes[0].Data) != "new\x00bytes" {
		t.Errorf("changes: %+v", changes)
	}
}

func TestHugeFilesAreRefusedNotRead(t *testing.T) {
	dir, entries := folder(t)
	must(t, os.Truncate(filepath.Join(dir, "owned/a.txt"), 4<<40))
	write(t, dir, "owned/new.bin", "")
	must(t, os.Truncate(filepath.Join(dir, "owned/new.bin"), 65<<20))
	_, violations, err := tree.Fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(violations) != 2 || violations[0].Kind != tree.TooLarge || violations[1].Kind != tree.TooLarge {
		t.Errorf("violations: %v", violations)
	}
}

func TestLargeFileOfTheBaseMayStay(t *testing.T) {
	dir, entries := folder(t)
	write(t, dir, "large.bin", strings.Repeat("x", 65<<20))
	entries = append(entries, git.Entry{Mode: "100644", Blob: blob(t, strings.Repeat("x", 65<<20)), Path: "large.bin"})
	changes, violations, err := tree.Fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(changes)+len(violations) > 0 {
		t.Errorf("%d changes, violations %v", len(changes), violations)
	}
}

func TestFenceEndsWithItsContext(t *testing.T) {
	dir, entries := folder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := tree.Fence(ctx, dir, entries, owning(t, "owned/")); err == nil {
		t.Error("no error")
	}
}

func TestUnreadableFolderHidesNothing(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root reads everything; the folder is read as usual")
	}
	dir, entries := folder(t)
	write(t, dir, "secret/x", "x")
	must(t, os.Chmod(filepath.Join(dir, "secret"), 0))
	t.Cleanup(func() { must(t, os.Chmod(filepath.Join(dir, "secret"), 0o755)) })
	_, violations, err := tree.Fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(violations) != 1 || !strings.HasPrefix(violations[0].Path, "secret") {
		t.Errorf("violations: %v", violations)
	}
}

func TestModifiedNamesOnlyWhatWasGiven(t *testing.T) {
	dir, entries := folder(t)
	write(t, dir, "kept.txt", "x")
	write(t, dir, "new.txt", "x")
	must(t, os.Remove(filepath.Join(dir, "other/b.txt")))
	names, err := tree.Modified(t.Context(), dir, entries)
	must(t, err)
	if want := []string{"kept.txt", "other/b.txt"}; !slices.Equal(names, want) {
		t.Errorf("modified %q, want %q", names, want)
	}
}

func TestDigestComparesDataWithIDs(t *testing.T) {
	like := strings.Repeat("0", 40)
	data := []git.Change{{Path: "b", Mode: "100644", Data: []byte("x\n")}, {Path: "a"}}
	ids := []git.Change{{Path: "a"}, {Path: "b", Mode: "100644", Blob: blob(t, "x\n")}}
	if tree.Digest(data, like) != tree.Digest(ids, like) {
		t.Error("equal changes have different digests")
	}
	for name, other := range map[string][]git.Change{
		"content": {{Path: "a"}, {Path: "b", Mode: "100644", Data: []byte("y\n")}},
		"mode":    {{Path: "a"}, {Path: "b", Mode: "100755", Data: []byte("x\n")}},
		"path":    {{Path: "c"}, {Path: "b", Mode: "100644", Data: []byte("x\n")}},
		"fewer":   {{Path: "b", Mode: "100644", Data: []byte("x\n")}},
	} {
		if tree.Digest(data, like) == tree.Digest(other, like) {
			t.Errorf("%s: different changes have one digest", name)
		}
	}
}
