package wave

import (
	"context"
	"errors"
	"maps"
	"slices"

	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave/journal"
)

// Run finishes the waves that an earlier process left unfinished, and then runs one new wave. The Report counts also beside an
// error; it is the new wave's, or that of an old one that could not be finished because waves are halted.
func (s *Scheduler) Run(ctx context.Context) (Report, error) {
	told, err := s.notify(ctx)
	if err != nil {
		return failedReport("", s, err), s.clean(err)
	}
	defer told()
	report, err := s.run(ctx)
	return report, s.clean(err)
}

func (s *Scheduler) run(ctx context.Context) (Report, error) {
	old, err := s.resumeLeft(ctx)
	if err != nil {
		return failedReport("", s, err), err
	}
	if len(old) > 0 && stopped(old[len(old)-1].Outcome) {
		return old[len(old)-1], nil
	}
	next := begin{resumed: summaries(old), exclude: map[string]bool{}}
	var beaten *Report // the newest wave whose items others took, with the reason of each
	for {
		report, wave, err := s.runOne(ctx, next)
		switch {
		case err != nil || len(report.Items) > 0:
			return report, err
		case wave.Beaten:
			next.leave(report)
			beaten = &report
		case beaten != nil && report.Outcome == journal.NothingSelectable:
			return *beaten, nil
		default:
			return report, nil
		}
	}
}

// Drain runs waves until the backlog has nothing more to select, or a wave is stopped. Every wave starts from what the one
// before shipped. An item that ended without being counted against it is not taken again.
func (s *Scheduler) Drain(ctx context.Context) ([]Report, error) {
	told, err := s.notify(ctx)
	if err != nil {
		return nil, s.clean(err)
	}
	defer told()
	reports, err := s.drain(ctx)
	return reports, s.clean(err)
}

func (s *Scheduler) drain(ctx context.Context) ([]Report, error) {
	reports, err := s.resumeLeft(ctx)
	if err != nil || len(reports) > 0 && stopped(reports[len(reports)-1].Outcome) {
		return reports, err
	}
	next := begin{exclude: map[string]bool{}, from: map[string]string{}, over: map[string]string{}}
	for _, r := range reports { // what an earlier drain left is its first part
		next.resume(r)
	}
	for {
		report, wave, err := s.runOne(ctx, next)
		if len(reports) > 0 && err == nil && !wave.Beaten && (report.Outcome == journal.NothingToDo || report.Outcome == journal.NothingSelectable) {
			return reports, nil // the backlog is drained; an empty wave is no news
		}
		if err == nil && wave.Beaten && len(report.Items) == 0 {
			next.leave(report)
			continue
		}
		reports = append(reports, report)
		if err != nil || stopsDrain(report.Outcome) || len(report.Items) == 0 {
			return reports, err
		}
		for _, repository := range wave.In() {
			if repository.Shipped != nil {
				next.from[repository.Name] = repository.Shipped.Tip
			}
		}
		for _, item := range wave.Select(func(i *journal.ItemState) bool { return i.Commit == "" && (i.End == nil || !i.End.Counted) }) {
			next.exclude[item.ID] = true
		}
	}
}

// leave leaves to others what they were faster at, so that each further look has fewer items to want.
func (b *begin) leave(r Report) {
	for _, s := range r.Skipped {
		if s.Reason == string(tracker.Claimed) {
			b.exclude[s.ID] = true
		}
	}
}

// resume takes over what a resumed wave shipped, and which of its items are not to be taken again.
func (b *begin) resume(r Report) {
	for _, repo := range r.Repositories {
		if repo.Pushed {
			b.over[repo.Repo] = *repo.SHA
		}
	}
	for _, i := range r.Items {
		switch i.State {
		case journal.StateSetupFailed, journal.StateClaimLost, journal.StateCancelled, journal.StateShipFailed, journal.StateParked:
			b.exclude[i.ID] = true
		}
	}
}

// stopped says that somebody wants no wave to run now.
func stopped(o journal.Outcome) bool {
	switch o {
	case journal.Halted, journal.Ceiling, journal.Interrupted, journal.GateUnavailable:
		return true
	}
	return false
}

// stopsDrain says that after such a wave no other may begin.
func stopsDrain(o journal.Outcome) bool {
	return stopped(o) || o == journal.ErrorOutcome || o == journal.BaseRed || o == journal.ConflictOutcome
}

// begin says how a new wave starts.
type begin struct {
	from    map[string]string // commit to start from, by repository; none is the tip of the base branch
	over    map[string]string // commit to start from if the base has nothing that it lacks, by repository
	exclude map[string]bool   // items not to take
	resumed []journal.Resume

	manifest *Manifest // what to do; nil: what the backlog has
}

// runOne runs one new wave. The fold comes back beside the report where there is one.
func (s *Scheduler) runOne(ctx context.Context, b begin) (Report, *journal.Wave, error) {
	id, err := s.newWaveID()
	if err != nil {
		return failedReport("", s, err, b.resumed...), nil, err
	}
	release, err := s.take(id)
	if err != nil {
		return failedReport(id, s, err, b.resumed...), nil, err
	}
	defer release()
	st, end := s.newStopper(ctx)
	defer end()
	r := s.newRun(id, journal.Create(s.journalConfig(), id), st)
	report, err := r.first(b)
	return report, r.journal.Wave(), err
}

// first plans and carries out a new wave.
func (r *run) first(b begin) (Report, error) {
	if err := r.pass("claim", "", r.s.newWaveGates()...); err != nil {
		return r.nothingBegan(*stoppedBy(err), b)
	}
	chosen, err := r.s.choose(r.stop.ctx, r.id, b)
	if err != nil {
		return r.refused(err, b)
	}
	r.targets = chosen.targets
	if len(chosen.Items) > 0 {
		needed := map[string]bool{}
		for _, item := range chosen.Items {
			needed[item.Repository()] = true
		}
		if err := r.canWork(needed); err != nil {
			r.cleanBeside()
			return r.refused(err, b)
		}
	}
	claims, err := r.tokens(chosen.Items)
	if err != nil {
		return r.refused(err, b)
	}
	plan := r.s.planned(chosen, claims)
	plan.Resumed = b.resumed
	if len(chosen.Items) == 0 {
		var ends []journal.Event
		for _, name := range slices.Sorted(maps.Keys(chosen.targets.failed)) {
			ends = append(ends, r.failure(name, chosen.targets.failed[name]))
		}
		return r.closeEmpty(plan, append(ends, journal.Ended{Outcome: nothing(chosen.Selection)})...)
	}
	for _, t := range r.targets.open {
		if err := t.engine.Pin(r.stop.ctx, "refs/aesop/base/"+r.id, t.Base); err != nil {
			return r.refused(err, b)
		}
	}
	if err := r.record(plan); err != nil {
		return r.refused(err, b)
	}
	return r.close(r.work(chosen.Items))
}

// work takes the planned items and runs the wave.
func (r *run) work(items []tracker.Item) error {
	if err := r.leaveFailed(); err != nil {
		return err
	}
	if err := r.testBases(); err != nil {
		return err
	}
	open := r.journal.Wave()
	if err := r.claim(slices.DeleteFunc(slices.Clone(items), func(i tracker.Item) bool { return !open.Items[i.ID].Open() })); err != nil {
		return err
	}
	defer r.keepClaims()()
	defer r.keepBeating()()
	return r.finish()
}

// nothingBegan ends a wave that a gate stopped before it was planned.
func (r *run) nothingBegan(stopped journal.Stopped, b begin) (Report, error) {
	info := r.s.config.Driver.Info()
	plan := journal.Planned{Driver: info.Name, Tier: info.EffectiveTier(), Resumed: b.resumed, Place: r.s.place}
	return r.closeEmpty(plan, stopped, journal.Ended{Outcome: stopped.Outcome})
}

// closeEmpty writes down a wave without items.
func (r *run) closeEmpty(plan journal.Planned, ends ...journal.Event) (Report, error) {
	if err := r.record(append([]journal.Event{plan}, ends...)...); err != nil {
		return r.broken(err)
	}
	report := NewReport(r.journal.Wave())
	if err := r.writeReport(report); err != nil {
		return report, err
	}
	ctx, cancel := r.bookkeeping()
	defer cancel()
	return report, r.journal.Close(ctx)
}

// refused reports a wave that could not be planned. Nothing is stored of it.
func (r *run) refused(err error, b begin) (Report, error) {
	if stopped := r.stopCause(err); stopped != nil {
		return r.nothingBegan(*stopped, b)
	}
	return failedReport(r.id, r.s, err, b.resumed...), err
}

func summaries(reports []Report) []journal.Resume {
	var rows []journal.Resume
	for _, r := range reports {
		row := journal.Resume{Wave: r.Wave, Outcome: r.Outcome, Shipped: []string{}}
		for _, repo := range r.Repositories {
			if repo.Branch != nil {
				row.Branch = *repo.Branch
			}
		}
		for _, i := range r.Items {
			if i.State == journal.StateShipped {
				row.Shipped = append(row.Shipped, i.ID)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// notFound says that a wave is not in the store.
func notFound(err error) bool { return errors.Is(err, statestore.ErrNotFound) }
