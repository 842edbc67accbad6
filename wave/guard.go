package wave

import "context"

// changedError says that what git runs or obeys in the user's repository is not what it was before agents worked.
type changedError struct{ repository string }

func (e *changedError) Error() string {
	return "the configuration or the hooks of the user's repository changed while agents worked; look at them, then resume"
}

// unchanged compares the configuration and the hooks of the user's repository with what they were before any agent worked; where that is
// not known, they are that now. The digest is the wave's, not the process's: it stands in the plan, and a resume compares with it. A
// new one is taken only where people answer for it: after a stop that named the change, and after the end of a wave.
func (t *target) unchanged(ctx context.Context) error {
	now, err := t.user.Guarded(ctx)
	if t.Guarded == "" {
		t.Guarded = now
		return err
	}
	if err == nil && now != t.Guarded {
		err = &changedError{t.Name}
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

// guardAll looks once more when everything is done, also where nothing was pushed: the next wave takes what it finds for the user's.
func (r *run) guardAll() error {
	for _, t := range r.targets.open {
		if err := r.guard(t); err != nil {
			return err
		}
	}
	return nil
}

// guarded are the digests of the open repositories by name.
func (all *targets) guarded() map[string]string {
	digests := map[string]string{}
	for name, t := range all.open {
		digests[name] = t.Guarded
	}
	return digests
}
