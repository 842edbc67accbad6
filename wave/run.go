package wave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"aesop/driver/process"
	"aesop/internal/git"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave/journal"
)

// run is one wave under way in this process. What it knows of the wave is the journal's fold; here is only what is not stored:
// secrets, handles, and the means to stop.
type run struct {
	s       *Scheduler
	id      string
	journal *journal.Journal
	stop    *stopper
	targets *targets

	mu     sync.Mutex
	items  map[string]tracker.Item            // text of the wave's items
	claims map[string]tracker.Claim           // held
	jobs   map[string]string                  // token of each item's running job
	cancel map[string]context.CancelCauseFunc // of the work on each item
	seats  map[string]held                    // by item: agents that were asked about it since it was last judged
	turns  map[string]*sync.Mutex             // by item: see turn
	old    map[string]string                  // where each item ref was when it was last looked at
	own    map[string]string                  // where the wave's branch was then, by repository, if that is our own doing; "": nowhere

	asking   *queue     // of the items that are built
	alerting sync.Mutex // one looks at a time

	nonce string // names the folder of the caches, which nobody has to find
}

func (s *Scheduler) newRun(id string, j *journal.Journal, st *stopper) *run {
	return &run{s: s, id: id, journal: j, stop: st, targets: &targets{}, items: map[string]tracker.Item{},
		claims: map[string]tracker.Claim{}, jobs: map[string]string{}, old: map[string]string{}, own: map[string]string{}, cancel: map[string]context.CancelCauseFunc{}, seats: map[string]held{}, turns: map[string]*sync.Mutex{}, nonce: s.nonce()}
}

// nonce is a name that cannot be guessed. Where there is no randomness, the next token says so.
func (s *Scheduler) nonce() string {
	token, _ := tracker.NewToken(s.config.Rand)
	return token[:min(len(token), 16)]
}

// bookkeeping is the context of what must be written down, and asked, also after a stop.
func (r *run) bookkeeping() (context.Context, context.CancelFunc) {
	return context.WithTimeout(process.WithKill(context.WithoutCancel(r.stop.ctx), nil), time.Minute)
}

// record appends events that need no other write.
func (r *run) record(events ...journal.Event) error { return r.recordWith(nil, events...) }

// recordWith appends events together with what along writes.
func (r *run) recordWith(along func(statestore.Tx) error, events ...journal.Event) error {
	ctx, cancel := r.bookkeeping()
	defer cancel()
	if err := r.journal.Append(ctx, along, events...); err != nil {
		return fmt.Errorf("journal of wave %s: %w", r.id, err)
	}
	for _, e := range events {
		fail(e.Type())
	}
	return nil
}

// item is the tracker's text of an item.
func (r *run) item(id string) tracker.Item {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.items[id]
}

// folder is a folder of this wave below the state directory.
func (r *run) folder(parts ...string) string {
	return filepath.Join(append([]string{r.s.config.State, "waves", r.id}, parts...)...)
}

// scratch is a fresh name for a tree of an item.
func (r *run) scratch(item, what string) string {
	return filepath.Join(r.s.config.State, "trees", r.id, "items", itemName(item), what)
}

// caches is the folder of what runs on the base left in their caches. It has a name of this process only: what tests start with
// must not be where an agent expects it.
func (r *run) caches() string {
	return filepath.Join(r.s.config.State, "trees", r.id+".caches-"+r.nonce)
}

// below is a path as reports name it: relative to the state directory.
func (r *run) below(path string) string {
	place, err := filepath.Rel(r.s.config.State, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(place)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// identity is who commits in a repository.
func (t *target) identity() git.Identity { return git.Identity{Name: t.Who, Email: t.Email} }

// finish runs the steps of a wave whose items are claimed, from wherever the journal says it is, to its end.
func (r *run) finish() error {
	for _, step := range []func() error{r.adopt, r.build, r.scan, r.spotCheck, r.review, r.approve, r.integrateAndShip, r.settle, r.guardAll} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// close writes down how the wave ended and its report. cause is what kept finish from its end, or nil.
func (r *run) close(cause error) (Report, error) {
	if stopped := r.stopCause(cause); stopped != nil {
		r.lookBeforeStop(stopped)
		if err := r.record(append(r.budgeted(), *stopped)...); err != nil {
			return r.broken(err)
		}
		report := NewReport(r.journal.Wave())
		return report, r.writeReport(report)
	}
	if cause != nil {
		return r.broken(cause)
	}
	if err := r.record(append(r.budgeted(), journal.Ended{Outcome: r.journal.Wave().Outcome()})...); err != nil {
		return r.broken(err)
	}
	report := NewReport(r.journal.Wave())
	if err := r.writeReport(report); err != nil {
		return report, err
	}
	if len(r.journal.Wave().Unfinished()) > 0 {
		return report, nil // stays open: resume pushes again
	}
	r.cleanUp()
	ctx, cancel := r.bookkeeping()
	defer cancel()
	return report, r.journal.Close(ctx)
}

// stopCause says whether the wave was told to stop before its work was done.
func (r *run) stopCause(cause error) *journal.Stopped {
	if cause == nil {
		return nil
	}
	if _, ours := errors.AsType[*engineError](cause); ours {
		return nil
	}
	if stopped := r.stop.stopped(); stopped != nil {
		return stopped
	}
	if _, ok := errors.AsType[*Stop](cause); ok {
		return stoppedBy(cause)
	}
	if _, ok := errors.AsType[*gateError](cause); ok {
		return stoppedBy(cause)
	}
	return nil
}

// broken reports a wave that the engine itself could not carry on; it stays open and can be resumed.
func (r *run) broken(err error) (Report, error) {
	fault := Explain(err)
	fault.Message = r.s.redact(fault.Message)
	stopped := journal.Stopped{Outcome: journal.ErrorOutcome, Reason: fault.Message, Error: fault}
	r.lookBeforeStop(&stopped)
	wave := r.journal.Wave()
	if noteErr := r.record(stopped); noteErr == nil {
		wave = r.journal.Wave()
	} else if applyErr := wave.Apply(r.s.config.Clock(), stopped); applyErr != nil { // the store may be what is broken
		err = errors.Join(err, noteErr, applyErr)
	}
	report := NewReport(wave)
	return report, errors.Join(err, r.writeReport(report))
}
