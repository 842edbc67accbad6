package wave

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"aesop/statestore/outbox"
)

// checkSinks says what is wrong with the receivers of a configuration.
func checkSinks(all []outbox.Named) error {
	names := map[string]bool{}
	for _, to := range all {
		switch err := to.Check(); {
		case err != nil:
			return err
		case to.Sink == nil:
			return fmt.Errorf("%s has no sink", to.Name)
		case names[to.Name]:
			return fmt.Errorf("%s is there twice", to.Name)
		}
		names[to.Name] = true
	}
	return nil
}

// guarded are sinks that can do a wave no harm.
func guarded(all []outbox.Named) []outbox.Named {
	var safe []outbox.Named
	for _, to := range all {
		safe = append(safe, outbox.Named{Subscription: to.Subscription, Sink: &guardedSink{sink: to.Sink}})
	}
	return safe
}

// guardedSink turns a sink's panic into an error, and leaves one behind that does not come back when it is told to.
type guardedSink struct {
	sink outbox.Sink
	lost atomic.Int32 // calls that were left behind and have not come back yet
}

// lateness is how long a sink may go on with what it sends when it is to end, so that what the receiver has already is not sent again; and how
// long it may then take to come back.
const lateness = time.Second

var errLost = errors.New("the receiver has not come back from an earlier call")

// Send implements outbox.Sink.
func (g *guardedSink) Send(ctx context.Context, i outbox.Intent) error {
	if g.lost.Load() > 0 { // no more than one waits for nothing
		return fmt.Errorf("%w: %w", outbox.ErrUnreachable, errLost)
	}
	answer := make(chan error, 1)
	sending, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	if end, ok := ctx.Deadline(); ok {
		var late context.CancelFunc
		sending, late = context.WithDeadline(sending, end.Add(lateness))
		defer late()
	}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answer <- fmt.Errorf("the receiver panicked: %v", p)
			}
		}()
		answer <- g.sink.Send(sending, i)
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	for range 2 { // first it may go on, then it must end
		late := time.NewTimer(lateness)
		select {
		case err := <-answer:
			late.Stop()
			return err
		case <-late.C:
			cancel(context.Cause(ctx))
		}
	}
	g.lost.Add(1)
	go func() {
		<-answer
		g.lost.Add(-1)
	}()
	return fmt.Errorf("%w: the receiver has not come back: %w", outbox.ErrUnreachable, context.Cause(ctx))
}
