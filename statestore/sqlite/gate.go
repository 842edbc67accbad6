package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofrs/flock"
)

// gate lets in one writer at a time, over all processes and handles.
type gate interface {
	// Lock waits for its turn or for ctx, whose error it then returns and holds nothing.
	Lock(ctx context.Context) (unlock func() error, err error)
}

// turnstile is a gate of two file locks. Who waits for B holds A, so a process that just left queues behind all others and
// cannot starve them. The kernel releases both when a process dies. The files stay: unlinking one would let two in.
type turnstile struct{ a, b string }

func newTurnstile(path string) gate { return turnstile{a: path + ".lock-a", b: path + ".lock-b"} }

func (t turnstile) Lock(ctx context.Context) (func() error, error) {
	unlockA, err := lockFile(ctx, t.a)
	if err != nil {
		return nil, err
	}
	unlockB, err := lockFile(ctx, t.b)
	if err != nil {
		return nil, errors.Join(err, unlockA())
	}
	if err := unlockA(); err != nil {
		return nil, errors.Join(err, unlockB())
	}
	return unlockB, nil
}

// lockFile takes a lock by a call that blocks in the kernel, which queues fairly where polling starves. When ctx ends first,
// the call goes on in the background and gives the lock back as soon as it has it.
func lockFile(ctx context.Context, path string) (unlock func() error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); ok || err != nil {
		return lock.Unlock, wrapLock(path, err)
	}
	got := make(chan error, 1)
	go func() { got <- lock.Lock() }()
	select {
	case err := <-got:
		return lock.Unlock, wrapLock(path, err)
	case <-ctx.Done():
		go func() {
			if <-got == nil {
				_ = lock.Unlock()
			}
		}()
		return nil, ctx.Err()
	}
}

func wrapLock(path string, err error) error {
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return nil
}
