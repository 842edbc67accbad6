package wave

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave/journal"
)

// errClaimLost ends the work on an item that somebody else holds now.
var errClaimLost = errors.New("claim lost")

// tokens makes the secrets of the claims; what may be known of them comes back.
func (r *run) tokens(items []tracker.Item) (attempts map[string]string, err error) {
	attempts = map[string]string{}
	for _, item := range items {
		token, err := r.s.newToken()
		if err != nil {
			return nil, err
		}
		r.items[item.ID] = item
		r.claims[item.ID] = tracker.Claim{ID: item.ID, Token: token}
		attempts[item.ID] = tracker.AttemptID(token)
	}
	return attempts, nil
}

// jobID is the job of an item's worker in this wave.
func (r *run) jobID(item string) string { return JobID(r.id, item) }

// claim takes the items: first in the store, then in the tracker, which must both say yes. Items that somebody else has are
// dropped from the wave; the rest goes on.
func (r *run) claim(items []tracker.Item) error {
	wants, err := r.createJobs(items)
	if err != nil {
		return err
	}
	for len(wants) > 0 {
		if r.stop.ctx.Err() != nil {
			return r.stop.ctx.Err()
		}
		claims, err := r.s.config.Tracker.Claim(r.stop.ctx, r.holder(), r.s.config.Lease, wants...)
		if conflict, ok := errors.AsType[*tracker.ConflictError](err); ok {
			if wants, err = r.dropConflicts(wants, conflict); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		return r.claimed(claims)
	}
	return nil
}

func (r *run) holder() tracker.Holder { return tracker.Holder{Wave: r.id, Owner: r.s.config.Owner} }

func (r *run) claimed(claims []tracker.Claim) error {
	event := journal.Claimed{Recorded: map[string]string{}}
	r.mu.Lock()
	for _, c := range claims {
		r.claims[c.ID] = c
		event.Items = append(event.Items, c.ID)
		if c.Shipped != nil {
			event.Recorded[c.ID] = c.Shipped.Commit
		}
	}
	r.mu.Unlock()
	fail("tracker_claim")
	return r.record(event)
}

// createJobs takes the items in the store, in one transaction. An item that another wave works on is dropped.
func (r *run) createJobs(items []tracker.Item) ([]tracker.Want, error) {
	var wants []tracker.Want
	var refused map[string]string
	err := r.recordWith(func(tx statestore.Tx) error {
		wants, refused = nil, map[string]string{}
		for _, item := range items {
			epoch, err := r.createJob(tx, item.ID)
			if _, no := errors.AsType[*jobError](err); no {
				refused[item.ID] = err.Error()
				continue
			}
			if err != nil {
				return fmt.Errorf("claim %s: %w", item.ID, err)
			}
			wants = append(wants, tracker.Want{ID: item.ID, Fingerprint: item.Fingerprint(), Token: r.claims[item.ID].Token, MinEpoch: epoch})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(refused)) {
		if err := r.drop(id, refused[id]); err != nil {
			return nil, err
		}
	}
	return wants, nil
}

func (r *run) drop(id, detail string) error {
	delete(r.claims, id)
	return r.record(journal.Dropped{Item: id, Reason: string(tracker.Claimed), Detail: detail})
}

// dropConflicts takes the refused items out of the wave and returns the wants that are left.
func (r *run) dropConflicts(wants []tracker.Want, conflict *tracker.ConflictError) ([]tracker.Want, error) {
	for _, c := range conflict.Conflicts {
		detail := (&tracker.ConflictError{Conflicts: []tracker.Conflict{c}}).Error()
		if err := r.recordWith(r.cancelJob(c.ID, detail)); err != nil {
			return nil, err
		}
		if err := r.drop(c.ID, detail); err != nil {
			return nil, err
		}
		wants = slices.DeleteFunc(wants, func(w tracker.Want) bool { return w.ID == c.ID })
	}
	return wants, nil
}

// keepClaims renews the claims at a third of their lease, in one write for the wave, until the returned function is called.
func (r *run) keepClaims() (stop func()) {
	done := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		tick := time.NewTicker(r.s.config.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				r.renew()
			}
		}
	})
	return func() { close(done); keeper.Wait() }
}

func (r *run) renew() {
	wave := r.journal.Wave()
	r.mu.Lock()
	held := slices.SortedFunc(maps.Values(r.claims), func(a, b tracker.Claim) int { return strings.Compare(a.ID, b.ID) })
	r.mu.Unlock()
	held = slices.DeleteFunc(held, func(c tracker.Claim) bool {
		item := wave.Items[c.ID]
		return item == nil || item.Settled
	})
	if len(held) == 0 {
		return
	}
	ctx, cancel := r.bookkeeping()
	defer cancel()
	err := r.s.config.Tracker.Renew(ctx, r.s.config.Lease, held...)
	if lost, ok := errors.AsType[*tracker.LostError](err); ok {
		for _, id := range lost.IDs {
			r.lose(id)
		}
	} else if err != nil {
		r.s.config.Logger.Warn("leases were not renewed", zap.String("wave", r.id), zap.Error(err))
	}
}

// lose ends the work on an item whose claim is gone.
func (r *run) lose(id string) {
	r.mu.Lock()
	delete(r.claims, id)
	cancel := r.cancel[id]
	r.mu.Unlock()
	if cancel != nil {
		cancel(errClaimLost)
	}
}

// holds says whether this process still has the item's claim, as far as it knows.
func (r *run) holds(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.claims[id]
	return ok
}
