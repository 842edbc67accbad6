package wave_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aesop/statestore"
	"aesop/wave"
)

// owners are the packages that alone write some records and streams, by how their names begin.
var owners = map[string]string{
	"job/": "statestore/job", "item/": "statestore/job", "attempt/": "statestore/job", "wave-job/": "statestore/job", "reserved/": "statestore/job",
	"outbox/": "statestore/outbox", "ledger": "statestore/ledger", "wave/": "wave/journal", "open/": "wave/journal",
	"beat/": "statestore/lifecycle", "advice/": "statestore/lifecycle", "agent/": "statestore/lifecycle",
}

// watched is a store that fails the test where a record or stream is written by another package than its owner.
type watched struct {
	statestore.Store
	t testing.TB
}

func (w watched) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	return w.Store.Update(ctx, func(tx statestore.Tx) error { return fn(watchedTx{tx, w.t}) })
}

type watchedTx struct {
	statestore.Tx
	t testing.TB
}

func (tx watchedTx) Put(k statestore.Key, value []byte, rev statestore.Rev) (statestore.Rev, error) {
	tx.owned(string(k))
	return tx.Tx.Put(k, value, rev)
}

func (tx watchedTx) Delete(k statestore.Key, rev statestore.Rev) error {
	tx.owned(string(k))
	return tx.Tx.Delete(k, rev)
}

func (tx watchedTx) Append(stream string, version statestore.Version, events ...statestore.Entry) (statestore.Seq, error) {
	tx.owned(stream)
	return tx.Tx.Append(stream, version, events...)
}

// owned fails the test unless the owner of a name is who calls.
func (tx watchedTx) owned(name string) {
	for prefix, owner := range owners {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		pcs := make([]uintptr, 8)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
		if caller, _ := frames.Next(); !strings.Contains(caller.Function, owner+".") {
			tx.t.Errorf("%s is written by %s, and belongs to %s", name, caller.Function, owner)
		}
	}
}

// TestTheWatchIsAwake: the store of all tests here notices a second writer.
func TestTheWatchIsAwake(t *testing.T) {
	seen := &failures{TB: t}
	store := watched{statestore.NewMemory(statestore.MemoryConfig{}), seen}
	err := store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := tx.Put("job/w/a", []byte(`{"status":"completed"}`), 0)
		if err == nil {
			_, err = tx.Append("job/w/a", statestore.AnyVersion, statestore.Entry{Type: "job.complete"})
		}
		return err
	})
	must(t, err)
	if len(seen.all) != 2 || !strings.Contains(seen.all[0], "job/w/a is written by") {
		t.Errorf("it noticed %q", seen.all)
	}
}

// failures keeps errors instead of failing.
type failures struct {
	testing.TB
	all []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.all = append(f.all, fmt.Sprintf(format, args...))
}

// locked is a store that keeps a file while a transaction is open.
type locked struct {
	statestore.Store
	mark string
}

func (l locked) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	return l.Store.Update(ctx, func(tx statestore.Tx) error {
		if err := os.WriteFile(l.mark, nil, 0o600); err != nil {
			return err
		}
		defer os.Remove(l.mark)
		return fn(tx)
	})
}

// TestNoProgramRunsWhileTheStoreIsLocked has every git, the agent and the tests of a wave of one item look whether a transaction is open.
func TestNoProgramRunsWhileTheStoreIsLocked(t *testing.T) {
	git, err := exec.LookPath("git")
	must(t, err)
	w := newWorld(t)
	bin, mark, log := t.TempDir(), filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "log")
	look := fmt.Sprintf(`if [ -e %s ]; then echo "locked: $*" >>%s; else echo free >>%s; fi`, mark, log, log)
	must(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\n"+look+"\nexec "+git+" \"$@\"\n"), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	w.items(item{"id": "a", "testCmd": look + "; grep -q good a.txt"})
	w.script(map[string][]attempt{"a": {{"exec": look, "files": map[string]string{"a.txt": "good\n"}}}})
	report := w.runOn(locked{w.store(), mark}, func(c *wave.Config) { c.Parallel = 1 })
	if report.Outcome != "good" {
		t.Fatalf("the wave is %s", report.Outcome)
	}
	seen, err := os.ReadFile(log)
	must(t, err)
	if n := strings.Count(string(seen), "free\n"); n < 10 || strings.Contains(string(seen), "locked") {
		t.Errorf("%d programs ran, and it says:\n%s", n, seen)
	}
}
