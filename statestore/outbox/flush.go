package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"aesop/statestore"
)

// Flushed says what a Flush did.
type Flushed struct {
	Sent    int      // how often a sink has got an intent
	Failed  int      // how often it has not
	Pending int      // what is still owed to the notifier's sinks
	Busy    []string // sinks that another notifier is sending to: what they are owed is left to it
	Errors  []error  // why it failed: *SendError and *statestore.DamagedError, the first few of each sink
}

// Flush sends what is owed, once, to all sinks at the same time, and returns when nothing is left that it has not tried. That some of it
// could not be sent is in Flushed, which counts beside an error too; the error is one of the store, or of ctx. Where a notifier died with the turn
// of a sink, that is waited for, five seconds at most.
func (n *Notifier) Flush(ctx context.Context) (Flushed, error) {
	rounds, errs := make([]*round, len(n.sinks)), make([]error, len(n.sinks))
	var group sync.WaitGroup
	for at, to := range n.sinks {
		rounds[at] = n.newRound(to)
		group.Go(func() { errs[at] = rounds[at].walk(ctx) })
	}
	group.Wait()
	var done Flushed
	for at, r := range rounds {
		done.Sent += r.sent
		done.Failed += r.failed
		done.Errors = append(done.Errors, r.errs...)
		if errors.Is(errs[at], errBusy) {
			done.Busy = append(done.Busy, r.to.Name)
			errs[at] = nil
		}
	}
	if err := errors.Join(errs...); err != nil {
		return done, fmt.Errorf("flush the outbox: %w", err)
	}
	var err error
	done.Pending, err = n.pending(ctx)
	return done, err
}

// pending counts what the sinks are owed.
func (n *Notifier) pending(ctx context.Context) (count int, err error) {
	err = n.store.View(ctx, func(r statestore.Reader) error {
		count = 0
		for _, to := range n.sinks {
			for _, err := range r.Scan(statestore.Range{Prefix: queueOf(to.Name)}) {
				if err != nil {
					return err
				}
				count++
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("count what the outbox owes: %w", err)
	}
	return count, nil
}
