// Package backend holds what every store needs whatever it stores in: a life that ends after the transactions under way, and
// a signal that wakes all who wait.
package backend

import (
	"context"
	"sync"
)

// Life says whether a store is open and knows what still runs on it. Make it with NewLife.
type Life struct {
	mu      sync.Mutex
	running sync.WaitGroup
	ctx     context.Context // kept because it is the life itself, not some call's
	end     context.CancelFunc
}

// NewLife returns the life of an open store.
func NewLife() *Life {
	l := &Life{}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// Enter begins something that Close waits for, unless the store is closed. Each true is followed by one Leave.
func (l *Life) Enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return false
	}
	l.running.Add(1)
	return true
}

// Leave ends what Enter began.
func (l *Life) Leave() { l.running.Done() }

// Context ends when Close is called, before it waits. It is for what the store does on behalf of no single caller.
func (l *Life) Context() context.Context { return l.ctx }

// Done is the end of Context.
func (l *Life) Done() <-chan struct{} { return l.ctx.Done() }

// Close lets nothing more enter and waits for what is under way. It says whether this call was the first.
func (l *Life) Close() bool {
	l.mu.Lock()
	first := l.ctx.Err() == nil
	l.end()
	l.mu.Unlock()
	l.running.Wait()
	return first
}

// Signal wakes all who wait at once. Make it with NewSignal.
type Signal struct {
	mu   sync.Mutex
	wake chan struct{}
}

// NewSignal returns a signal that nobody has given.
func NewSignal() *Signal { return &Signal{wake: make(chan struct{})} }

// Next is closed by the next Give. Take it before looking at what is waited for, so that no Give falls between.
func (s *Signal) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wake
}

// Give wakes those who wait now.
func (s *Signal) Give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.wake)
	s.wake = make(chan struct{})
}
