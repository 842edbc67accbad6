package journal

import (
	"fmt"
	"slices"
)

// RepositoryState is one repository of the wave in the fold.
type RepositoryState struct {
	Repository
	Moves     int // how often the base moved
	Tested    *BaseTested
	Tip       string // of the newest integration
	TipItems  []string
	Union     bool        // a command ran on the union, and passed
	Intent    *PushIntent // the newest, until it has landed
	Tips      []string    // of all intents: where the wave's branch can be by our own doing
	Shipped   *Shipped
	PushError *PushFailed
	Failed    *RepositoryFailed // nil again after a resume
}

// Red says that the configured test fails on the base.
func (r *RepositoryState) Red() bool { return r.Tested != nil && !r.Tested.Test.Passed }

// Of is the repository of an item of the wave.
func (w *Wave) Of(i *ItemState) *RepositoryState { return w.Repositories[i.Repo] }

// In yields the repositories in the order of the plan.
func (w *Wave) In() []*RepositoryState {
	all := make([]*RepositoryState, len(w.Plan.Repositories))
	for i, r := range w.Plan.Repositories {
		all[i] = w.Repositories[r.Name]
	}
	return all
}

// applyRepository folds the events that are about one repository.
func (w *Wave) applyRepository(event Event) (known bool, err error) {
	switch e := event.(type) {
	case BaseTested:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return true, w.repository(e.Repo, func(r *RepositoryState) { r.Tested = &e })
	case BaseMoved:
		return true, w.repository(e.Repo, func(r *RepositoryState) { r.Base, r.Moves = e.Base, r.Moves+1 })
	case Integrated:
		return true, w.repository(e.Repo, func(r *RepositoryState) { r.Tip, r.TipItems, r.Union = e.Tip, e.Items, e.Verified })
	case PushIntent:
		return true, w.repository(e.Repo, func(r *RepositoryState) {
			r.Intent, r.PushError, r.Tips = &e, nil, append(r.Tips, e.Tip)
		})
	case PushFailed:
		return true, w.repository(e.Repo, func(r *RepositoryState) { r.PushError = &e })
	case RepositoryFailed:
		return true, w.repository(e.Repo, func(r *RepositoryState) { r.Failed = &e })
	case Shipped:
		if err := w.repository(e.Repo, func(r *RepositoryState) { r.Shipped, r.Intent = &e, nil }); err != nil {
			return true, err
		}
		return true, w.ship(e)
	}
	return false, nil
}

func (w *Wave) repository(name string, change func(*RepositoryState)) error {
	r, ok := w.Repositories[name]
	if !ok {
		return fmt.Errorf("repository %s is not part of the wave", name)
	}
	change(r)
	return nil
}

// RedBase says that no item can be worked on, since the base of every repository with items fails its own test and that is not allowed.
func (w *Wave) RedBase() bool {
	green := func(i *ItemState) bool { return !w.Of(i).Red() }
	return !w.Plan.RedBase && len(w.Order) > 0 && len(w.Select(green)) == 0
}

// Pushing says whether a push of the item was begun.
func (w *Wave) Pushing(id string) bool {
	for _, r := range w.Repositories {
		if r.Intent != nil && slices.Contains(r.Intent.Items, id) {
			return true
		}
	}
	return false
}
