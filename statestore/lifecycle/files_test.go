package lifecycle_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/statestore/lifecycle"
)

func newestChange(t *testing.T, folder string) time.Time {
	t.Helper()
	at, err := lifecycle.NewestChange(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// tree has a file in a folder in a folder, all of the same time.
func tree(t *testing.T, at time.Time) (root, file string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "agent")
	file = filepath.Join(root, "a", "out.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Dir(file), root} {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return root, file
}

func TestTheNewestChangeIsThatOfAnyFileOrFolder(t *testing.T) {
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	root, file := tree(t, old)
	if at := newestChange(t, root); !at.Equal(old) {
		t.Errorf("it is %s", at)
	}
	for _, path := range []string{root, filepath.Dir(file), file} {
		old = old.Add(time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		if at := newestChange(t, root); !at.Equal(old) {
			t.Errorf("%s changed at %s, seen is %s", path, old, at)
		}
	}
}

// TestAFolderThatSaysNothingIsAnError: a mistyped path would otherwise look like an agent that is as it was.
func TestAFolderThatSaysNothingIsAnError(t *testing.T) {
	root, file := tree(t, time.Now())
	link := filepath.Join(filepath.Dir(root), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{root + "x", file, link, ""} {
		if at, err := lifecycle.NewestChange(t.Context(), path); err == nil || !at.IsZero() {
			t.Errorf("%q: %s, %v", path, at, err)
		}
	}
	if _, err := lifecycle.NewestChange(t.Context(), root+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lifecycle.NewestChange(ctx, root); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestAFolderThatCannotBeReadIsAnError(t *testing.T) {
	root, file := tree(t, time.Now())
	if err := os.Chmod(filepath.Dir(file), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(file), 0o700) })
	if _, err := os.ReadDir(filepath.Dir(file)); err == nil {
		t.Skip("not applicable: this user may read everything")
	}
	if at, err := lifecycle.NewestChange(t.Context(), root); !errors.Is(err, fs.ErrPermission) || !at.IsZero() {
		t.Errorf("%s, %v", at, err)
	}
}

// TestLinksAreNotFollowed, neither to files and folders outside nor in circles.
func TestLinksAreNotFollowed(t *testing.T) {
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	root, _ := tree(t, old)
	outside, newer := tree(t, old.Add(time.Hour))
	for name, to := range map[string]string{"folder": outside, "file": newer, "circle": root, "nowhere": filepath.Join(root, "none")} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Chtimes(newer, old.Add(1000*time.Hour), time.Now().Add(1000*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if at := newestChange(t, root); at.After(time.Now().Add(time.Hour)) {
		t.Errorf("it is %s, of a file outside", at)
	}
}

// TestTooManyFilesSayNothing: neither does the newest of the first.
func TestTooManyFilesSayNothing(t *testing.T) {
	root, _ := tree(t, time.Now()) // with itself three
	if _, err := lifecycle.NewestChangeOf(t.Context(), root, 3); err != nil {
		t.Error(err)
	}
	if at, err := lifecycle.NewestChangeOf(t.Context(), root, 2); !errors.Is(err, lifecycle.ErrTooManyFiles) || !at.IsZero() {
		t.Errorf("%s, %v", at, err)
	}
}

// TestTooDeepFoldersSayNothing: each folder is found through all that it is in, which takes minutes for a few thousand.
func TestTooDeepFoldersSayNothing(t *testing.T) {
	folder := t.TempDir()
	deep := strings.Repeat("d/", lifecycle.MaxDepth)
	if err := os.MkdirAll(filepath.Join(folder, deep), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := lifecycle.NewestChange(t.Context(), folder); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(folder, deep, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if at, err := lifecycle.NewestChange(t.Context(), folder); !errors.Is(err, lifecycle.ErrTooManyFiles) || !at.IsZero() {
		t.Errorf("%s, %v", at, err)
	}
}
