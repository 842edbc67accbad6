package wave

import (
	"context"
	"errors"
	"slices"
	"strings"

	"aesop/internal/git"
	"aesop/statestore"
	"aesop/wave/journal"
)

// Some remotes take no refs below refs/aesop. Work ships there all the same, without the fence that the items' refs are: whether an
// item is shipped is then read from the signed trailers of what the branches of waves hold. Between that look and the push another
// wave can be faster, which is why reports call this fence weak.

func weakKey(repository string) statestore.Key { return statestore.Key("weak/" + repository) }

// knownWeak says whether the remote of a repository was seen to take no refs of items.
func (s *Scheduler) knownWeak(ctx context.Context, repository string) (weak bool, err error) {
	err = s.config.Store.View(ctx, func(r statestore.Reader) error {
		_, err := r.Get(weakKey(repository))
		if notFound(err) {
			return nil
		}
		weak = err == nil
		return err
	})
	return weak, err
}

func rememberWeak(tx statestore.Tx, repository string) error {
	_, err := tx.Put(weakKey(repository), []byte("{}"), statestore.Any)
	return err
}

// refusesItems says that a push failed for the refs of items: the remote refused them by its own rules, and the work is not there.
func (r *run) refusesItems(t *target, pushErr error) bool {
	failed, ok := errors.AsType[*git.Error](pushErr)
	return ok && !t.Weak && r.journal.Wave().Repositories[t.Name].PushError != nil &&
		slices.ContainsFunc(failed.Rejected, func(ref string) bool { return !strings.HasPrefix(ref, "refs/heads/") })
}

// lookBeforeBranch finds out, right before a branch is pushed alone, what others have shipped meanwhile, and where the branch is. Some
// remotes took it when they refused the items' refs, though they were asked for all or nothing: then it is moved, or goes again.
func (r *run) lookBeforeBranch(t *target) (own git.SHA, again bool, err error) {
	refs, err := t.shipper.Refs(r.stop.ctx)
	if err != nil {
		return "", false, err
	}
	ref, intent := "refs/heads/"+Branch(r.id), r.journal.Wave().Repositories[t.Name].Intent
	if intent != nil && refs[ref] == intent.Tip {
		own = intent.Tip
	}
	again, err = r.adoptShipped(t, refs)
	if again && own != "" {
		err = errors.Join(err, t.shipper.Ship(r.stop.ctx, t.engine.Dir, []journal.Update{{Ref: ref, Old: own}}))
	}
	return own, again, err
}

// adoptShipped takes every open item out of the wave whose work a branch of a newer wave than that of its recorded shipment holds.
func (r *run) adoptShipped(t *target, refs map[string]string) (adopted bool, err error) {
	ctx := r.stop.ctx
	found, err := r.shippedOn(ctx, t, refs)
	if err != nil {
		return false, err
	}
	for _, item := range r.journal.Wave().Select(func(i *journal.ItemState) bool { return i.Repo == t.Name && i.Open() }) {
		at, err := r.newestShipment(ctx, t, item, found[item.ID])
		if err != nil {
			return adopted, err
		}
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

// newestShipment is the newest of the claims that is signed and not of an earlier turn of the item, or "".
func (r *run) newestShipment(ctx context.Context, t *target, item *journal.ItemState, claims []trailerClaim) (git.SHA, error) {
	slices.SortFunc(claims, func(a, b trailerClaim) int { return strings.Compare(b.wave, a.wave) })
	for _, claim := range claims {
		recorded := r.item(item.ID).Shipped
		if recorded != nil && (claim.wave == recorded.Wave || began(claim.wave) < began(recorded.Wave)) {
			return "", nil
		}
		made, err := r.recognise(ctx, t, item, claim.commit)
		if made != nil || err != nil {
			return claim.commit, err
		}
	}
	return "", nil
}

// began is the second in which a wave began, as its id says it. Two of one second are both taken for the newer: nothing ships twice.
func began(wave string) string { return wave[:max(0, strings.LastIndex(wave, "-"))] }

// trailerClaim is a commit that says of itself to be an item's work, as anybody's could.
type trailerClaim struct {
	commit git.SHA
	wave   string
}

// shippedOn are the claims, by item, on the branches of other waves beyond the base.
func (r *run) shippedOn(ctx context.Context, t *target, refs map[string]string) (map[string][]trailerClaim, error) {
	found := map[string][]trailerClaim{}
	for ref, tip := range refs {
		if !strings.HasPrefix(ref, "refs/heads/"+Branch("")) || ref == "refs/heads/"+Branch(r.id) {
			continue
		}
		if err := t.engine.Fetch(ctx, t.remote, tip); err != nil {
			return nil, err
		}
		messages, err := t.engine.Messages(ctx, t.Base, tip)
		if err != nil {
			return nil, err
		}
		for commit, message := range messages {
			said := trailers(message)
			if id := said[trailerItem]; id != "" && said[trailerSignature] != "" {
				found[id] = append(found[id], trailerClaim{commit, said[trailerWave]})
			}
		}
	}
	return found, nil
}
