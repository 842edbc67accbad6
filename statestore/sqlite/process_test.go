package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"aesop/statestore"
)

func testOpen(t *testing.T, path string) *Store {
	t.Helper()
	store, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func testUpdate(t *testing.T, store statestore.Store, fn func(tx statestore.Tx) error) {
	t.Helper()
	if err := store.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func testPut(t *testing.T, store statestore.Store, k statestore.Key, value string) {
	t.Helper()
	testUpdate(t, store, func(tx statestore.Tx) error {
		_, err := tx.Put(k, []byte(value), statestore.Any)
		return err
	})
}

func testGet(t *testing.T, store statestore.Store, k statestore.Key) string {
	t.Helper()
	var record statestore.Record
	err := store.View(t.Context(), func(r statestore.Reader) (err error) {
		record, err = r.Get(k)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(record.Value)
}

func testEvents(t *testing.T, store statestore.Store) (events []statestore.Stored) {
	t.Helper()
	err := store.View(t.Context(), func(r statestore.Reader) error {
		for event, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			events = append(events, event)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestProcessesLoseNoIncrement(t *testing.T) {
	const processes = 4
	path := filepath.Join(t.TempDir(), "new", "state.db") // they race to make it, too
	var children []*exec.Cmd
	var stdins []io.Closer
	var ready []*bufio.Reader
	for range processes {
		cmd := child(t, "increment", path)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children, stdins, ready = append(children, cmd), append(stdins, stdin), append(ready, bufio.NewReader(stdout))
	}
	for _, r := range ready {
		if _, err := r.ReadString('\n'); err != nil {
			t.Error(err)
		}
	}
	for _, stdin := range stdins {
		_ = stdin.Close()
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	store := testOpen(t, path)
	if got := testGet(t, store, "sum"); got != strconv.Itoa(processes*childIncrements) {
		t.Errorf("the sum is %s, want %d", got, processes*childIncrements)
	}
	for i, event := range testEvents(t, store) {
		if event.Seq != statestore.Seq(i+1) || event.Version != statestore.Version(i+1) {
			t.Fatalf("event %d is %d, version %d", i, event.Seq, event.Version)
		}
	}
}

// TestOpenKeepsNoDescriptorsOfOthers runs in a process of its own, whose main thread may run any goroutine.
func TestOpenKeepsNoDescriptorsOfOthers(t *testing.T) {
	if err := child(t, "descriptors", filled(t)).Run(); err != nil {
		t.Error(err)
	}
}

// childDescriptors opens a store while it has a pipe, in several goroutines and threads, and closes one end: the other one must hear of it.
func childDescriptors(path string) error {
	var opening errgroup.Group
	opening.SetLimit(4)
	for range 40 {
		opening.Go(func() error {
			r, w, err := os.Pipe()
			if err != nil {
				return err
			}
			defer r.Close()
			store, err := Open(context.Background(), Config{Path: path})
			if err != nil {
				return err
			}
			if err := errors.Join(w.Close(), r.SetReadDeadline(time.Now().Add(5*time.Second))); err != nil {
				return err
			}
			if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				return fmt.Errorf("the reader of a pipe that was closed: %w", err)
			}
			return store.Close()
		})
	}
	if err := opening.Wait(); err != nil {
		return err
	}
	if runtime.GOOS != "linux" {
		return nil
	}
	_, err := os.Stat("/proc/self/fd/2") // /dev/stderr: /proc/self is the main thread
	return err
}
