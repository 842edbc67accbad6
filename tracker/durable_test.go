//go:build !windows

package tracker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func openSound(t *testing.T, dir string) (*File, string) {
	t.Helper()
	path := filepath.Join(dir, "tracker.json")
	const text = `[{"id": "a", "slug": "a", "ownsFiles": ["x"], "prompt": "p", "testCmd": "t"}, {"id": "b", "slug": "b", "ownsFiles": ["y"], "prompt": "p", "testCmd": "t"}]`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(FileConfig{Path: path, LockDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return f, text
}

// TestOneDurableWriteACall: the new file is on disk before it takes its place, the place is on disk before the call returns,
// and all of it happens once, whatever the number of claims.
func TestOneDurableWriteACall(t *testing.T) {
	dir := t.TempDir()
	f, text := openSound(t, dir)
	var steps []string
	f.sync = func(file *os.File) error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		name := "file"
		if info.IsDir() {
			name = "directory"
		}
		steps = append(steps, fmt.Sprintf("%s, visible %v", name, !holds(f.path, []byte(text))))
		return file.Sync()
	}
	claims, err := f.Claim(t.Context(), Holder{}, time.Hour, Want{ID: "a"}, Want{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"file, visible false", "directory, visible true"}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	steps, want = nil, []string{"file, visible true", "directory, visible true"}
	if err := f.Renew(t.Context(), 2*time.Hour, claims...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	steps = nil
	if err := f.Settle(t.Context(), Settlement{ID: "a", Token: claims[0].Token, Request: Fail}, Settlement{ID: "b", Token: claims[1].Token, Request: Block}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

// TestDiskFailures: a write that the disk refuses is an error, and before the exchange it leaves nothing.
func TestDiskFailures(t *testing.T) {
	for _, failing := range []string{"file", "directory"} {
		t.Run(failing, func(t *testing.T) {
			dir := t.TempDir()
			f, text := openSound(t, dir)
			broken := errors.New("disk is broken")
			f.sync = func(file *os.File) error {
				if info, err := file.Stat(); err != nil || info.IsDir() == (failing == "directory") {
					return broken
				}
				return nil
			}
			claims, err := f.Claim(t.Context(), Holder{}, time.Hour, Want{ID: "a"})
			if !errors.Is(err, broken) || len(claims) > 0 || !strings.Contains(err.Error(), f.name) {
				t.Fatalf("claims %v, error %v", claims, err)
			}
			if failing == "file" && !holds(f.path, []byte(text)) {
				t.Error("the file was changed")
			}
			if _, err := parseBacklogFile(f.path); err != nil {
				t.Error(err)
			}
			names, err := os.ReadDir(dir)
			if err != nil || len(names) != 1 {
				t.Errorf("left behind: %v, %v", names, err)
			}
		})
	}
}

func parseBacklogFile(path string) (*snapshot, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseBacklog(path, data)
}

// TestCheckEdit: an edit that did anything but what was meant is refused before it is written.
func TestCheckEdit(t *testing.T) {
	const old = `{"id": "a", "slug": "b", "x": [1, 2], "status": "todo"}`
	want := parseOne(t, old).items[0]
	want.Status = Failed
	good := strings.Replace(old, "todo", "failed", 1)
	for name, edited := range map[string]string{
		"unread":        good + "}",
		"two values":    good + " ",
		"other status":  strings.Replace(old, "todo", "done", 1),
		"nothing":       old,
		"other member":  strings.Replace(good, "[1, 2]", "[1, 3]", 1),
		"lost member":   strings.Replace(good, `"x": [1, 2], `, "", 1),
		"more members":  strings.Replace(good, `"x"`, `"y": 1, "x"`, 1),
		"other order":   `{"slug": "b", "id": "a", "x": [1, 2], "status": "failed"}`,
		"renamed":       strings.Replace(good, `"id": "a"`, `"id": "c"`, 1),
		"claim invalid": strings.Replace(good, `"x"`, `"claim": {}, "x"`, 1),
	} {
		if err := checkEdit([]byte(old), []byte(edited), want); err == nil {
			t.Errorf("%s: %s was taken for a good edit", name, edited)
		}
	}
	if err := checkEdit([]byte(old), []byte(good), want); err != nil {
		t.Error(err)
	}
}
