package wave

import (
	"context"
	"errors"
	"slices"

	"aesop/tracker"
	"aesop/wave/journal"
)

// settle tells the tracker how the items ended, in one write. Items that are parked, or that the remote refused, keep their claim.
func (r *run) settle() error {
	wave := r.journal.Wave()
	var ends []tracker.Settlement
	var ids []string
	for _, item := range wave.Select(func(i *journal.ItemState) bool { return !i.Open() && !i.Settled }) {
		r.mu.Lock()
		claim, held := r.claims[item.ID]
		r.mu.Unlock()
		if !held || !item.Claimed {
			continue
		}
		end := r.settlement(wave, item)
		end.ID, end.Token = item.ID, claim.Token
		ends, ids = append(ends, end), append(ids, item.ID)
	}
	if len(ends) == 0 {
		return nil
	}
	ctx, cancel := r.bookkeeping()
	defer cancel()
	done := journal.Settled{Items: ids}
	var err error
	if done.Changed, err = r.changedTexts(ctx, wave, ids); err != nil {
		return err
	}
	err = r.s.config.Tracker.Settle(ctx, ends...)
	if lost, ok := errors.AsType[*tracker.LostError](err); ok {
		done.Lost = lost.IDs // somebody else holds these now; what shipped, the remote will tell them
	} else if err != nil {
		return err
	}
	fail("tracker")
	return r.record(done)
}

// changedTexts are the items whose text in the tracker is not what the wave worked on.
func (r *run) changedTexts(ctx context.Context, wave *journal.Wave, ids []string) ([]string, error) {
	backlog, err := r.s.config.Tracker.Backlog(ctx)
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, item := range backlog.Items {
		if slices.Contains(ids, item.ID) && item.Fingerprint() != wave.Items[item.ID].Fingerprint {
			changed = append(changed, item.ID)
		}
	}
	return changed, nil
}

// settlement is the one table from how an item ended to what becomes of it in the tracker.
func (r *run) settlement(wave *journal.Wave, item *journal.ItemState) tracker.Settlement {
	if item.Adopted != nil {
		a := item.Adopted
		return tracker.Settlement{Request: tracker.Complete, Shipped: &tracker.Shipped{Wave: a.Wave, Branch: a.Branch, Commit: a.Commit}}
	}
	if item.Commit != "" {
		return tracker.Settlement{Request: tracker.Complete, Shipped: &tracker.Shipped{Wave: wave.ID, Branch: wave.Of(item).Shipped.Branch, Commit: item.Commit}}
	}
	end := tracker.Settlement{Reason: settleReason(item.End)}
	switch item.End.State {
	case journal.StateNoChanges:
		end.Request = tracker.Block
	case journal.StateNotVerified, journal.StateFenceViolation, journal.StateIntegrationFailed, journal.StateSecretFound, journal.StateReviewRejected:
		end.Request = tracker.Fail
	default:
		end.Request, end.Counted = tracker.Release, item.End.Counted
		if end.Counted && item.Item.Attempts+1 >= r.s.config.MaxAttempts {
			end.Request = tracker.Fail
		}
	}
	return end
}

// maxStatusReason bounds what is written into a backlog that people read.
const maxStatusReason = 200

func settleReason(end *journal.ItemEnded) string {
	text := string(end.State)
	if end.Reason != "" {
		text += ": " + end.Reason
	}
	return clipped(text, maxStatusReason)
}
