package wave

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"aesop/driver/process"
	"aesop/internal/git"
	"aesop/statestore"
	"aesop/wave/journal"
)

// ship pushes the tip as the wave's branch together with every item's ref, all or nothing. again says that items left the wave
// because others had shipped them, so that the rest must be joined anew.
func (r *run) ship(t *target, tip git.SHA, items []*journal.ItemState) (again bool, err error) {
	for _, item := range items {
		if !r.holds(item.ID) {
			return true, r.end(item.ID, journal.StateClaimLost, claimGone, false, nil)
		}
	}
	if err := r.pass("ship", ""); err != nil {
		return false, err
	}
	if err := r.guard(t); err != nil {
		return false, err
	}
	if t.Weak { // no ref of an item will refuse the push, so what others have shipped meanwhile is looked for right before it
		refs, err := t.shipper.Refs(r.stop.ctx)
		if err != nil {
			return false, err
		}
		if again, err := r.adoptFrom(r.stop.ctx, t, refs); err != nil || again {
			return again, err
		}
	}
	intent := r.intent(t, tip, items)
	if err := r.record(intent); err != nil {
		return false, err
	}
	began := r.s.config.Clock()
	pushErr := r.push(t, intent.Updates)
	fail("push")
	again, err = r.afterPush(t, intent, pushErr, r.s.config.Clock().Sub(began))
	if now, err := t.user.Guarded(r.stop.ctx); err == nil {
		t.Guarded = now // compared right before the push, whose hooks and helpers are the user's and may write there
	}
	if err == nil && !again && r.refusesItems(t, pushErr) {
		t.Weak, again = true, true
	}
	return again, err
}

// pushGrace is how long a push that is under way may still take when the wave is stopped.
const pushGrace = 2 * time.Second

// push moves refs of the destination. A stop lets it come to its end, for a while, and does not kill it at once: a remote that is a folder
// would keep the locks of its refs, and refuse every later push.
func (r *run) push(t *target, updates []journal.Update) error {
	if r.stop.ctx.Err() != nil {
		return context.Cause(r.stop.ctx)
	}
	ctx, cancel := context.WithCancelCause(process.WithKill(context.WithoutCancel(r.stop.ctx), nil))
	defer cancel(nil)
	defer context.AfterFunc(r.stop.ctx, func() {
		late := time.AfterFunc(pushGrace, func() { cancel(context.Cause(r.stop.ctx)) })
		context.AfterFunc(ctx, func() { late.Stop() })
	})()
	return t.shipper.Ship(ctx, t.engine.Dir, updates)
}

// intent is what a push would move. Some remotes took the branch when they refused the refs beside it, though they were asked for all or
// nothing; then it moves on from there.
func (r *run) intent(t *target, tip git.SHA, items []*journal.ItemState) journal.PushIntent {
	branch := Branch(r.id)
	intent := journal.PushIntent{Repo: t.Name, Branch: branch, Tip: tip, Items: itemIDs(items), Weak: t.Weak,
		Updates: []journal.Update{{Ref: "refs/heads/" + branch, Old: r.ownBranch(t), New: tip}}}
	for _, item := range items {
		if !t.Weak {
			intent.Updates = append(intent.Updates, journal.Update{Ref: ItemRef(item.ID), Old: r.oldShipment(item.ID), New: item.Verified})
		}
	}
	return intent
}

// afterPush asks the remote what it holds; what the push said is a hint.
func (r *run) afterPush(t *target, intent journal.PushIntent, pushErr error, took time.Duration) (again bool, err error) {
	ctx, cancel := r.bookkeeping()
	defer cancel()
	refs, err := t.shipper.Refs(ctx)
	if err != nil {
		detail := fmt.Sprintf("the remote cannot be asked what it holds: %v", err)
		if pushErr != nil {
			detail = pushDetail(pushErr) + "; " + detail
		}
		if err := r.record(journal.PushFailed{Repo: t.Name, Error: "remote_unreachable", Detail: detail}); err != nil {
			return false, err
		}
		if r.stop.ctx.Err() != nil {
			return false, context.Cause(r.stop.ctx)
		}
		return false, nil
	}
	arrived, err := t.landed(ctx, refs, intent)
	if err != nil {
		return false, err
	}
	if arrived {
		return false, r.shipped(t, intent, took)
	}
	again, err = r.adoptFrom(ctx, t, refs)
	if err != nil || again {
		return again, err
	}
	if r.stop.ctx.Err() != nil {
		return false, context.Cause(r.stop.ctx)
	}
	detail := "the push succeeded and the remote does not hold it"
	if pushErr != nil {
		detail = pushDetail(pushErr)
	}
	return false, r.record(journal.PushFailed{Repo: t.Name, Error: "push_refused", Detail: detail})
}

func holds(refs map[string]string, updates []journal.Update) bool {
	for _, u := range updates {
		if refs[u.Ref] != u.New {
			return false
		}
	}
	return true
}

// pushDetail is what git said on standard error.
func pushDetail(err error) string {
	if e, ok := errors.AsType[*git.Error](err); ok && strings.TrimSpace(e.Stderr) != "" {
		return strings.TrimSpace(e.Stderr)
	}
	return err.Error()
}

// recoverPush finds out what became of a push that an earlier process began.
func (r *run) recoverPush(t *target) error {
	repository := r.journal.Wave().Repositories[t.Name]
	if repository.Intent == nil {
		return nil
	}
	refs, err := t.shipper.Refs(r.stop.ctx)
	if err != nil {
		return fmt.Errorf("ask %s what it holds: %w", t.shipper.Name(), err)
	}
	arrived, err := t.landed(r.stop.ctx, refs, *repository.Intent)
	if err != nil {
		return err
	}
	if arrived {
		return r.shipped(t, *repository.Intent, 0)
	}
	if repository.PushError != nil {
		return nil
	}
	return r.record(journal.PushFailed{Repo: t.Name, Error: "interrupted", Detail: "the push did not land"})
}

// landed says whether a push is on the remote. The branch may have been merged and deleted, or extended, since: the item refs,
// which moved together with it, say it too; without them, that the remote's branches have the tip.
func (t *target) landed(ctx context.Context, refs map[string]string, intent journal.PushIntent) (bool, error) {
	if !intent.Weak {
		return holds(refs, intent.Updates[1:]), nil
	}
	if refs[intent.Updates[0].Ref] == intent.Tip {
		return true, nil
	}
	for _, ref := range []string{intent.Updates[0].Ref, "refs/heads/" + t.Branch} {
		at := refs[ref]
		if at == "" {
			continue
		}
		if err := t.engine.Fetch(ctx, t.remote, at); err != nil {
			return false, err
		}
		if in, err := t.engine.IsAncestor(ctx, intent.Tip, at); in || err != nil {
			return in, err
		}
	}
	return t.squashed(ctx, refs, intent)
}

// squashed says that people took the branch away, and that the base branch has all of it, as after a merge by squash.
func (t *target) squashed(ctx context.Context, refs map[string]string, intent journal.PushIntent) (bool, error) {
	base := refs["refs/heads/"+t.Branch]
	if refs[intent.Updates[0].Ref] != "" || base == "" || intent.Updates[0].Old != "" {
		return false, nil
	}
	messages, err := t.engine.Messages(ctx, t.Base, intent.Tip)
	if err != nil {
		return false, err
	}
	for commit, message := range messages {
		if trailers(message)[trailerItem] == "" { // a join of items
			continue
		}
		if in, err := t.engine.Contains(ctx, base, commit); err != nil || !in {
			return false, err
		}
	}
	return true, nil
}

// shipment is what the store remembers of an item that shipped.
type shipment struct {
	Item        string `json:"item"`
	Fingerprint string `json:"fingerprint"` // of the text that shipped
	Wave        string `json:"wave"`
	Branch      string `json:"branch"`
	Commit      string `json:"commit"`
}

func shipmentKey(commit string) statestore.Key { return statestore.Key("shipment/" + commit) }

// shipped writes down, in one transaction, that the remote holds the work.
func (r *run) shipped(t *target, intent journal.PushIntent, took time.Duration) error {
	wave := r.journal.Wave()
	event := journal.Shipped{Repo: intent.Repo, Branch: intent.Branch, Tip: intent.Tip, Items: map[string]string{}, Weak: intent.Weak, DurationMs: took.Milliseconds()}
	for _, id := range intent.Items {
		event.Items[id] = wave.Items[id].Verified
	}
	return r.recordWith(func(tx statestore.Tx) error {
		if t.refusesItems {
			if err := t.rememberWeak(tx); err != nil {
				return err
			}
		}
		for _, id := range intent.Items {
			if err := r.completeJob(tx, id); err != nil {
				return err
			}
			value, err := json.Marshal(shipment{Item: id, Fingerprint: wave.Items[id].Fingerprint, Wave: r.id, Branch: intent.Branch, Commit: event.Items[id]})
			if err != nil {
				return err
			}
			if _, err := tx.Put(shipmentKey(event.Items[id]), value, statestore.Any); err != nil {
				return err
			}
		}
		return nil
	}, event)
}

// oldShipment is where the item's ref must be for a push: at the recorded shipment, or absent.
func (r *run) oldShipment(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.old[id]
}
