package wave

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"aesop/internal/git"
	"aesop/internal/tree"
	"aesop/statestore"
	"aesop/wave/journal"
)

// adopt looks, once the claims are held, whether the remotes have an item's work already. They own that fact.
func (r *run) adopt() error { return r.eachRepository(r.adoptIn) }

func (r *run) adoptIn(t *target) error {
	wave := r.journal.Wave()
	if len(wave.Select(func(i *journal.ItemState) bool { return i.Repo == t.Name && i.Open() })) == 0 {
		return nil
	}
	refs, err := t.shipper.Refs(r.stop.ctx)
	if err != nil {
		return fmt.Errorf("ask %s for the item refs: %w", t.shipper.Name(), err)
	}
	if intent := wave.Repositories[t.Name].Intent; intent != nil {
		if arrived, err := t.landed(r.stop.ctx, refs, *intent); err != nil {
			return err
		} else if arrived {
			return r.shipped(t, *intent, 0)
		}
	}
	_, err = r.adoptFrom(r.stop.ctx, t, refs)
	return err
}

// adoptFrom takes every open item that the remote has already out of the wave: its ref is not where its recorded shipment is or, where
// the fence is weak, a branch holds its work.
func (r *run) adoptFrom(ctx context.Context, t *target, refs map[string]string) (adopted bool, err error) {
	r.seeOwn(t, refs)
	adopted, err = r.adoptByRef(ctx, t, refs)
	if err != nil || !t.Weak {
		return adopted, err
	}
	also, err := r.adoptByTrailer(ctx, t, refs)
	return adopted || also, err
}

// seeOwn notes where the wave's own branch is. A tip that no intent of the wave has is somebody else's doing, and is left to the push.
func (r *run) seeOwn(t *target, refs map[string]string) {
	at := refs["refs/heads/"+Branch(r.id)]
	if !slices.Contains(r.journal.Wave().Repositories[t.Name].Tips, at) {
		at = ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own[t.Name] = at
}

// ownBranch is where the wave's branch was last seen.
func (r *run) ownBranch(t *target) git.SHA {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own[t.Name]
}

func (r *run) adoptByRef(ctx context.Context, t *target, refs map[string]string) (adopted bool, err error) {
	for _, item := range r.journal.Wave().Select(func(i *journal.ItemState) bool { return i.Repo == t.Name && i.Open() }) {
		at := refs[ItemRef(item.ID)]
		r.mu.Lock()
		r.old[item.ID] = at
		r.mu.Unlock()
		if at == "" || at == item.Recorded {
			continue
		}
		adopted = true
		if err := r.adoptItem(ctx, t, item, at); err != nil {
			return adopted, err
		}
	}
	return adopted, nil
}

func (r *run) adoptItem(ctx context.Context, t *target, item *journal.ItemState, at git.SHA) error {
	made, err := r.recognise(ctx, t, item, at)
	if err != nil {
		return err
	}
	if made == nil {
		return r.end(item.ID, journal.StateSetupFailed, fmt.Sprintf("%s is at %s, which this state did not make", ItemRef(item.ID), git.Short(at)), false,
			&journal.Failure{Step: "ship", Tail: "look at that commit; delete the ref on the remote if it is not the item's work"})
	}
	if made.Item != item.ID || made.Fingerprint != item.Fingerprint {
		return r.end(item.ID, journal.StateSetupFailed, fmt.Sprintf("%s holds what wave %s shipped for an item with another text", ItemRef(item.ID), made.Wave), false,
			&journal.Failure{Step: "ship", Tail: "an id names one piece of work for ever: give this one a new id, or delete the ref on the remote"})
	}
	return r.recordWith(r.cancelJob(item.ID, "shipped already"),
		journal.Adopted{Item: item.ID, Commit: at, Branch: made.Branch, Wave: made.Wave})
}

// recognise finds out which shipment a commit is: by the store, or by a signature that only who holds the key could make, and which
// covers the item's text. Nil: it is nobody's that we know.
func (r *run) recognise(ctx context.Context, t *target, item *journal.ItemState, commit git.SHA) (*shipment, error) {
	var known *shipment
	err := r.s.config.Store.View(ctx, func(s statestore.Reader) error {
		record, err := s.Get(shipmentKey(commit))
		if notFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(record.Value, &known)
	})
	if err != nil || known != nil {
		return known, err
	}
	engine := t.engine
	if err := engine.Fetch(ctx, t.remote, commit); err != nil {
		return nil, fmt.Errorf("fetch the shipment of %s: %w", item.ID, err)
	}
	message, err := engine.Message(ctx, commit)
	if err != nil {
		return nil, err
	}
	parents, err := engine.Parents(ctx, commit)
	if err != nil || len(parents) != 1 {
		return nil, err
	}
	changes, err := engine.Changed(ctx, parents[0], commit)
	if err != nil {
		return nil, err
	}
	key, err := r.s.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	said := trailers(message)
	if !signed(key, said, item.Fingerprint, parents[0], tree.Digest(changes, commit)) {
		return nil, nil
	}
	return &shipment{Item: said[trailerItem], Fingerprint: item.Fingerprint, Wave: said[trailerWave], Branch: Branch(said[trailerWave]), Commit: commit}, nil
}
