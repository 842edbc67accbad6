package wave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"aesop/driver/process"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave/journal"
)

// Resume carries waves that are not finished to their end: the one named id, or all whose process is dead where id is "". It
// returns a report for each. *AliveError where the named wave is running, or where nothing is unfinished but what is running.
func (s *Scheduler) Resume(ctx context.Context, id string) ([]Report, error) {
	told, err := s.notify(ctx)
	if err != nil {
		return nil, s.clean(err)
	}
	defer told()
	reports, err := s.resume(ctx, id)
	return reports, s.clean(err)
}

func (s *Scheduler) resume(ctx context.Context, id string) ([]Report, error) {
	ids, err := s.unfinished(ctx)
	if err != nil {
		return nil, err
	}
	if id != "" {
		if !slices.Contains(ids, id) {
			return nil, s.knownWave(ctx, id)
		}
		ids = []string{id}
	}
	reports, alive, faults := s.resumeAll(ctx, ids)
	if len(faults) == 0 && len(reports) == 0 && alive != nil {
		return nil, alive
	}
	return reports, errors.Join(faults...)
}

// resumeAll resumes waves in turn, until one is stopped. Those that are alive are left to their process; alive is the last of them.
// One that cannot be taken up does not keep the others.
func (s *Scheduler) resumeAll(ctx context.Context, ids []string) (reports []Report, alive *AliveError, faults []error) {
	for _, open := range ids {
		report, err := s.resumeOne(ctx, open)
		if lives, ok := errors.AsType[*AliveError](err); ok {
			alive = lives
			continue
		}
		if errors.Is(err, errFinished) {
			continue
		}
		if report.Wave != "" {
			reports = append(reports, report)
		}
		if err != nil {
			faults = append(faults, err)
		}
		if stopped(report.Outcome) {
			break
		}
	}
	return reports, alive, faults
}

// resumeLeft resumes what dead processes of this place left, before something new begins. Of a wave that cannot be taken up the
// report says so; it is no reason against new ones.
func (s *Scheduler) resumeLeft(ctx context.Context) ([]Report, error) {
	ids, err := s.unfinished(ctx)
	if err != nil {
		return nil, err
	}
	reports, _, _ := s.resumeAll(ctx, ids)
	return reports, nil
}

func (s *Scheduler) unfinished(ctx context.Context) (ids []string, err error) {
	err = s.config.Store.View(ctx, func(r statestore.Reader) error {
		ids, err = journal.Open(r, s.place)
		return err
	})
	return ids, err
}

// UnknownWaveError says that a state has no wave of that name.
type UnknownWaveError struct{ Wave string }

func (e *UnknownWaveError) Error() string {
	return fmt.Sprintf("there is no wave %q in this state", e.Wave)
}

func (s *Scheduler) knownWave(ctx context.Context, id string) error {
	_, err := s.load(ctx, id)
	return err
}

func (s *Scheduler) load(ctx context.Context, id string) (*journal.Journal, error) {
	j, err := journal.Load(ctx, s.journalConfig(), id)
	if notFound(err) {
		return nil, &UnknownWaveError{Wave: id}
	}
	return j, err
}

// errFinished says that somebody else finished the wave between the look and the lock.
var errFinished = errors.New("the wave is finished")

func (s *Scheduler) resumeOne(ctx context.Context, id string) (Report, error) {
	release, err := s.take(id)
	if err != nil {
		return Report{}, err
	}
	defer release()
	if ids, err := s.unfinished(ctx); err != nil || !slices.Contains(ids, id) {
		return Report{}, errors.Join(err, errFinished)
	}
	j, err := s.load(ctx, id)
	if err != nil {
		return failedReport(id, s, err), err
	}
	st, end := s.newStopper(ctx)
	defer end()
	r := s.newRun(id, j, st)
	// Holding the lock proves the old process dead; now its children must be, before anything is done again.
	survivors, err := s.endProcesses(st.ctx, id)
	if err != nil {
		return r.broken(err)
	}
	if wave := j.Wave(); wave.End != nil && len(wave.Unfinished()) == 0 {
		return r.closeAgain()
	}
	info := s.config.Driver.Info()
	over := journal.TakenOver{Driver: info.Name, Tier: info.EffectiveTier(), Review: s.config.Reviewer != nil, Approve: s.config.Approver != nil, Survivors: survivors}
	if err := r.record(over); err != nil {
		return r.broken(err)
	}
	if err := r.pass("claim", ""); err != nil {
		return r.close(err)
	}
	return r.close(r.takeUp())
}

// endLimit bounds how long the processes of a dead wave are waited for. One that hangs in the kernel is reported instead.
const endLimit = 30 * time.Second

// endProcesses kills what a dead wave left running, and names what survived it.
func (s *Scheduler) endProcesses(ctx context.Context, id string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	left, err := process.Kill(ctx, func(mark string) bool { return strings.HasPrefix(mark, s.mark(id, "")) })
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, fmt.Errorf("end what the wave left running: %w", err)
	}
	return process.Names(left), nil
}

// closeAgain finishes a wave that ended, and whose process died before that was written everywhere.
func (r *run) closeAgain() (Report, error) {
	report := NewReport(r.journal.Wave())
	if err := r.writeReport(report); err != nil {
		return report, err
	}
	r.cleanUp()
	ctx, cancel := r.bookkeeping()
	defer cancel()
	return report, r.journal.Close(ctx)
}

// takeUp goes on with a wave from where its journal ends.
func (r *run) takeUp() (err error) {
	wave := r.journal.Wave()
	if r.targets, err = r.reopen(wave); err != nil {
		return err
	}
	if err := r.noteFailed(); err != nil {
		return err
	}
	// Before anything else is decided, or can fail, the remotes are asked what became of a push: they may hold what the items' rows now deny.
	if err := r.eachRepository(r.recoverPush); err != nil {
		return err
	}
	if err := r.readyAgain(); err != nil {
		return err
	}
	if err := r.abandonAttempts(wave); err != nil {
		return err
	}
	if err := r.chargeLeft(); err != nil {
		return err
	}
	backlog, err := r.s.config.Tracker.Backlog(r.stop.ctx)
	if err != nil {
		return err
	}
	if err := r.testBases(); err != nil {
		return err
	}
	wants, err := r.reclaims(backlog)
	if err != nil {
		return err
	}
	if err := r.reclaim(wants); err != nil {
		return err
	}
	defer r.keepClaims()()
	defer r.keepBeating()()
	return r.finish()
}

// readyAgain sees to it that agents and tests can work, where something is left for them.
func (r *run) readyAgain() error {
	needed := map[string]bool{}
	for _, item := range r.journal.Wave().Select((*journal.ItemState).Open) {
		needed[item.Repo] = true
	}
	if len(needed) == 0 {
		return nil
	}
	if err := r.canWork(needed); err != nil {
		return err
	}
	return r.noteFailed()
}

// noteFailed writes down which repositories cannot be worked on now.
func (r *run) noteFailed() error {
	for name, cause := range r.targets.failed {
		if r.journal.Wave().Repositories[name].Failed != nil {
			continue
		}
		if err := r.repositoryFailed(name, cause); err != nil {
			return err
		}
	}
	return nil
}

// reopen opens the repositories of a wave as it was planned.
func (r *run) reopen(wave *journal.Wave) (*targets, error) {
	var places []place
	for _, repository := range wave.Plan.Repositories {
		if repository.Remote == "" {
			continue // it could not be opened when the wave was planned, so no item of it is in the wave
		}
		places = append(places, place{repository.Name, repository.Path})
	}
	all, err := r.s.openAll(r.stop.ctx, r.id, places, func(name string) origin {
		planned := wave.Repositories[name]
		return origin{remote: planned.Origin, branch: planned.Branch, commit: planned.Base, guarded: planned.Guarded}
	})
	if err != nil {
		return nil, err
	}
	for name, t := range all.open {
		planned := wave.Repositories[name].Repository
		if t.Remote != planned.Remote {
			return nil, &SetupError{Code: "no_remote", Message: fmt.Sprintf("wave %s ships to %s, and this configuration to %s", r.id, planned.Remote, t.Remote),
				Hint: "resume it with the configuration that it was started with"}
		}
		planned.Dirty, planned.Guarded = t.Dirty, t.Guarded
		if t.Repository, err = r.s.verbatim(planned, t.Repository); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// abandonAttempts writes down that attempts which were running have ended with their process.
func (r *run) abandonAttempts(wave *journal.Wave) error {
	for _, item := range wave.Select((*journal.ItemState).Open) {
		last := item.Last()
		if last == nil || last.Ended != nil {
			continue
		}
		end := journal.AttemptEnded{Item: item.ID, Attempt: last.ID, Outcome: journal.OutcomeCancelled, Reason: abandoned}
		if dir := r.agentDir(item.ID, last.Round, last.ID); exists(dir) {
			end.Parked = r.below(dir)
		}
		if err := r.endAbandoned(item.ID, last, end); err != nil {
			return err
		}
		if died := 1 + deaths(item); died >= maxDeaths {
			if err := r.end(item.ID, journal.StateDriverFailed, fmt.Sprintf("the engine died %d times while its agent worked", died), true, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	abandoned = "the process that ran it died"
	// maxDeaths is how often the engine may die under an item's agent in a wave before that is held against the item.
	maxDeaths = 3
)

// deaths counts the attempts under which the engine died.
func deaths(item *journal.ItemState) int {
	n := 0
	for _, a := range item.Attempts {
		if a.Ended != nil && a.Ended.Reason == abandoned {
			n++
		}
	}
	return n
}

// reclaims decides, for every item that is not settled, whether its claim can be taken over. What people did to an item
// meanwhile is respected.
func (r *run) reclaims(backlog tracker.Backlog) ([]tracker.Want, error) {
	now := map[string]tracker.Item{}
	for _, item := range backlog.Items {
		now[item.ID] = item
	}
	var wants []tracker.Want
	wave := r.journal.Wave()
	for _, item := range wave.Select(func(i *journal.ItemState) bool { return !i.Settled }) {
		current, exists := now[item.ID]
		r.items[item.ID] = current
		ours := current.Claim != nil && current.Claim.Wave == r.id
		switch {
		case item.Open() && (!exists || current.Fingerprint() != item.Fingerprint):
			if err := r.end(item.ID, journal.StateCancelled, "the item was changed or removed while the wave was parked", false, nil); err != nil {
				return nil, err
			}
			if !ours {
				continue
			}
		case item.Open() && !ours && (current.Status != tracker.Todo || wave.Pushing(item.ID)):
			// Also where it is free: with a push that may land, a fresh claim could turn an old push into a new shipment.
			if err := r.end(item.ID, journal.StateClaimLost, claimGone, false, nil); err != nil {
				return nil, err
			}
			continue
		case !item.Open() && !ours: // settled, as far as it can be
			if err := r.record(journal.Settled{Items: []string{item.ID}}); err != nil {
				return nil, err
			}
			continue
		}
		want := tracker.Want{ID: item.ID}
		if ours {
			want.Reclaim = current.Claim.Attempt
		}
		var err error
		if want.Token, err = r.s.newToken(); err != nil {
			return nil, err
		}
		wants = append(wants, want)
	}
	return wants, nil
}

// reclaim takes the claims over under new tokens.
func (r *run) reclaim(wants []tracker.Want) error {
	claims, recorded := map[string]string{}, map[string]string{}
	for _, want := range wants {
		err := r.recordWith(func(tx statestore.Tx) (err error) {
			want.MinEpoch, err = r.createJob(tx, want.ID)
			return err
		})
		if _, no := errors.AsType[*jobError](err); no {
			if err := r.end(want.ID, journal.StateClaimLost, err.Error(), false, nil); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		got, err := r.s.config.Tracker.Claim(r.stop.ctx, r.holder(), r.s.config.Lease, want)
		if _, conflict := errors.AsType[*tracker.ConflictError](err); conflict {
			if err := r.end(want.ID, journal.StateClaimLost, err.Error(), false, nil); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		fail("tracker_claim")
		r.claims[want.ID] = got[0]
		claims[want.ID] = got[0].Attempt
		if got[0].Shipped != nil {
			recorded[want.ID] = got[0].Shipped.Commit
		}
	}
	return r.record(journal.Resumed{Claims: claims, Recorded: recorded, Guarded: r.guarded()})
}
