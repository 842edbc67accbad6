package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"aesop/statestore"
)

const (
	batchSize   = 16   // entries that are read at once
	errorLength = 1000 // bytes of an error that are kept
	errorCount  = 8    // errors of a round that are kept
)

// round is one walk through the queue of a sink, from the oldest entry. It can be taken up again for what came later.
type round struct {
	*Notifier
	to      Named
	after   statestore.Key  // the entry up to which it came
	waiting map[string]bool // subjects of which something failed
	head    statestore.Seq  // newest event when the queue was read last
	ended   bool            // by a receiver that cannot be reached
	later   time.Duration   // that the receiver asked for
	sent    int
	failed  int
	errs    []error
}

func (n *Notifier) newRound(to Named) *round {
	return &round{Notifier: n, to: to, waiting: map[string]bool{}}
}

// walk sends what is owed until nothing is left that it has not tried. It looks again after it gave the turn back: who added something
// meanwhile and found the turn taken relies on that.
func (r *round) walk(ctx context.Context) error {
	for {
		batch, err := r.load(ctx)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := r.inTurn(ctx, r.to.Name, r.drain); err != nil || r.ended {
			return err
		}
	}
}

// drain sends what is owed while it has the turn.
func (r *round) drain(ctx context.Context) error {
	for {
		batch, err := r.load(ctx)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, next := range batch {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := r.send(ctx, next); err != nil || r.ended {
				return err
			}
			r.after = next.key
		}
	}
}

// queued is an entry, or what is wrong with it.
type queued struct {
	entry
	damage error
}

// load reads the entries that come next, and how far the store is, of one state.
func (r *round) load(ctx context.Context) (batch []queued, err error) {
	head := r.head
	err = r.store.View(ctx, func(reader statestore.Reader) error {
		batch = nil
		if head, err = statestore.Newest(reader, r.head); err != nil {
			return err
		}
		of := statestore.Range{Prefix: queueOf(r.to.Name), After: r.after, Limit: batchSize}
		for e, err := range entries(reader, r.to.Name, of) {
			if bad := (*statestore.DamagedError)(nil); err != nil && !errors.As(err, &bad) {
				return err
			}
			batch = append(batch, queued{e, err})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("what %s is owed: %w", r.to.Name, err)
	}
	r.head = head
	return batch, nil
}

// send sends one entry and settles it, or notes the failure. Its error is one of the store, or of ctx.
func (r *round) send(ctx context.Context, next queued) error {
	if next.damage != nil {
		r.fail(next.damage)
		return nil
	}
	if r.waiting[next.intent.Subject] {
		return nil
	}
	sending, cancel := context.WithTimeout(ctx, r.timeout)
	err := r.to.Sink.Send(sending, next.intent)
	cancel()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // which is why it failed
	}
	if err == nil {
		err = r.update(ctx, func(tx statestore.Tx) error { return settle(tx, next.entry, r.settled) })
		if err == nil {
			r.sent++
			return nil
		}
		err = fmt.Errorf("it was sent, settle it: %w", err)
	}
	err = &cleanError{r.redact(err.Error()), err}
	r.waiting[next.intent.Subject] = true
	r.fail(&SendError{Sink: r.to.Name, Intent: next.intent, Err: err})
	r.ended = errors.Is(err, ErrUnreachable)
	if later := (*LaterError)(nil); errors.As(err, &later) {
		r.later = later.After
	}
	return r.update(ctx, func(tx statestore.Tx) error { return failed(tx, next.entry, clip(err.Error())) })
}

// update writes what happened, which is so whether ctx has ended since or not.
func (r *round) update(ctx context.Context, fn func(statestore.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterward)
	defer cancel()
	return r.store.Update(ctx, fn)
}

func (r *round) fail(err error) {
	r.failed++
	if len(r.errs) < errorCount {
		r.errs = append(r.errs, err)
	}
}

func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), errorLength)], "")
}
