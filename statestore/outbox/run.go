package outbox

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"aesop/statestore"
)

// maxLater bounds what receivers may ask for.
const maxLater = 5 * time.Minute

// Run sends what is owed already, from before a restart or from another process, and then what the store commits, until ctx ends. Each
// sink runs by itself. After a failure it waits and then begins with the oldest again; news of other subjects does not wait for that.
// It returns nil when ctx has ended, and an error that is statestore.ErrClosed when the store has; other errors are logged, and what failed is
// tried again.
func (n *Notifier) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, to := range n.sinks {
		group.Go(func() error { return n.keep(ctx, to) })
	}
	return group.Wait()
}

// keep runs one sink.
func (n *Notifier) keep(ctx context.Context, to Named) error {
	r := n.newRound(to)
	failures := 0       // full rounds in a row that failed
	var retry time.Time // when the next one is due; zero: when there is news
	for ctx.Err() == nil {
		said := len(r.errs)
		err := r.walk(ctx)
		if errors.Is(err, statestore.ErrClosed) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		n.tell(to, r.errs[said:], err)
		broken := r.ended || err != nil && !errors.Is(err, errBusy) // news would fare no better
		switch {
		case errors.Is(err, errBusy):
			retry = time.Now().Add(lease)
		case !broken && r.failed == 0:
			failures, retry = 0, time.Time{}
		case broken || retry.IsZero():
			retry = time.Now().Add(max(n.backoff(failures), min(r.later, maxLater)))
			failures++
		}
		news := n.rest(ctx, r, broken, retry)
		if !news {
			retry = time.Time{}
		}
		if !news || r.failed == 0 { // else it goes on behind what waits
			head := r.head
			r = n.newRound(to)
			r.head = head
		}
	}
	return nil
}

// rest waits for news, where that is of use, or until the next try is due, and says whether there is news.
func (n *Notifier) rest(ctx context.Context, r *round, broken bool, retry time.Time) bool {
	if !retry.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, retry)
		defer cancel()
	}
	if !broken && n.store.Changed(ctx, r.head) == nil {
		return true
	}
	if retry.IsZero() { // waiting for news failed: the next walk says why
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, n.retry)
		defer cancel()
	}
	<-ctx.Done()
	return false
}

// backoff is how long to wait after a number of failures in a row.
func (n *Notifier) backoff(failures int) time.Duration {
	wait := n.retry << min(failures, 4)
	return wait/2 + time.Duration(n.jitter()*float64(wait/2))
}

func (n *Notifier) tell(to Named, errs []error, err error) {
	if err != nil && !errors.Is(err, errBusy) {
		errs = append(errs, err)
	}
	for _, err := range errs {
		n.log.Warn("outbox", zap.String("sink", to.Name), zap.String("error", n.redact(err.Error())))
	}
}
