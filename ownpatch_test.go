//go:build unix

package aesop_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aesop/tracker"
)

// The project's own backlog, and what its item makes of a tree without it: a patch that was recorded from this tree.
const (
	ownConfig  = "testdata/backlog/aesop.json"
	ownBacklog = "testdata/backlog/tracker.json"
	ownPatch   = "testdata/backlog/template-validate.patch"
)

var record = flag.Bool("record", false, "record the patch of the project's own backlog anew")

// TestOwnPatchIsInTheTree, so that a clone without it can be made; and it is all that its item owns.
func TestOwnPatchIsInTheTree(t *testing.T) {
	needsCheckout(t)
	newUser(t, t.TempDir())
	owned := ownItem(t).OwnsFiles
	if *record {
		recordOwnPatch(t, owned)
	}
	if out, err := exec.Command("git", "apply", "--reverse", "--check", ownPatch).CombinedOutput(); err != nil {
		t.Fatalf("%s is not what the tree has any more:\n%s\nTo record it anew: go test . -run TestOwnPatchIsInTheTree -record", ownPatch, out)
	}
	var paths []string
	for _, file := range patchOfFiles(t) {
		paths = append(paths, file.path)
	}
	if !slices.Equal(paths, owned) {
		t.Errorf("the patch changes %q, and its item owns %q", paths, owned)
	}
}

// recordOwnPatch writes the patch from the owned files as they are now. Before it, those that it creates did not exist, and from the
// others its old lines are taken out; where those have changed too, that has to be done by hand.
func recordOwnPatch(t *testing.T, owned []string) {
	t.Helper()
	patch, err := filepath.Abs(ownPatch)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, path := range owned {
		write(t, filepath.Join(dir, path), readFile(t, path))
	}
	git(t, dir, "init", "--quiet")
	git(t, dir, "add", "--all")
	edits := map[string]bool{}
	for _, file := range patchOfFiles(t) {
		edits[file.path] = !file.creates
	}
	for _, path := range owned {
		if edits[path] {
			git(t, dir, "apply", "--reverse", "--recount", "-C1", "--include="+path, patch)
		} else if err := os.Remove(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(patch, []byte(git(t, dir, "diff", "-R", "--src-prefix=b/", "--dst-prefix=a/")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// filePatch is the part of a patch that is about one file.
type filePatch struct {
	path, text string
	creates    bool
}

func patchOfFiles(t *testing.T) []filePatch {
	t.Helper()
	patch := readFile(t, ownPatch)
	var files []filePatch
	begins := regexp.MustCompile(`(?m)^diff --git a/(\S+) b/`).FindAllStringSubmatchIndex(patch, -1)
	for n, at := range begins {
		end := len(patch)
		if n+1 < len(begins) {
			end = begins[n+1][0]
		}
		text := patch[at[0]:end]
		files = append(files, filePatch{path: patch[at[2]:at[3]], text: text, creates: strings.Contains(text, "\nnew file mode ")})
	}
	return files
}

// ownItem is the one item of the backlog.
func ownItem(t *testing.T) tracker.Item {
	t.Helper()
	return onlyItem(t, ownBacklog)
}

func onlyItem(t *testing.T, file string) tracker.Item {
	t.Helper()
	backlog, err := tracker.Parse(file, []byte(readFile(t, file)))
	if err != nil || len(backlog.Items) != 1 {
		t.Fatalf("%d items in %s: %v", len(backlog.Items), file, err)
	}
	return backlog.Items[0]
}

// needsCheckout skips a test where the source was not cloned, as where it is another module's dependency.
func needsCheckout(t *testing.T) {
	t.Helper()
	if below, err := exec.Command("git", "rev-parse", "--show-prefix").Output(); err != nil || strings.TrimSpace(string(below)) != "" {
		t.Skip("not applicable: the source is no git checkout of its own")
	}
}
