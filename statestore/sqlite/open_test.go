package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aesop/statestore"
)

// filled makes a closed database of some pages and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	store, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	testUpdate(t, store, func(tx statestore.Tx) error {
		for i := range 500 {
			if _, err := tx.Put(statestore.Key(fmt.Sprintf("k/%03d", i)), bytes.Repeat([]byte("x"), 100), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReopen(t *testing.T) {
	path := filled(t)
	first, second := testOpen(t, path), testOpen(t, path)
	testPut(t, first, "a", "1")
	if got := testGet(t, second, "a"); got != "1" {
		t.Errorf("the other handle reads %q", got)
	}
	testPut(t, second, "a", "2")
	if got := testGet(t, first, "a"); got != "2" {
		t.Errorf("the first handle reads %q", got)
	}
	for _, store := range []*Store{first, second} {
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := testGet(t, testOpen(t, path), "a"); got != "2" {
		t.Errorf("after opening again it reads %q", got)
	}
}

// TestRefused damages a file in many ways; each time Open names the file and leaves it as it is.
func TestRefused(t *testing.T) {
	whole, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	zeroed := bytes.Clone(whole)
	clear(zeroed[4096*3 : 4096*5])
	for name, content := range map[string][]byte{
		"empty":             {},
		"a few bytes":       whole[:10],
		"a header":          whole[:100],
		"one page":          whole[:4096],
		"half":              whole[:len(whole)/2],
		"less one page":     whole[:len(whole)-4096],
		"less one byte":     whole[:len(whole)-1],
		"zeroes within":     zeroed,
		"text":              []byte(strings.Repeat("this is no database\n", 1000)),
		"zeroes":            make([]byte, 8192),
		"a foreign program": foreign(t),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			store, err := Open(t.Context(), Config{Path: path})
			if err == nil {
				_ = store.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), path) {
				t.Errorf("error is %q and does not name the file", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// foreign is a database of another program.
func foreign(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foreign.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	raw(t, path, "CREATE TABLE records (key TEXT)")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// raw runs a statement on a file past the store.
func raw(t *testing.T, path, statement string) {
	t.Helper()
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
}

func TestOtherSchemaIsRefused(t *testing.T) {
	for version, hint := range map[int]string{schemaVersion + 1: "newer binary", 0: "does not know"} {
		path := filled(t)
		raw(t, path, fmt.Sprintf("PRAGMA user_version = %d", version))
		_, err := Open(t.Context(), Config{Path: path})
		var schema *SchemaError
		if !errors.As(err, &schema) || schema.Path != path || schema.Found != version || schema.Known != schemaVersion {
			t.Fatalf("version %d: error is %v", version, err)
		}
		for _, part := range []string{path, fmt.Sprint("version ", version), hint} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error is %q and lacks %q", err, part)
			}
		}
	}
}

func TestCreation(t *testing.T) {
	t.Run("directories and files are private", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("permissions are not bits on windows")
		}
		dir := filepath.Join(t.TempDir(), "a", "b")
		store := testOpen(t, filepath.Join(dir, "state.db"))
		testPut(t, store, "k", "v")
		for path, want := range map[string]os.FileMode{
			filepath.Dir(dir): 0o700, dir: 0o700, store.path: 0o600, store.path + "-wal": 0o600, store.path + "-shm": 0o600,
			filepath.Join(filepath.Dir(store.path), "locks", "state.db.entry.lock"): 0o600, filepath.Join(filepath.Dir(store.path), "locks", "state.db.lock"): 0o600,
		} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
			}
		}
	})
	t.Run("what a killed creation left is no obstacle", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		for _, suffix := range []string{".new", ".new-wal"} {
			if err := os.WriteFile(path+suffix, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		testPut(t, testOpen(t, path), "k", "v")
		if left, _ := filepath.Glob(path + ".new*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("a database that is gone is not made anew over its log", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		if err := os.WriteFile(path+"-wal", []byte("log"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Config{Path: path}); err == nil || !strings.Contains(err.Error(), path+"-wal") {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("any path", func(t *testing.T) {
		for _, name := range []string{"a b", "a%20b", "a#b", "ä", "file:x", ":memory:", "a&mode=memory"} {
			path := filepath.Join(t.TempDir(), name)
			testPut(t, testOpen(t, path), "k", name)
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a relative path and a link lead to the same gate", func(t *testing.T) {
		dir := t.TempDir()
		t.Chdir(dir)
		store := testOpen(t, "state.db")
		if err := os.Symlink(filepath.Join(dir, "state.db"), filepath.Join(dir, "link.db")); err != nil {
			t.Skip(err)
		}
		if link := testOpen(t, "link.db"); link.path != store.path || !filepath.IsAbs(link.path) {
			t.Errorf("paths are %s and %s", store.path, link.path)
		}
	})
	t.Run("what cannot be made is an error that names it", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		locked := filepath.Join(t.TempDir(), "locked")
		if err := os.Mkdir(locked, 0o500); err != nil {
			t.Fatal(err)
		}
		paths := []string{filepath.Join(file, "state.db"), filepath.Dir(file)}
		if os.Geteuid() > 0 { // root may write everywhere
			paths = append(paths, filepath.Join(locked, "state.db"))
		}
		for _, path := range paths {
			if _, err := Open(t.Context(), Config{Path: path}); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("error is %v and does not name %s", err, path)
			}
		}
		if _, err := Open(t.Context(), Config{}); err == nil {
			t.Error("no path was accepted")
		}
		if left, _ := os.ReadDir(locked); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("a context that has ended makes nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		path := filepath.Join(t.TempDir(), "dir", "state.db")
		if _, err := Open(ctx, Config{Path: path}); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		if _, err := os.Stat(filepath.Dir(path)); err == nil {
			t.Error("the directory was made")
		}
	})
}

func TestOtherJournalIsRefused(t *testing.T) {
	path := filled(t)
	c, err := dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.expect("PRAGMA journal_mode = DELETE", "delete"), c.close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: path}); err == nil || !strings.Contains(err.Error(), "journal_mode") {
		t.Errorf("error is %v", err)
	}
}
