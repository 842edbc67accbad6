package wave

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// weakKey is the record that a place which pushes go to takes no refs of items. The place can hold credentials.
func weakKey(remote *git.Remote) statestore.Key {
	sum := sha256.Sum256([]byte(remote.URL()))
	return statestore.Key("weak/" + hex.EncodeToString(sum[:]))
}

// knownWeak says whether a remote was seen to take no refs of items.
func (s *Scheduler) knownWeak(ctx context.Context, remote *git.Remote) (weak bool, err error) {
	err = s.config.Store.View(ctx, func(r statestore.Reader) error {
		_, err := r.Get(weakKey(remote))
		if notFound(err) {
			return nil
		}
		weak = err == nil
		return err
	})
	return weak, err
}

func (t *target) rememberWeak(tx statestore.Tx) error {
	_, err := tx.Put(weakKey(t.remote), []byte("{}"), statestore.Any)
	return err
}

// refusesItems says that a push failed for the refs of items: the remote refused them by its own rules, and the work is not there. One
// that refused the branch with them may have been in a bad mood: it gets the branch alone, and is asked for all again the next time.
func (r *run) refusesItems(t *target, pushErr error) bool {
	failed, ok := errors.AsType[*git.Error](pushErr)
	if !ok || t.Weak || r.journal.Wave().Repositories[t.Name].PushError == nil {
		return false
	}
	isBranch := func(ref string) bool { return strings.HasPrefix(ref, "refs/heads/") }
	items := slices.ContainsFunc(failed.Rejected, func(ref string) bool { return !isBranch(ref) })
	t.refusesItems = items && !slices.ContainsFunc(failed.Rejected, isBranch)
	return items
}

// adoptByTrailer takes every open item out of the wave whose work a branch of a newer wave than that of its recorded shipment holds.
func (r *run) adoptByTrailer(ctx context.Context, t *target, refs map[string]string) (adopted bool, err error) {
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
