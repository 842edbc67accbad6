package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"aesop/statestore"
)

const (
	lease     = 5 * time.Second        // a turn holds for so long without being renewed
	turnPoll  = 100 * time.Millisecond // how often somebody who waits for a turn looks
	afterward = 5 * time.Second        // for what is written after the caller's context ended
)

// errBusy says that another notifier, which is alive, has the turn of a sink.
var errBusy = errors.New("another notifier is sending")

// turn is the right to send to a sink. Its revision is its identity: nobody but who wrote it knows it.
type turn struct {
	Until time.Time `json:"until"`
}

func turnKey(sink string) statestore.Key { return statestore.Key("outbox/turn/" + sink) }

// inTurn runs work while it has the turn of a sink, and ends the context of work where it loses it.
func (n *Notifier) inTurn(ctx context.Context, sink string, work func(ctx context.Context) error) error {
	rev, err := n.take(ctx, sink)
	if err != nil {
		return err
	}
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var keeper sync.WaitGroup
	keeper.Go(func() {
		for {
			select {
			case <-working.Done():
				n.release(ctx, sink, rev)
				return
			case <-time.After(lease / 3):
			}
			// To its end, whatever ends meanwhile: what it wrote is what is released.
			renewing, stop := context.WithTimeout(context.WithoutCancel(ctx), afterward)
			var err error
			rev, err = n.put(renewing, sink, rev)
			stop()
			if err != nil {
				cancel(fmt.Errorf("renew the turn of %s: %w", sink, err))
				return
			}
		}
	})
	err = work(working)
	cancel(nil)
	keeper.Wait()
	return err
}

// take takes the turn of a sink. Where another has it, it waits to see whether that one is alive: a turn that is renewed or given back is
// errBusy, one that ends is taken.
func (n *Notifier) take(ctx context.Context, sink string) (statestore.Rev, error) {
	var others statestore.Rev
	for waited := time.Duration(0); ; waited += turnPoll {
		rev, held, err := n.holder(ctx, sink)
		if err != nil {
			return 0, err
		}
		if !held {
			mine, err := n.put(ctx, sink, rev)
			if errors.Is(err, statestore.ErrConflict) {
				err = errBusy
			}
			return mine, err
		}
		if waited > lease || others != 0 && others != rev {
			return 0, errBusy
		}
		others = rev
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(turnPoll):
		}
	}
}

// holder returns the revision of the turn, 0 for none, and whether it still holds. One that cannot be read does not, nor one that is longer
// than turns are: two who send at once do no harm.
func (n *Notifier) holder(ctx context.Context, sink string) (rev statestore.Rev, held bool, err error) {
	err = n.store.View(ctx, func(r statestore.Reader) error {
		rev, held = 0, false
		record, err := r.Get(turnKey(sink))
		if errors.Is(err, statestore.ErrNotFound) {
			return nil
		}
		var t turn
		if err == nil && json.Unmarshal(record.Value, &t) == nil {
			held = r.Now().Before(t.Until) && !t.Until.After(r.Now().Add(lease))
		}
		rev = record.Rev
		return err
	})
	return rev, held, err
}

// put writes the turn over one that has a revision.
func (n *Notifier) put(ctx context.Context, sink string, over statestore.Rev) (rev statestore.Rev, err error) {
	err = n.store.Update(ctx, func(tx statestore.Tx) error {
		value, err := json.Marshal(turn{Until: tx.Now().Add(lease)})
		if err != nil {
			return err
		}
		rev, err = tx.Put(turnKey(sink), value, over)
		return err
	})
	return rev, err
}

// release gives the turn back, also when ctx has ended. Where that fails, the turn ends by itself.
func (n *Notifier) release(ctx context.Context, sink string, rev statestore.Rev) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterward)
	defer cancel()
	_ = n.store.Update(ctx, func(tx statestore.Tx) error { return tx.Delete(turnKey(sink), rev) })
}
