package filelock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"aesop/internal/filelock"
)

const childDir = "AESOP_TEST_LOCK_DIR"

// TestMain plays another process when a test runs this binary again.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(playChild(dir))
	}
	goleak.VerifyTestMain(m)
}

// playChild adds one to a counter in a file, a hundred times, without care, but inside the turnstile; then it keeps the lock
// "held" until it is killed.
func playChild(dir string) int {
	turnstile := filelock.NewTurnstile(dir, "count")
	for range 100 {
		if err := countOne(turnstile, filepath.Join(dir, "count")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if _, err := filelock.Lock(context.Background(), filepath.Join(dir, "held-"+strconv.Itoa(os.Getpid()))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("holding")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
	return 0
}

func countOne(turnstile *filelock.Turnstile, path string) error {
	unlock, err := turnstile.Lock(context.Background())
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600), unlock())
}

func TestProcessesExcludeEachOtherAndDeathUnlocks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "count"), []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	const processes = 4
	var cmds []*exec.Cmd
	var outputs []io.Reader
	for range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), childDir+"="+dir), os.Stderr
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outputs = append(cmds, cmd), append(outputs, stdout)
	}
	for i, cmd := range cmds {
		line := make([]byte, len("holding"))
		if _, err := io.ReadFull(outputs[i], line); err != nil {
			t.Fatalf("process %d: %v", i, err)
		}
		held := filepath.Join(dir, "held-"+strconv.Itoa(cmd.Process.Pid))
		if _, ok, err := filelock.TryLock(held); ok || err != nil {
			t.Errorf("the lock of a live process: %v, %v", ok, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		unlock, ok, err := filelock.TryLock(held)
		if !ok || err != nil {
			t.Fatalf("the lock of a dead process: %v, %v", ok, err)
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "count")); err != nil || string(data) != strconv.Itoa(100*processes) {
		t.Errorf("counted %s, %v", data, err)
	}
}

func TestLockMakesAPrivateFileThatStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "lock")
	unlock, err := filelock.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := filelock.TryLock(path); ok || err != nil {
		t.Errorf("locked twice: %v, %v", ok, err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o077 != 0 || info.Size() != 0 {
		t.Errorf("the lock file is %v with %d bytes", info.Mode(), info.Size())
	}
	again, ok, err := filelock.TryLock(path)
	if !ok || err != nil {
		t.Fatalf("not free after unlock: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

func TestLockErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "file", "lock"), dir} {
		if _, err := filelock.Lock(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v", path, err)
		}
	}
}

func TestCancelledWaiterGivesTheLockBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := filelock.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := filelock.Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error is %v", err)
	}
	if _, err := filelock.Lock(ctx, filepath.Join(t.TempDir(), "free")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a free lock with an ended context: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	next, err := filelock.Lock(t.Context(), path) // gets it whether the abandoned waiter was first or not
	if err != nil {
		t.Fatal(err)
	}
	if err := next(); err != nil {
		t.Error(err)
	}
}

// TestTurnstileQueuesInOrder: callers of one process get in as they came, and a cancelled one leaves the queue.
func TestTurnstileQueuesInOrder(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		turnstile := filelock.NewTurnstile(dir, "t")
		unlock, err := turnstile.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		order := make(chan int, 8)
		for i := range cap(order) {
			group.Go(func() {
				unlock, err := turnstile.Lock(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				order <- i
				if err := unlock(); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // it stands in the queue
		}
		cancelled, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := turnstile.Lock(cancelled); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		for want := range cap(order) {
			if got := <-order; got != want {
				t.Errorf("%d came in as number %d", got, want)
			}
		}
	})
}

// TestRemovedLockHasOneHolder: who holds a lock may remove its file, whoever has opened that meanwhile.
func TestRemovedLockHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var remover sync.WaitGroup
	defer remover.Wait()
	remover.Go(func() {
		for ctx.Err() == nil {
			if unlock, free, err := filelock.TryLock(path); err == nil && free {
				_ = os.Remove(path)
				_ = unlock()
			}
		}
	})
	defer cancel()
	for n := range 20_000 {
		if ctx.Err() != nil {
			return
		}
		unlock, err := filelock.Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, second, err := filelock.TryLock(path); err != nil || second {
			t.Fatalf("round %d: a second holder %t, %v", n, second, err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
}
