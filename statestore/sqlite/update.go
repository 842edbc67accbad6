package sqlite

import (
	"context"
	"slices"

	"aesop/statestore"
)

// maxGroup bounds how long one process keeps the gate.
const maxGroup = 256

// request is a call of Update that waits for its turn.
type request struct {
	run  chan *group // gets the group to be a member of, or nil: the turn to lead one
	done chan error  // gets the outcome of a member
}

func newRequest() *request { return &request{run: make(chan *group, 1), done: make(chan error, 1)} }

// Update implements statestore.Store. Callers queue in order: the first leads a group, which those who wait then join. When
// ctx ends before fn began, fn is not run; from then on the call waits for the outcome.
func (s *Store) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.life.Enter() {
		return statestore.ErrClosed
	}
	defer s.life.Leave()
	r := s.enqueue()
	if r == nil {
		return s.lead(ctx, fn)
	}
	var g *group
	select {
	case g = <-r.run:
	case <-ctx.Done():
		if s.withdraw(r) {
			return ctx.Err()
		}
		g = <-r.run // it was called at the same moment
	case <-s.life.Done():
		if s.withdraw(r) {
			return statestore.ErrClosed
		}
		g = <-r.run
	}
	if g == nil {
		return s.lead(ctx, fn)
	}
	s.join(ctx, g, r, fn)
	return <-r.done
}

// enqueue joins the queue, or returns nil where nobody leads and the caller is to.
func (s *Store) enqueue() *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leading {
		s.leading = true
		return nil
	}
	r := newRequest()
	s.queue = append(s.queue, r)
	return r
}

// withdraw leaves the queue, unless the request was called already.
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

// call gives a group, or the lead, to the first of the queue.
func (s *Store) call(g *group) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.leading = g != nil
		return false
	}
	s.queue[0].run <- g
	s.queue = slices.Delete(s.queue, 0, 1)
	return true
}

// lead begins a group, is its first member, waits for the others, and commits.
func (s *Store) lead(ctx context.Context, fn func(statestore.Tx) error) (err error) {
	defer s.call(nil)
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	g, err := s.begin()
	if err != nil {
		s.unlock(unlock)
		return s.broken(err)
	}
	r := newRequest()
	defer func() { // also when fn panics: the others are not to suffer
		if s.pass(g) {
			<-g.end
		}
		outcome := s.commit(g)
		s.unlock(unlock)
		for _, member := range g.members {
			member.done <- outcome
		}
		err = <-r.done
	}()
	g.serve(r, fn)
	return nil
}

// join runs fn as a member of the group and hands the group on.
func (s *Store) join(ctx context.Context, g *group, r *request, fn func(statestore.Tx) error) {
	defer func() {
		if !s.pass(g) {
			g.end <- struct{}{}
		}
	}()
	if err := ctx.Err(); err != nil {
		r.done <- err
		return
	}
	g.serve(r, fn)
}

// pass hands the group to the next caller, or says that it is full, that it failed, or that nobody waits.
func (s *Store) pass(g *group) bool {
	g.served++
	return g.served < maxGroup && g.failure == nil && s.call(g)
}
