package filelock

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/semaphore"
)

// Turnstile is a lock that is fair between processes: two file locks, of which the first is held only while waiting for the
// second. Who has just left has to pass the first lock again and finds the others already in front. Callers in one process
// wait in the order in which they came. Its methods are safe for concurrent use.
type Turnstile struct {
	entry string
	room  string
	queue *semaphore.Weighted // first in, first out; keeps one thread of the process in the kernel's queue
}

// NewTurnstile names a turnstile by two lock files in dir. Nothing is made or locked before Lock.
func NewTurnstile(dir, name string) *Turnstile {
	return &Turnstile{
		entry: filepath.Join(dir, name+".entry.lock"),
		room:  filepath.Join(dir, name+".lock"),
		queue: semaphore.NewWeighted(1),
	}
}

// Lock waits until the caller is alone, or until ctx ends.
func (t *Turnstile) Lock(ctx context.Context) (unlock func() error, err error) {
	if err := t.queue.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("lock %s: %w", t.room, err)
	}
	leave, err := t.pass(ctx)
	if err != nil {
		t.queue.Release(1)
		return nil, err
	}
	return func() error {
		defer t.queue.Release(1)
		return leave()
	}, nil
}

func (t *Turnstile) pass(ctx context.Context) (leave func() error, err error) {
	leaveEntry, err := Lock(ctx, t.entry)
	if err != nil {
		return nil, err
	}
	leaveRoom, err := Lock(ctx, t.room)
	if err = errors.Join(err, leaveEntry()); err != nil {
		if leaveRoom != nil {
			err = errors.Join(err, leaveRoom())
		}
		return nil, err
	}
	return leaveRoom, nil
}
