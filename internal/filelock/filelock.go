// Package filelock holds locks between processes. The kernel releases them when their process dies, so there is nothing to
// expire and nothing to clean up: lock files are created with mode 0600 and hold nothing. Only who holds a lock may remove its file;
// who waited for that file then takes the lock of the new one.
//
// Two locks of one path exclude each other even inside one process. Locks are local to the machine; a path on a network file
// system is refused, because locks there may hold on one machine only.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrNetwork is returned for a path whose file system cannot be trusted to lock.
var ErrNetwork = errors.New("locks on a network file system do not hold")

// Lock waits until it holds the lock of path, or until ctx ends. It does not poll, so waiters are not starved. A waiter whose
// ctx ended leaves a goroutine behind that gives the lock back as soon as it gets it.
func Lock(ctx context.Context, path string) (unlock func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	unlock, ok, err := TryLock(path)
	if ok || err != nil {
		return unlock, err
	}
	lock := flock.New(path)
	acquired := make(chan error, 1)
	go func() { acquired <- lock.Lock() }()
	select {
	case err := <-acquired:
		if err == nil && gone(lock) {
			if err = lock.Unlock(); err == nil {
				return Lock(ctx, path)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return lock.Unlock, nil
	case <-ctx.Done():
		go func() {
			if <-acquired == nil {
				_ = lock.Unlock() // nobody is left to tell; the kernel frees it with the process at the latest
			}
		}()
		return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
	}
}

// TryLock takes the lock of path if nobody holds it. It makes the file and its parents where they are missing.
func TryLock(path string) (unlock func() error, ok bool, err error) {
	if err := prepare(filepath.Dir(path)); err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	for {
		lock := flock.New(path)
		if ok, err = lock.TryLock(); err == nil && ok && gone(lock) {
			if err = lock.Unlock(); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, false, fmt.Errorf("lock %s: %w", path, err)
		}
		if !ok {
			return nil, false, nil
		}
		return lock.Unlock, true, nil
	}
}

// gone says that the file of a lock that is held was removed before it was locked: it would hold nobody off who comes by the path.
func gone(lock *flock.Flock) bool {
	held, err := lock.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(lock.Path())
	return err != nil || !os.SameFile(held, there)
}

func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name, err := networkName(dir)
	if err != nil {
		return err
	}
	if name != "" {
		return fmt.Errorf("%s is on %s: %w; use a local directory", dir, name, ErrNetwork)
	}
	return nil
}
