package wave

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"aesop/wave/journal"
)

// changedError says that what git runs or obeys in the user's repository is not what it was before agents worked.
type changedError struct{ repository, path string }

func (e *changedError) Error() string {
	return fmt.Sprintf("the configuration or the hooks of the user's repository %s changed while agents worked; look at them, then resume", e.path)
}

// unchanged compares the configuration and the hooks of the user's repository with what they were before any agent worked; where that is
// not known, they are that now. The digest is the wave's, not the process's: it stands in the plan, and a resume compares with it. A
// new one is taken only where people answer for it: after a process left the wave by itself, having looked and told of any change.
func (t *target) unchanged(ctx context.Context) error {
	now, err := t.user.Guarded(ctx)
	if t.Guarded == "" {
		t.Guarded = now
		return err
	}
	if err == nil && now != t.Guarded {
		err = &changedError{t.Name, t.Path}
	}
	if err != nil {
		return &gateError{"repository", err}
	}
	return nil
}

// guard stops the wave where the repository is not unchanged: whatever asks the remote, or pushes to it, would run what stands there.
func (r *run) guard(t *target) error {
	err := t.unchanged(r.stop.ctx)
	if err != nil {
		r.stop.cancel(err)
	}
	return err
}

// guardAll looks once more when everything is done, also where nothing was pushed: the next wave takes what it finds for the user's. It
// has no effect that a stop would have to keep from happening.
func (r *run) guardAll() error {
	ctx, cancel := r.bookkeeping()
	defer cancel()
	for _, t := range r.targets.open {
		if err := t.unchanged(ctx); err != nil {
			r.stop.cancel(err)
			return err
		}
	}
	return nil
}

// lookBeforeStop compares once more when a process leaves its wave unfinished, its agents having ended, and adds to the reason what
// changed. What people change from then on is theirs.
func (r *run) lookBeforeStop(stopped *journal.Stopped) {
	if r.targets == nil {
		return
	}
	ctx, cancel := r.bookkeeping()
	defer cancel()
	for _, name := range slices.Sorted(maps.Keys(r.targets.open)) {
		if slices.Contains(stopped.Compared, name) {
			continue
		}
		err := r.targets.open[name].unchanged(ctx)
		changed, told := errors.AsType[*changedError](err)
		if told {
			stopped.Reason += "; " + changed.Error()
		}
		if told || err == nil {
			stopped.Compared = append(stopped.Compared, name)
		}
	}
}

// guarded are the digests of the open repositories by name.
func (r *run) guarded() map[string]string {
	digests := map[string]string{}
	if r.targets != nil { // a wave that is abandoned opens none
		for name, t := range r.targets.open {
			digests[name] = t.Guarded
		}
	}
	return digests
}
