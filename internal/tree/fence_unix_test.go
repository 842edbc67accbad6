//go:build unix

package tree_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"aesop/internal/git"
	"aesop/internal/tree"
	"aesop/tracker"
)

// base is what the folder of each test begins with.
var base = map[string]string{"kept.txt": "kept\n", "owned/a.txt": "a\n", "owned/run.sh": "#!/bin/sh\n", "owned/folder/c.txt": "c\n",
	"other/b.txt": "b\n"}

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

// fence is Fence where nothing is ignored.
func fence(ctx context.Context, dir string, base []git.Entry, owns tracker.Ownership) ([]git.Change, []tree.Violation, error) {
	found, err := tree.Fence(ctx, dir, base, owns, nil)
	return found.Changes, found.Violations, err
}

func TestFence(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	linking := func(target string) func(*testing.T, string) {
		return func(t *testing.T, d string) { must(t, os.Symlink(target, at(d, "owned/l"))) }
	}
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
		"link to .git, deeper":       {linking("../x/.GIT/config"), nil, []string{"owned/l symlink_escapes"}},
		"link to .git, in disguise":  {linking("../git~1/config"), nil, []string{"owned/l symlink_escapes"}},
		"link with a backslash":      {linking(`..\..\x`), nil, []string{"owned/l symlink_escapes"}},
		"link with .. after a name":  {linking("sub/../a.txt"), nil, []string{"owned/l symlink_escapes"}},
		"link to itself":             {linking("l"), nil, []string{"owned/l symlink_escapes"}},
		"link to the root":           {linking(".."), []string{"120000 owned/l"}, nil},
		"link with dots and slashes": {linking("./..//other/./b.txt"), []string{"120000 owned/l"}, nil},
		"link to a link":             {linking("link"), []string{"120000 owned/l"}, nil},
		"link to nothing":            {linking("nothing"), []string{"120000 owned/l"}, nil},
		"chain of links out": {func(t *testing.T, d string) {
			must(t, os.MkdirAll(at(d, "owned/a/b/c/d"), 0o755))
			must(t, os.Symlink("../../../../..", at(d, "owned/a/b/c/d/up")))
			must(t, os.Symlink("a/b/c/d/up/../../../../etc/passwd", at(d, "owned/esc")))
		}, nil, []string{"owned/esc symlink_escapes"}},
		"chain of links to .git": {func(t *testing.T, d string) {
			must(t, os.MkdirAll(at(d, "owned/a"), 0o755))
			must(t, os.Symlink("../..", at(d, "owned/a/up")))
			must(t, os.Symlink("a/up/.git/config", at(d, "owned/g")))
		}, nil, []string{"owned/g symlink_escapes"}},
		"circle of links": {func(t *testing.T, d string) {
			must(t, os.Symlink("two", at(d, "owned/one")))
			must(t, os.Symlink("one", at(d, "owned/two")))
		}, nil, []string{"owned/one symlink_escapes", "owned/two symlink_escapes"}},
		"folder becomes link inside": {func(t *testing.T, d string) {
			must(t, os.RemoveAll(at(d, "owned/folder")))
			must(t, os.Symlink("../other", at(d, "owned/folder")))
		}, nil, []string{"owned/folder folder_link"}},
		"submodule gone":   {func(t *testing.T, d string) { must(t, os.Remove(at(d, "module"))) }, nil, []string{"module submodule"}},
		"submodule a file": {func(t *testing.T, d string) { must(t, os.Remove(at(d, "module"))); write(t, d, "module", "x") }, nil, []string{"module submodule"}},
		"submodule a link": {func(t *testing.T, d string) {
			must(t, os.Remove(at(d, "module")))
			must(t, os.Symlink("owned", at(d, "module")))
		}, nil, []string{"module submodule"}},
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
			changes, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
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

// names are paths and kinds of violations.
func names(violations []tree.Violation) []string {
	var list []string
	for _, v := range violations {
		list = append(list, v.Path+" "+v.Kind)
	}
	slices.Sort(list)
	return list
}

// TestOwnerOfAllMayNotReplaceWhatIsNoFile: ownership of every path is none of a submodule, and no leave to move folders.
func TestOwnerOfAllMayNotReplaceWhatIsNoFile(t *testing.T) {
	dir, entries := folder(t)
	must(t, os.Remove(filepath.Join(dir, "module")))
	write(t, dir, "module", "x")
	must(t, os.RemoveAll(filepath.Join(dir, "other")))
	must(t, os.Symlink("owned", filepath.Join(dir, "other")))
	_, violations, err := fence(t.Context(), dir, entries, owning(t, "**"))
	must(t, err)
	if got, want := names(violations), []string{"module submodule", "other folder_link"}; !slices.Equal(got, want) {
		t.Errorf("violations %q, want %q", got, want)
	}
}

// TestLinksOfTheBaseAreFollowedThroughChangedOnes: what leads out of the tree is old, what makes it lead there is new.
func TestLinksOfTheBaseAreFollowedThroughChangedOnes(t *testing.T) {
	dir, entries := folder(t)
	for name, target := range map[string]string{"out": "/opt/tools", "git": ".git/config", "through": "owned/l/../../x"} {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
		entries = append(entries, git.Entry{Mode: "120000", Blob: blob(t, target), Path: name})
	}
	changes, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(changes)+len(violations) > 0 {
		t.Fatalf("without a change: %v, %v", changes, violations)
	}
	for target, want := range map[string][]string{
		"../out/x": {"owned/l symlink_escapes"}, "../git": {"owned/l symlink_escapes"}, "..": {"owned/l symlink_escapes"}, "folder": nil,
	} {
		must(t, os.Symlink(target, filepath.Join(dir, "owned/l")))
		_, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
		must(t, err)
		if got := names(violations); !slices.Equal(got, want) {
			t.Errorf("link to %s: violations %q, want %q", target, got, want)
		}
		must(t, os.Remove(filepath.Join(dir, "owned/l")))
	}
}

// TestLinksThatPassStayInside: the system itself, asked where they lead, names a place of the tree.
func TestLinksThatPassStayInside(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	segments := []string{"..", "..", "a", "b", "l0", "l1", "l2", "l3", ".", ".git", "x"}
	passed := 0
	for range 400 {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		must(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
		must(t, os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
		var links []string
		for i := range 4 {
			var target []string
			for range 1 + random.IntN(4) {
				target = append(target, segments[random.IntN(len(segments))])
			}
			name := []string{"", "a/", "a/b/"}[random.IntN(3)] + "l" + strconv.Itoa(i)
			must(t, os.Symlink(strings.Join(target, "/"), filepath.Join(dir, name)))
			links = append(links, name)
		}
		_, violations, err := fence(t.Context(), dir, nil, owning(t, "**"))
		must(t, err)
		refused := names(violations)
		for _, name := range links {
			place, err := filepath.EvalSymlinks(filepath.Join(dir, name))
			if err != nil || slices.Contains(refused, name+" symlink_escapes") {
				continue
			}
			passed++
			if in, err := filepath.Rel(dir, place); err != nil || !filepath.IsLocal(in) || strings.HasPrefix(in, ".git") {
				t.Errorf("%s of %q leads to %s and is not refused", name, links, place)
			}
		}
	}
	if passed < 50 {
		t.Errorf("only %d links passed", passed)
	}
}

// TestNamesThatAreNotText: they may stay as they are.
func TestNamesThatAreNotText(t *testing.T) {
	dir, entries := folder(t)
	for _, name := range []string{"owned/caf\xe9", "l\xe4nder/x", "l\xe4nder/\xff/y"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Skipf("not applicable: no such name here: %v", err)
		}
		write(t, dir, name, name)
		entries = append(entries, git.Entry{Mode: "100644", Blob: blob(t, name), Path: name})
	}
	changes, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(changes)+len(violations) > 0 {
		t.Errorf("without a change: %v, %v", changes, violations)
	}
	write(t, dir, "owned/caf\xe9", "x")
	write(t, dir, "owned/\xe9", "x")
	must(t, os.RemoveAll(filepath.Join(dir, "l\xe4nder/\xff")))
	_, violations, err = fence(t.Context(), dir, entries, owning(t, "**"))
	must(t, err)
	want := []string{"l\xe4nder/\xff/y invalid_name", "owned/caf\xe9 invalid_name", "owned/\xe9 invalid_name"}
	if got := names(violations); !slices.Equal(got, want) {
		t.Errorf("violations %q, want %q", got, want)
	}
}

// TestTwinsOfTheBaseMayChange: only twins that the change brings are its fault.
func TestTwinsOfTheBaseMayChange(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(t *testing.T, dir string)
		want []string
	}{
		"one changes":           {func(t *testing.T, d string) { write(t, d, "owned/X", "new") }, nil},
		"the other changes":     {func(t *testing.T, d string) { write(t, d, "owned/x", "new") }, nil},
		"one goes":              {func(t *testing.T, d string) { must(t, os.Remove(filepath.Join(d, "owned/X"))) }, nil},
		"new in a twin folder":  {func(t *testing.T, d string) { write(t, d, "owned/Y/new", "new") }, nil},
		"twin in a twin folder": {func(t *testing.T, d string) { write(t, d, "owned/Y/two", "new") }, []string{"owned/Y/two twin"}},
		"third twin":            {func(t *testing.T, d string) { write(t, d, "owned/YY/a", ""); write(t, d, "owned/yY/a", "") }, []string{"owned/yY/a twin"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, entries := folder(t)
			for _, name := range []string{"owned/X", "owned/x", "owned/Y/one", "owned/y/two"} {
				write(t, dir, name, name)
				entries = append(entries, git.Entry{Mode: "100644", Blob: blob(t, name), Path: name})
			}
			if upper, err := os.ReadFile(filepath.Join(dir, "owned/X")); err != nil || string(upper) != "owned/X" {
				t.Skip("not applicable: the file system has no twins")
			}
			tt.act(t, dir)
			_, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
			must(t, err)
			if got := names(violations); !slices.Equal(got, tt.want) {
				t.Errorf("violations %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFenceReturnsTheBytesItChecked(t *testing.T) {
	dir, entries := folder(t)
	write(t, dir, "owned/a.txt", "new\x00bytes")
	changes, _, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
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
	_, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(violations) != 2 || violations[0].Kind != tree.TooLarge || violations[1].Kind != tree.TooLarge {
		t.Errorf("violations: %v", violations)
	}
}

func TestLargeFileOfTheBaseMayStay(t *testing.T) {
	dir, entries := folder(t)
	write(t, dir, "large.bin", strings.Repeat("x", 65<<20))
	entries = append(entries, git.Entry{Mode: "100644", Blob: blob(t, strings.Repeat("x", 65<<20)), Path: "large.bin"})
	changes, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
	must(t, err)
	if len(changes)+len(violations) > 0 {
		t.Errorf("%d changes, violations %v", len(changes), violations)
	}
}

func TestFenceEndsWithItsContext(t *testing.T) {
	dir, entries := folder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := fence(ctx, dir, entries, owning(t, "owned/")); err == nil {
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
	_, violations, err := fence(t.Context(), dir, entries, owning(t, "owned/"))
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
