package journal

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Apply folds one event. An event about an item that the wave does not have is an error.
func (w *Wave) Apply(at time.Time, event Event) error {
	switch e := event.(type) {
	case Planned:
		w.plan(at, e)
	case Dropped:
		return w.drop(e)
	case Claimed:
		return w.each(e.Items, func(i *ItemState) { i.Claimed, i.Recorded = true, e.Recorded[i.ID] })
	case Settled:
		return w.settle(e)
	case GateChecked:
		w.gate(e)
	case Stopped:
		w.Stop, w.EndedAt = &e, at
		for _, name := range e.Compared { // what changes from here on is people's, and so is what they were told of and resume with
			if r := w.Repositories[name]; r != nil {
				r.Guarded = ""
			}
		}
	case TakenOver:
		w.Stop, w.End, w.EndedAt = nil, nil, time.Time{}
		w.Driver, w.Tier = e.Driver, e.Tier
		w.Review, w.Approve = w.Review || e.Review, w.Approve || e.Approve
		w.Survivors = append(w.Survivors, e.Survivors...)
		for _, r := range w.Repositories {
			r.Failed = nil
		}
		for _, i := range w.Select((*ItemState).Open) {
			i.Stale = true // the process knows other secrets than the one before
		}
	case Resumed:
		return w.resume(e)
	case Budgeted:
		w.Budget = &e
	case Alerted:
		w.alert(e)
	case Ended:
		w.End, w.EndedAt = &e, at
		for _, r := range w.Repositories { // no agent works after the end, and it was compared there
			r.Guarded = ""
		}
	default:
		if known, err := w.applyRepository(event); known {
			return err
		}
		return w.applyItem(at, event)
	}
	return nil
}

// applyItem folds the events that are about one item.
func (w *Wave) applyItem(at time.Time, event Event) error {
	switch e := event.(type) {
	case ItemBaseTested:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.item(e.Item, func(i *ItemState) { i.BaseTest = &e.Test })
	case AttemptStarted:
		return w.item(e.Item, func(i *ItemState) {
			i.Attempts = append(i.Attempts, Attempt{ID: e.Attempt, Round: e.Round, Driver: e.Driver, Tier: e.Tier, Model: e.Model, StartedAt: at})
		})
	case AttemptEnded:
		w.Survivors = append(w.Survivors, e.Survivors...)
		return w.attempt(e.Item, e.Attempt, func(i *ItemState, a *Attempt) {
			a.Ended = &e
			i.BuildTime += time.Duration(e.DurationMs) * time.Millisecond
		})
	case Verified:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.attempt(e.Item, e.Attempt, func(i *ItemState, a *Attempt) {
			a.Test = &e.Test
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
			if e.Test.Passed {
				i.Verified = e.Commit
			}
		})
	case Asked:
		return w.item(e.Item, func(i *ItemState) { i.Asked, i.AskedAt = &e, at })
	case Corrected:
		return w.correct(e)
	case Rebased:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.item(e.Item, func(i *ItemState) {
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
			if e.Test.Passed {
				i.Verified, i.Rebased = e.Commit, &e
			}
		})
	case SpotChecked:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.item(e.Item, func(i *ItemState) {
			i.Again = &e
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
		})
	case Scanned:
		return w.item(e.Item, func(i *ItemState) { i.Scanned, i.Stale = &e, false })
	case Judged:
		w.Survivors = append(w.Survivors, e.Survivors...)
		return w.item(e.Item, func(i *ItemState) {
			if i.Judged == nil {
				i.Judged = map[string]Judged{}
			}
			i.Judged[e.Seat] = e
		})
	case Unanswered:
		w.Survivors = append(w.Survivors, e.Survivors...)
		return w.item(e.Item, func(i *ItemState) { i.Unanswered = append(i.Unanswered, e) })
	case ItemEnded:
		return w.item(e.Item, func(i *ItemState) { i.End = &e })
	case Adopted:
		return w.item(e.Item, func(i *ItemState) { i.Adopted, i.Commit = &e, e.Commit })
	}
	return fmt.Errorf("event %s has no place in the fold", event.Type())
}

func (w *Wave) correct(e Corrected) error {
	if e.Test != nil {
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
	}
	return w.item(e.Item, func(i *ItemState) {
		i.Corrected = append(i.Corrected, e)
		if e.Test != nil {
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
		}
		if e.Passed() {
			i.Verified = e.Commit
		}
	})
}

func (w *Wave) plan(at time.Time, e Planned) {
	w.StartedAt, w.Plan, w.Skipped = at, e, slices.Clone(e.Skipped)
	w.Driver, w.Tier, w.Review, w.Approve = e.Driver, e.Tier, e.Review, e.Approve
	for _, r := range e.Repositories {
		w.Repositories[r.Name] = &RepositoryState{Repository: r}
	}
	for _, item := range e.Items {
		w.Items[item.ID] = &ItemState{Item: item}
		w.Order = append(w.Order, item.ID)
	}
}

func (w *Wave) drop(e Dropped) error {
	item, ok := w.Items[e.Item]
	if !ok {
		return unknownItem(e.Item)
	}
	delete(w.Items, e.Item)
	w.Order = slices.DeleteFunc(w.Order, func(id string) bool { return id == e.Item })
	w.Beaten = true
	w.Skipped = append(w.Skipped, Skipped{ID: item.ID, Slug: item.Slug, Reason: e.Reason, Detail: e.Detail})
	return nil
}

func (w *Wave) ship(e Shipped) error {
	ids := slices.Sorted(maps.Keys(e.Items))
	return w.each(ids, func(i *ItemState) {
		i.Commit = e.Items[i.ID]
		i.ShipTime = time.Duration(e.DurationMs) * time.Millisecond
	})
}

// alert keeps one row an alert; one that fired stays so.
func (w *Wave) alert(e Alerted) {
	for _, a := range e.Alerts {
		at := slices.IndexFunc(w.Alerts, a.Same)
		switch {
		case at < 0:
			w.Alerts = append(w.Alerts, a)
		case w.Alerts[at].State == "failed":
			w.Alerts[at] = a
		}
	}
}

// gate keeps one row a gate and point; a later answer replaces an earlier one.
func (w *Wave) gate(e GateChecked) {
	for i, g := range w.Gates {
		if g.Name == e.Name && g.At == e.At {
			w.Gates[i] = e
			return
		}
	}
	w.Gates = append(w.Gates, e)
}

func (w *Wave) settle(e Settled) error {
	return errors.Join(
		w.each(e.Items, func(i *ItemState) { i.Settled = true }),
		w.each(e.Changed, func(i *ItemState) { i.Changed = true }),
		w.each(e.Lost, func(i *ItemState) { i.Lost = true }))
}

func (w *Wave) resume(e Resumed) error {
	for id, claim := range e.Claims {
		if err := w.item(id, func(i *ItemState) { i.Claim, i.Claimed, i.Recorded = claim, true, e.Recorded[id] }); err != nil {
			return err
		}
	}
	for name, digest := range e.Guarded {
		if err := w.repository(name, func(r *RepositoryState) { r.Guarded = digest }); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wave) each(ids []string, change func(*ItemState)) error {
	for _, id := range ids {
		if err := w.item(id, change); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wave) item(id string, change func(*ItemState)) error {
	item, ok := w.Items[id]
	if !ok {
		return unknownItem(id)
	}
	change(item)
	return nil
}

func (w *Wave) attempt(id, attempt string, change func(*ItemState, *Attempt)) error {
	item, ok := w.Items[id]
	if !ok {
		return unknownItem(id)
	}
	for i := range item.Attempts {
		if item.Attempts[i].ID == attempt {
			change(item, &item.Attempts[i])
			return nil
		}
	}
	return fmt.Errorf("attempt %s of item %s is not known", attempt, id)
}

func unknownItem(id string) error { return fmt.Errorf("item %s is not part of the wave", id) }
