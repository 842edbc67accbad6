package sqlite

import (
	"context"
	"errors"
	"slices"

	"aesop/statestore"
)

// maxGroup bounds how long one process keeps the gate.
const maxGroup = 256

// request is a call of Update on its way through a group. Its function runs in its caller's goroutine, where a panic belongs.
type request struct {
	run     chan *tx   // the group hands over the transaction
	ran     chan error // and gets it back with what the function returned
	done    chan struct{}
	outcome error // readable once done is closed
}

var errAborted = errors.New("the transaction's function did not return")

func (r *request) finish(err error) {
	r.outcome = err
	close(r.done)
}

func (r *request) finished() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Update implements statestore.Store. When ctx ends before fn began, fn is not run; from then on the call waits for the
// outcome.
func (s *Store) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.life.Enter() {
		return statestore.ErrClosed
	}
	defer s.life.Leave()
	r := &request{run: make(chan *tx), ran: make(chan error, 1), done: make(chan struct{})}
	s.enqueue(r)
	ended, closed := ctx.Done(), s.life.Done()
	for {
		select {
		case t := <-r.run:
			call(ctx, r, fn, t)
			ended, closed = nil, nil
		case <-r.done:
			return r.outcome
		case s.turn <- struct{}{}:
			// Nobody leads. The group runs in a goroutine of its own, so that this call can be a member like all others.
			if r.finished() || !s.life.Enter() {
				<-s.turn
				continue
			}
			go s.lead()
		case <-ended:
			if s.withdraw(r) {
				return ctx.Err()
			}
			ended = nil
		case <-closed:
			if s.withdraw(r) {
				return statestore.ErrClosed
			}
			closed = nil
		}
	}
}

func call(ctx context.Context, r *request, fn func(statestore.Tx) error, t *tx) {
	err := errAborted // a panic leaves it
	defer func() { r.ran <- err }()
	if ended := ctx.Err(); ended != nil {
		err = ended
		return
	}
	err = fn(t)
}

func (s *Store) enqueue(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, r)
}

// withdraw takes a request back unless a group has it.
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

// take takes the first request of the queue, or nil.
func (s *Store) take() *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	r := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return r
}

// takeAll takes the whole queue.
func (s *Store) takeAll() []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.queue
	s.queue = nil
	return all
}
