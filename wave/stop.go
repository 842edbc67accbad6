package wave

import (
	"context"
	"errors"
	"sync"
	"time"

	"aesop/driver/process"
	"aesop/wave/journal"
)

// ErrInterrupted is the cause of a context that Stop ended.
var ErrInterrupted = errors.New("interrupted")

// Stop ends the running waves: the first call stops agents softly and starts nothing new, the second kills what still runs. What
// was under way is parked and can be resumed. Waves that start later stop at once.
func (s *Scheduler) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stops++
	for stopper := range s.alive {
		stopper.signal(s.stops)
	}
}

// stopper is how one wave is told to stop: softly by its context, at once by the kill channel that the context carries.
type stopper struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	kill   chan struct{}
	once   sync.Once
}

// newStopper derives the context of a wave from the caller's. release must be called at the end.
func (s *Scheduler) newStopper(parent context.Context) (st *stopper, release func()) {
	st = &stopper{kill: make(chan struct{})}
	st.ctx, st.cancel = context.WithCancelCause(process.WithKill(parent, st.kill))
	s.mu.Lock()
	s.alive[st] = true
	st.signal(s.stops)
	s.mu.Unlock()
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { s.watchHalt(st, done) })
	return st, func() {
		close(done)
		watch.Wait()
		s.mu.Lock()
		delete(s.alive, st)
		s.mu.Unlock()
		st.cancel(nil)
	}
}

func (st *stopper) signal(stops int) {
	if stops > 0 {
		st.cancel(ErrInterrupted)
	}
	if stops > 1 {
		st.killNow()
	}
}

func (st *stopper) killNow() { st.once.Do(func() { close(st.kill) }) }

// haltPoll is how often the HALT file is looked for while work is in flight.
const haltPoll = 200 * time.Millisecond

// watchHalt kills what runs as soon as the HALT file is there.
func (s *Scheduler) watchHalt(st *stopper, done <-chan struct{}) {
	tick := time.NewTicker(haltPoll)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if err := gateAnswer(s.halt, s.halt.Check(st.ctx, Point{})); err != nil {
				st.cancel(err)
				st.killNow()
				return
			}
		}
	}
}

// stopped turns the cause of an ended context into the event that says so; nil while the wave may go on.
func (st *stopper) stopped() *journal.Stopped {
	if st.ctx.Err() == nil {
		return nil
	}
	return stoppedBy(context.Cause(st.ctx))
}

func stoppedBy(cause error) *journal.Stopped {
	if stop, ok := errors.AsType[*Stop](cause); ok {
		outcome := stop.Outcome
		if outcome == "" {
			outcome = journal.Halted
		}
		return &journal.Stopped{Outcome: outcome, Reason: stop.Reason}
	}
	if gate, ok := errors.AsType[*gateError](cause); ok {
		stopped := &journal.Stopped{Outcome: journal.GateUnavailable, Reason: gate.Error()}
		if changed, ok := errors.AsType[*changedError](gate); ok {
			stopped.Compared = []string{changed.repository}
		}
		return stopped
	}
	return &journal.Stopped{Outcome: journal.Interrupted, Reason: cause.Error()}
}
