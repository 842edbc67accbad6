package tracker_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/tracker"
	"aesop/tracker/trackertest"
)

// TestDamagedFileIsLeftAlone asks everything of files that cannot be read. Each request fails with the file's error, and not
// a byte changes. In the bubble the second that an editor is given passes at once.
func TestDamagedFileIsLeftAlone(t *testing.T) {
	sound := string(encode(t, trackertest.Item("a")))
	for name, text := range map[string]string{
		"empty": "", "zeros": "\x00\x00\x00\x00\x00", "cut": sound[:len(sound)/2], "tail": sound + "}", "UTF-16": "\xff\xfe[\x00]\x00",
		"twice": strings.Replace(sound, `"items": [`, `"items": [{"id": "A", "slug": "x"},`, 1), "type": strings.Replace(sound, `"Do a."`, "1", 1),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "tracker.json")
			write(t, path, []byte(text))
			f := openAt(t, dir, nil)
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				_, backlogErr := f.Backlog(ctx)
				_, claimErr := f.Claim(ctx, tracker.Holder{}, time.Hour, tracker.Want{ID: "a"})
				for _, err := range []error{
					backlogErr, claimErr, f.Renew(ctx, time.Hour, tracker.Claim{ID: "a"}),
					f.Settle(ctx, tracker.Settlement{ID: "a", Request: tracker.Release}),
					f.Operate(ctx, tracker.Order{ID: "a", Request: tracker.Reopen}), f.Add(ctx, trackertest.Item("b")),
				} {
					var e *tracker.FileError
					if !errors.As(err, &e) || e.File != path || e.Line == 0 {
						t.Errorf("error is %v", err)
					}
				}
			})
			if read(t, path) != text {
				t.Error("the file was changed")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".tracker*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.json")
	var e *tracker.FileError
	if _, err := tracker.OpenFile(tracker.FileConfig{Path: path, LockDir: dir}); !errors.As(err, &e) || e.Code != "missing" || e.File != path {
		t.Errorf("open: %v", err)
	}
	write(t, path, encode(t))
	f := openAt(t, dir, nil)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Backlog(t.Context()); !errors.As(err, &e) || e.Code != "missing" {
		t.Errorf("backlog: %v", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Backlog(t.Context()); !errors.As(err, &e) || e.Code != "unreadable" {
		t.Errorf("a directory: %v", err)
	}
	if _, err := tracker.OpenFile(tracker.FileConfig{Path: path}); err == nil {
		t.Error("a tracker without a place for locks was opened")
	}
}

// TestEditorsMomentIsWaitedFor: a file that is empty, torn or away for less than a second is no error.
func TestEditorsMomentIsWaitedFor(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"empty": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"torn":  func(path string) error { return os.WriteFile(path, []byte(`{"items": [{"id": "a`), 0o600) },
		"away":  os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "tracker.json")
			data := encode(t, trackertest.Item("a"))
			write(t, path, data)
			f := openAt(t, dir, nil)
			if _, err := f.Backlog(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				if err := damage(path); err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				time.AfterFunc(900*time.Millisecond, func() { write(t, path, data) })
				if _, err := f.Claim(t.Context(), tracker.Holder{}, time.Hour, tracker.Want{ID: "a"}); err != nil {
					t.Error(err)
				}
				if waited := time.Since(begin); waited < 900*time.Millisecond || waited > time.Second {
					t.Errorf("waited %s", waited)
				}
			})
		})
	}
}

func TestSymlinkAndPermissionsStay(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "real.json")
	write(t, target, encode(t, trackertest.Item("a")))
	if err := os.Chmod(target, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "tracker.json")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if _, err := openAt(t, dir, nil).Claim(t.Context(), tracker.Holder{Owner: "ann"}, time.Hour, tracker.Want{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the target's mode is %v, %v", info.Mode(), err)
	}
	if !strings.Contains(read(t, target), `"owner": "ann"`) {
		t.Error("the target was not edited")
	}
}

// TestTwoPathsShareOneLock: who opens the backlog through a link waits for who opened it directly.
func TestTwoPathsShareOneLock(t *testing.T) {
	dir, locks := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "tracker.json"), filepath.Join(dir, "link.json")
	write(t, path, encode(t, trackertest.Item("a"), trackertest.Item("b")))
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	for i, p := range []string{path, link} {
		f, err := tracker.OpenFile(tracker.FileConfig{Path: p, LockDir: locks})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Claim(t.Context(), tracker.Holder{}, time.Hour, tracker.Want{ID: string(rune('a' + i))}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(locks, "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("lock files are %v, %v", names, err)
	}
}

func TestOnlyTheClaimIsWritten(t *testing.T) {
	const text = "\ufeff// ours\r\n[\r\n\t{ \"id\": \"a\", \"slug\": \"s\", \"ownsFiles\": [\"x\"], \"prompt\": \"\\u0070\", \"testCmd\": \"t\", \"size\": 1e3, },\r\n\t// next\r\n\t{ \"id\": \"b\", \"slug\": \"B\", },\r\n]\r\n"
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.json")
	write(t, path, []byte(text))
	clock := trackertest.NewClock()
	f, err := tracker.OpenFile(tracker.FileConfig{Path: path, LockDir: dir, Clock: clock.Now, Rand: bytes.NewReader(make([]byte, 32))})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := f.Claim(t.Context(), tracker.Holder{Wave: "w", Owner: "o"}, time.Minute, tracker.Want{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if claims[0].Token != strings.Repeat("00", 32) {
		t.Errorf("the token is %q, not from the given source", claims[0].Token)
	}
	added := " \"status\": \"in_progress\", \"epoch\": 1, \"claim\": {\"wave\": \"w\", \"owner\": \"o\", \"attempt\": \"" + claims[0].Attempt + "\", \"leaseUntil\": \"2026-01-02T03:05:05Z\"},"
	if diff := cmp.Diff(strings.Replace(text, "1e3,", "1e3,"+added, 1), read(t, path)); diff != "" {
		t.Fatal(diff)
	}
	if strings.Contains(read(t, path), claims[0].Token) {
		t.Error("the token is in the file")
	}
	clock.Advance(30 * time.Second)
	if err := f.Renew(t.Context(), time.Minute, claims...); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(text, "1e3,", "1e3,"+added, 1), "03:05:05Z", "03:05:35Z", 1)
	if diff := cmp.Diff(want, read(t, path)); diff != "" {
		t.Error(diff)
	}
	if _, err := f.Claim(t.Context(), tracker.Holder{}, time.Minute, tracker.Want{ID: "a", Token: "t"}); err == nil {
		t.Error("the item was claimed twice")
	}
	if diff := cmp.Diff(want, read(t, path)); diff != "" {
		t.Error(diff)
	}
	clock.Advance(time.Hour)
	if _, err := f.Claim(t.Context(), tracker.Holder{}, time.Minute, tracker.Want{ID: "a"}); err == nil {
		t.Error("a token was made without randomness")
	}
}

func TestHandEditsAreSeen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.json")
	write(t, path, encode(t, trackertest.Item("a")))
	f := openAt(t, dir, nil)
	claims, err := f.Claim(t.Context(), tracker.Holder{}, time.Hour, tracker.Want{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, encode(t, trackertest.Item("a"))) // a person removes the claim
	var lost *tracker.LostError
	if err := f.Renew(t.Context(), time.Hour, claims...); !errors.As(err, &lost) {
		t.Errorf("renew: %v", err)
	}
	if err := f.Settle(t.Context(), tracker.Settlement{ID: "a", Token: claims[0].Token, Request: tracker.Fail}); !errors.As(err, &lost) {
		t.Errorf("settle: %v", err)
	}
	if diff := cmp.Diff(string(encode(t, trackertest.Item("a"))), read(t, path)); diff != "" {
		t.Error(diff)
	}
}
