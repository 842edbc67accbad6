package wave

import (
	"context"
	"crypto/rand"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"aesop/tracker"
	"aesop/wave/journal"
)

// Abandon ends a wave that was left and cannot, or shall not, be resumed: its items are given back to the backlog, uncounted. What
// they had come to is kept until it is discarded. If a push of the wave did land, the next wave that takes the item finds that out. Of
// a wave that has ended already the report comes back. *AliveError where a process runs it.
func (a Archive) Abandon(ctx context.Context, backlog tracker.Tracker, id, reason string) (Report, error) {
	place, err := Place(a.State)
	if err != nil {
		return Report{}, err
	}
	redactor, err := theRedactor(a.Redactor)
	if err != nil {
		return Report{}, err
	}
	s := &Scheduler{place: place, halt: Halt{Dir: a.State, Redactor: redactor}, alive: map[*stopper]bool{}, config: Config{State: a.State, Store: a.Store, Tracker: backlog,
		Lease: DefaultLease, MaxAttempts: DefaultMaxAttempts, Owner: defaultOwner(os.LookupEnv), Clock: time.Now, Rand: rand.Reader, Redactor: redactor, Logger: zap.NewNop()}}
	j, err := s.load(ctx, id)
	if err != nil {
		return Report{}, err
	}
	if open, err := s.unfinished(ctx); err != nil || !slices.Contains(open, id) {
		return NewReport(j.Wave()), err
	}
	release, err := s.take(id)
	if err != nil {
		return Report{}, err
	}
	defer func() { _ = release() }()          // the kernel lets go of it at the latest
	if j, err = s.load(ctx, id); err != nil { // as it is now that nobody else writes
		return Report{}, err
	}
	st := &stopper{kill: make(chan struct{})} // which nothing stops, not even HALT: these are a few writes that belong together
	st.ctx, st.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer st.cancel(nil)
	report, err := s.newRun(id, j, st).giveBack(ctx, reason)
	return report, s.clean(err)
}

// giveBack ends what the wave's dead process left, and the wave.
func (r *run) giveBack(ctx context.Context, reason string) (Report, error) {
	survivors, err := r.s.endProcesses(ctx, r.id)
	if err != nil {
		return Report{}, err
	}
	wave := r.journal.Wave()
	if err := r.record(journal.TakenOver{Driver: wave.Driver, Tier: wave.Tier, Survivors: survivors}); err != nil {
		return r.broken(err)
	}
	return r.close(r.abandon(wave, reason))
}

// abandon takes the claims over and gives them back.
func (r *run) abandon(wave *journal.Wave, reason string) error {
	if err := r.abandonAttempts(wave); err != nil {
		return err
	}
	backlog, err := r.s.config.Tracker.Backlog(r.stop.ctx)
	if err != nil {
		return err
	}
	wants, err := r.reclaims(backlog)
	if err != nil {
		return err
	}
	if err := r.reclaim(wants); err != nil {
		return err
	}
	for _, item := range r.journal.Wave().Select((*journal.ItemState).Open) {
		if err := r.end(item.ID, journal.StateCancelled, "the wave was abandoned: "+r.s.redact(reason), false, nil); err != nil {
			return err
		}
	}
	return r.settle()
}
