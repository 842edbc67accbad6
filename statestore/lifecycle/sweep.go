package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aesop/statestore"
	"aesop/statestore/job"
)

// Bounds of one View of a sweep.
const (
	sweepAgents = 256
	sweepItems  = 4096
)

// Swept is what a sweep found and did.
type Swept struct {
	Verdicts []Verdict // of all agents of pending and running jobs, in the order of their items
	Changed  int       // jobs whose advice was opened, changed or closed
}

// Sweep judges all live agents and keeps the advice on them. It reads in pages, and writes, in one Update, only where
// advice is to change: what it decides by is read again there. Any number of sweeps may run at once.
//
// An error of the store ends it, and nothing was written. What is damaged or missing is an error too, a *statestore.DamagedError among
// others, beside all that could be found and done.
func Sweep(ctx context.Context, store statestore.Store, t Thresholds) (Swept, error) {
	if err := t.Check(); err != nil {
		return Swept{}, err
	}
	var s Swept
	var k kept
	found := damages{}
	err := store.View(ctx, func(r statestore.Reader) (err error) {
		k, err = keptAdvice(r)
		return err
	})
	for item, more := "", true; more && err == nil; {
		var page judged
		err = store.View(ctx, func(r statestore.Reader) (err error) {
			page, err = judgePage(r, item, t)
			return err
		})
		item, more = page.last, page.more
		s.Verdicts = append(s.Verdicts, page.verdicts...)
		found.add(page.damage)
	}
	if jobs := k.changing(s.Verdicts); len(jobs) > 0 && err == nil {
		err = store.Update(ctx, func(tx statestore.Tx) (err error) {
			s.Changed, err = adviseNow(tx, jobs, t, found)
			return err
		})
	}
	if err != nil {
		s.Changed = 0
	}
	for _, v := range s.Verdicts {
		found.add(v.Damage)
	}
	for _, id := range slices.Sorted(maps.Keys(k.damaged)) {
		found.add(k.damaged[id])
	}
	all := []error{err}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[what])
	}
	if err := errors.Join(all...); err != nil {
		return s, fmt.Errorf("sweep: %w", err)
	}
	return s, nil
}

// damages are what is damaged, by its name.
type damages map[string]*statestore.DamagedError

func (d damages) add(one *statestore.DamagedError) {
	if one != nil {
		d[one.What] = one
	}
}

// kept is all advice that is kept, by job.
type kept struct {
	open    map[string]Advice
	damaged map[string]*statestore.DamagedError // what cannot be read, which is left as it is
}

func keptAdvice(r statestore.Reader) (kept, error) {
	k := kept{map[string]Advice{}, map[string]*statestore.DamagedError{}}
	for record, err := range r.Scan(statestore.Range{Prefix: adviceKey("")}) {
		if err != nil {
			return kept{}, err
		}
		id := strings.TrimPrefix(string(record.Key), string(adviceKey("")))
		a, err := readAdvice(record.Value, id)
		if err != nil {
			k.damaged[id] = statestore.DamagedRecord(record.Key, err)
			continue
		}
		k.open[id] = a
	}
	return k, nil
}

// changing are the jobs whose advice may have to change.
func (k kept) changing(verdicts []Verdict) (jobs []string) {
	live := map[string]bool{}
	for _, v := range verdicts {
		live[v.Job] = true
		a, opened := k.open[v.Job]
		if k.damaged[v.Job] == nil && v.wants(a, opened) {
			jobs = append(jobs, v.Job)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(k.open)) {
		if !live[id] {
			jobs = append(jobs, id)
		}
	}
	return jobs
}

// judged are the live agents of some items.
type judged struct {
	verdicts []Verdict
	last     string // item
	more     bool   // there may be others after it
	damage   *statestore.DamagedError
}

// judgePage judges the live agents of some items after one. An item that cannot be read ends the page.
func judgePage(r statestore.Reader, after string, t Thresholds) (page judged, err error) {
	items := 0
	for item, err := range job.Items(r, after) {
		if damaged := (*statestore.DamagedError)(nil); errors.As(err, &damaged) {
			page.last, page.more, page.damage = item.ID, true, damaged
			return page, nil
		}
		if err != nil {
			return judged{}, err
		}
		if items == sweepItems || len(page.verdicts) == sweepAgents {
			page.more = true
			return page, nil
		}
		items, page.last = items+1, item.ID
		if item.Live == "" {
			continue
		}
		s, err := lookAt(r, item.Live, t)
		if err != nil {
			return judged{}, err
		}
		page.verdicts = append(page.verdicts, s.Verdict)
	}
	return page, nil
}

// lookAt is Look at a job of which nothing was read yet. That its record is missing is damage too: there are others that name it.
func lookAt(r statestore.Reader, id string, t Thresholds) (Sight, error) {
	record, err := job.Get(r, id)
	damaged := (*statestore.DamagedError)(nil)
	if errors.Is(err, statestore.ErrNotFound) {
		damaged = &statestore.DamagedError{What: "job " + id, Err: err}
	}
	if damaged != nil || errors.As(err, &damaged) {
		return unreadable(job.Record{ID: id}, damaged), nil
	}
	if err != nil {
		return Sight{}, err
	}
	return Look(r, record, t)
}

// adviseNow judges jobs once more, in the transaction that keeps the advice. Advice on a job whose record cannot be read stays as it
// is: its events are there, and repairing brings it back.
func adviseNow(tx statestore.Tx, jobs []string, t Thresholds, found damages) (changed int, err error) {
	for _, id := range jobs {
		s, err := lookAt(tx, id, t)
		if err != nil {
			return changed, err
		}
		if found.add(s.Verdict.Damage); s.Verdict.Attempt == "" && s.Verdict.Damage != nil {
			continue
		}
		n, err := Advise(tx, s.Verdict)
		if err != nil {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}
