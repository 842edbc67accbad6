package wave

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"aesop/wave/journal"
)

// eachItem does a phase's work on every item that wants it, at most limit at once. An item's own misfortune is an event. What comes
// back is the engine's, or the cause of a stop, and stops the wave.
func (r *run) eachItem(limit int, wants func(*journal.ItemState) bool, work func(ctx context.Context, id string) error) error {
	slots := semaphore.NewWeighted(int64(limit))
	var working sync.WaitGroup
	wave := r.journal.Wave()
	for _, item := range wave.Select(wants) {
		if wave.Of(item).Failed != nil {
			continue
		}
		if slots.Acquire(r.stop.ctx, 1) != nil {
			break
		}
		working.Go(func() {
			defer slots.Release(1)
			if err := r.workOn(item.ID, work); err != nil && r.stop.ctx.Err() == nil {
				r.stop.cancel(&engineError{fmt.Errorf("item %s: %w", item.ID, err)})
			}
		})
	}
	working.Wait()
	if r.stop.ctx.Err() != nil {
		return context.Cause(r.stop.ctx)
	}
	return nil
}

// engineError is a fault of the engine or of what it stands on, as the cause that ends a wave's context.
type engineError struct{ err error }

func (e *engineError) Error() string { return e.err.Error() }
func (e *engineError) Unwrap() error { return e.err }

// workOn does work on one item with a context that ends when the item's claim is lost, which ends the item.
func (r *run) workOn(id string, work func(ctx context.Context, id string) error) error {
	ctx, cancel := context.WithCancelCause(r.stop.ctx)
	defer cancel(nil)
	r.setCancel(id, cancel)
	defer r.setCancel(id, nil)
	if !r.holds(id) { // lost while it waited
		return r.end(id, journal.StateClaimLost, claimGone, false, nil)
	}
	err := work(ctx, id)
	switch {
	case errors.Is(context.Cause(ctx), errClaimLost):
		return r.end(id, journal.StateClaimLost, claimGone, false, nil)
	case taken(err):
		return r.end(id, journal.StateClaimLost, err.Error(), false, nil)
	}
	return err
}

func (r *run) setCancel(id string, cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel[id] = cancel
}

// worksOn says whether somebody works on the item now.
func (r *run) worksOn(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancel[id] != nil
}
