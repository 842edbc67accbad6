package wave

import (
	"context"
	"slices"
	"sync"
	"time"
)

// queue lets the items of a wave ask for room one after the other, in the wave's order: what a limit has left is for the more urgent. An
// item that waits for room keeps those after it waiting too.
type queue struct {
	mu    sync.Mutex
	left  []string // items that have still to ask, in order
	moved chan struct{}
}

func newQueue(ids []string) *queue { return &queue{left: ids, moved: make(chan struct{})} }

// wait returns when it is the item's turn, or the cause of ctx. gone says of an item before it that it will not ask any more.
func (q *queue) wait(ctx context.Context, id string, gone func(id string) bool) error {
	for {
		q.mu.Lock()
		before, moved := q.left[:max(0, slices.Index(q.left, id))], q.moved
		q.mu.Unlock()
		if !slices.ContainsFunc(before, func(other string) bool { return !gone(other) }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-moved:
		case <-time.After(othersPoll): // one may be gone
		}
	}
}

// done says that an item has asked and was answered, or will not ask.
func (q *queue) done(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left = slices.DeleteFunc(slices.Clone(q.left), func(other string) bool { return other == id })
	close(q.moved)
	q.moved = make(chan struct{})
}
