package sqlite

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"go.uber.org/zap"

	"aesop/statestore"
)

// maxGroup bounds how long one process keeps the gate.
const maxGroup = 256

// request is a call of Update that waits for a leader to serve it or for its turn to lead.
type request struct {
	fn       func(statestore.Tx) error
	lead     chan struct{}
	done     chan error // gets the outcome of fn and its group
	panicked any        // of fn, to go on in the goroutine of the call; readable after done
}

var errNoReturn = errors.New("the function of the transaction did not return")

// Update implements statestore.Store. Callers queue in order: the first leads a group, in which it runs the functions of those
// who wait, in its own goroutine. A panic of fn goes on in the goroutine of its call. When ctx ends before fn began, fn is not
// run; from then on the call waits for the outcome.
func (s *Store) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.life.Enter() {
		return statestore.ErrClosed
	}
	defer s.life.Leave()
	r := &request{fn: fn, lead: make(chan struct{}, 1), done: make(chan error, 1)}
	if s.enqueue(r) {
		return s.lead(ctx, r)
	}
	var gaveUp error
	select {
	case <-r.lead:
		return s.lead(ctx, r)
	case err := <-r.done:
		return r.outcome(err)
	case <-ctx.Done():
		gaveUp = ctx.Err()
	case <-s.life.Done():
		gaveUp = statestore.ErrClosed
	}
	if s.withdraw(r) {
		return gaveUp
	}
	select { // it was called at the same moment
	case <-r.lead:
		s.call()
		return gaveUp
	case err := <-r.done:
		return r.outcome(err)
	}
}

func (r *request) outcome(err error) error {
	if r.panicked != nil {
		panic(r.panicked)
	}
	return err
}

// lead begins a group, runs its own function and those of all who wait, and commits.
func (s *Store) lead(ctx context.Context, own *request) (err error) {
	defer s.call()
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	g, err := s.begin()
	if err != nil {
		s.unlock(unlock)
		return s.broken(err)
	}
	defer func() { // also when the function panics: the others are not to suffer
		for range maxGroup - 1 {
			r := s.take(g)
			if r == nil {
				break
			}
			g.serve(r, func(tx statestore.Tx) error { return s.guard(r, tx) })
		}
		outcome := s.commit(g)
		s.unlock(unlock)
		fail("gate_open")
		for _, member := range g.members {
			member.done <- outcome
		}
		err = <-own.done
	}()
	g.serve(own, own.fn)
	return nil
}

// guard runs the function of another call and keeps a panic for it.
func (s *Store) guard(r *request, tx statestore.Tx) (err error) {
	err = errNoReturn
	defer func() {
		if r.panicked = recover(); r.panicked != nil {
			s.log.Error("a function of Update panicked", zap.Any("panic", r.panicked), zap.ByteString("stack", debug.Stack()))
		}
	}()
	return r.fn(tx)
}

// enqueue joins the queue, or says that nobody leads and the caller is to.
func (s *Store) enqueue(r *request) (lead bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leading {
		s.leading = true
		return true
	}
	s.queue = append(s.queue, r)
	return false
}

// withdraw leaves the queue, unless the request was taken or called already.
func (s *Store) withdraw(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.queue, r)
	if i < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return true
}

// take takes the first of the queue into the group, or returns nil where the group cannot go on or nobody waits.
func (s *Store) take(g *group) *request {
	if g.failure != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shift()
}

// call lets the first of the queue lead, or nobody.
func (s *Store) call() {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.shift()
	s.leading = r != nil
	if r != nil {
		r.lead <- struct{}{}
	}
}

// shift takes the first of the queue. The caller holds mu.
func (s *Store) shift() *request {
	if len(s.queue) == 0 {
		return nil
	}
	r := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return r
}
