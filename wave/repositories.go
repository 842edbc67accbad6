package wave

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"aesop/tracker"
	"aesop/wave/journal"
)

// place is where a repository is.
type place struct {
	name string // as the backlog's items have it, "." where they have none
	path string
}

// places are the repositories in which the backlog has something left to do, and those of what it depends on, by the order of its
// items. Where the items name none it is the configured one.
func (s *Scheduler) places(backlog tracker.Backlog) ([]place, error) {
	if !slices.ContainsFunc(backlog.Items, func(i tracker.Item) bool { return i.Repo != "" }) {
		return []place{{".", s.config.Repo}}, nil
	}
	var all []place
	named := map[string]string{} // name by path
	for _, name := range neededRepositories(backlog) {
		path := filepath.Join(filepath.Dir(backlog.Source), filepath.FromSlash(name))
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			path = resolved
		}
		if other, twice := named[path]; twice {
			return nil, &SetupError{Code: "several_names", Message: fmt.Sprintf("the repository %s is called %q and %q in the backlog", path, other, name),
				Hint: "call it by one name, so that items which own the same files are known to"}
		}
		named[path] = name
		all = append(all, place{name, path})
	}
	return all, nil
}

// neededRepositories are the names of the repositories of items that a wave could take, and of what they depend on.
func neededRepositories(backlog tracker.Backlog) []string {
	byID := map[string]tracker.Item{}
	for _, item := range backlog.Items {
		byID[item.ID] = item
	}
	var names []string
	need := func(item tracker.Item) {
		if item.Defect() == nil && item.Repo != "" && !slices.Contains(names, item.Repository()) {
			names = append(names, item.Repository())
		}
	}
	for _, item := range backlog.Items {
		switch item.Status {
		case tracker.Done, tracker.Failed, tracker.Blocked:
			continue
		}
		need(item)
		for _, id := range item.DependsOn {
			need(byID[id])
		}
	}
	return names
}

// targets are the repositories of a wave by name. What could not be opened stands in failed; both together are all.
type targets struct {
	open   map[string]*target
	failed map[string]error
}

// openAll opens the repositories. It is an error only where none of them can be opened.
func (s *Scheduler) openAll(ctx context.Context, id string, places []place, from func(name string) origin) (*targets, error) {
	all := &targets{open: map[string]*target{}, failed: map[string]error{}}
	roots, shipsTo := map[string]string{}, map[string]string{}
	for _, p := range places {
		t, err := s.open(ctx, id, p, from(p.name))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if _, stops := errors.AsType[*gateError](err); stops {
			return nil, err
		}
		if err == nil && roots[t.user.Common] != "" {
			return nil, &SetupError{Code: "several_names", Message: fmt.Sprintf("%s and %s are folders of one repository", roots[t.user.Common], p.name),
				Hint: "name the root of the repository, so that items which own the same files are known to"}
		}
		if err != nil {
			all.failed[p.name] = err
			continue
		}
		if other := shipsTo[t.remote.URL()]; other != "" {
			return nil, &SetupError{Code: "several_names", Message: fmt.Sprintf("%s and %s ship to one place", other, p.name),
				Hint: "keep one of them in the backlog: their branches would have one name"}
		}
		roots[t.user.Common], shipsTo[t.remote.URL()] = p.name, p.name
		all.open[p.name] = t
	}
	if len(places) > 0 && len(all.open) == 0 {
		return nil, joined(all.failed)
	}
	return all, nil
}

// joined is what went wrong in several repositories, in the order of their names.
func joined(faults map[string]error) error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		all = append(all, faults[name])
	}
	return errors.Join(all...)
}

// planned are the repositories as a wave's plan has them.
func (all *targets) planned(places []place) []journal.Repository {
	rows := make([]journal.Repository, len(places))
	for i, p := range places {
		rows[i] = journal.Repository{Name: p.name, Path: p.path}
		if t := all.open[p.name]; t != nil {
			rows[i] = t.Repository
		}
	}
	return rows
}

// inBase says whether the shipped commit of an item is in the base of its repository.
func (all *targets) inBase(ctx context.Context, item tracker.Item) (bool, error) {
	if t := all.open[item.Repository()]; t != nil {
		return t.engine.Contains(ctx, t.Base, item.Shipped.Commit)
	}
	return false, fmt.Errorf("repository %s cannot be worked on", item.Repository())
}

// unavailable says why a repository cannot be worked on, or is empty.
func (all *targets) unavailable(name string) string {
	if err := all.failed[name]; err != nil {
		return err.Error()
	}
	return ""
}

// targetOf is the repository of an item of the wave.
func (r *run) targetOf(id string) *target { return r.targets.open[r.journal.Wave().Items[id].Repo] }

// eachRepository takes a step in every repository that has not failed. What goes wrong in one leaves the others alone; where it goes
// wrong in all, that is the error.
func (r *run) eachRepository(step func(*target) error) error {
	faults := map[string]error{}
	taken := 0
	for _, repository := range r.journal.Wave().In() {
		t := r.targets.open[repository.Name]
		if t == nil || repository.Failed != nil {
			continue
		}
		taken++
		err := step(t)
		if err != nil && (r.stop.ctx.Err() != nil || r.stopCause(err) != nil) {
			return err
		}
		if err != nil {
			faults[t.Name] = err
		}
	}
	if len(faults) == taken && taken == len(r.journal.Wave().Repositories) {
		return joined(faults)
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		if err := r.repositoryFailed(name, faults[name]); err != nil {
			return err
		}
	}
	return nil
}

// repositoryFailed writes down why a repository is left alone from here on. Its open items wait for a resume.
func (r *run) repositoryFailed(name string, err error) error {
	return r.record(r.failure(name, err))
}

func (r *run) failure(name string, err error) journal.RepositoryFailed {
	return journal.RepositoryFailed{Repo: name, Error: Explain(err).Code, Detail: r.s.redact(err.Error())}
}

// leaveFailed writes down which repositories cannot be worked on, and ends what was selected of them: nothing was begun for it.
func (r *run) leaveFailed() error {
	for _, name := range slices.Sorted(maps.Keys(r.targets.failed)) {
		cause := r.targets.failed[name]
		if err := r.repositoryFailed(name, cause); err != nil {
			return err
		}
		if err := r.endAll(name, journal.StateSetupFailed, "repository "+name+": "+cause.Error()); err != nil {
			return err
		}
	}
	return nil
}
