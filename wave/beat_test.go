package wave_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/lifecycle"
	"aesop/statestore/sqlite"
	"aesop/wave"
	"aesop/wave/journal"
)

// until waits for what a store has, as long as ctx allows.
func until(ctx context.Context, store statestore.Store, has func(statestore.Reader) (bool, error)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		done := false
		err := store.View(ctx, func(r statestore.Reader) (err error) { done, err = has(r); return err })
		if done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestAnAgentThatSaysNothingForLongIsStalled though the wave beats for it: being alive is no progress. Once it has finished it is not.
func TestAnAgentThatSaysNothingForLongIsStalled(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store, ahead := w.aheadStore()
	var seen []lifecycle.State
	look := func(ctx context.Context, job string, want lifecycle.State) error {
		seen = append(seen, want)
		return until(ctx, store, func(r statestore.Reader) (bool, error) {
			now, err := lifecycle.Of(r, job)
			return now.State == want, err
		})
	}
	d := &agent{work: func(ctx context.Context, t driver.Task) (driver.Result, error) {
		job := wave.JobID(t.Wave, t.Item)
		if err := look(ctx, job, lifecycle.Working); err != nil {
			return driver.Result{}, err
		}
		ahead.Store(int64(time.Hour))
		if err := look(ctx, job, lifecycle.Stalled); err != nil {
			return driver.Result{}, err
		}
		return driver.Result{}, put(t, "a.txt", "good\n")
	}}
	report := w.runOn(store, with(d), func(c *wave.Config) { c.Lease = 300 * time.Millisecond })
	i := wantState(t, report, "a", journal.StateShipped)
	if len(seen) != 2 {
		t.Fatalf("it saw %v", seen)
	}
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		job := wave.JobID(report.Wave, "a")
		now, err := lifecycle.Of(r, job)
		if err != nil {
			return err
		}
		var states []lifecycle.State
		for _, step := range now.History {
			states = append(states, step.State)
		}
		if n := len(states) - 2; states[n] == lifecycle.Working { // while the item waited to ship
			states = slices.Delete(states, n, n+1)
		}
		want := []lifecycle.State{lifecycle.Queued, lifecycle.Dispatched, lifecycle.Working, lifecycle.Stalled, lifecycle.Done}
		if now.State != lifecycle.Done || now.Attempt != i.Attempts[0].Attempt || !slices.Equal(slices.Compact(states), want) {
			t.Errorf("the agent is %s, its history %v", now.State, states)
		}
		return nil
	}))
}

// aheadStore is a store whose clock goes as far ahead as a test says.
func (w *world) aheadStore() (store statestore.Store, ahead *atomic.Int64) {
	w.t.Helper()
	ahead = new(atomic.Int64)
	inner, err := sqlite.Open(w.t.Context(), sqlite.Config{Path: filepath.Join(w.dir, "far.db"), Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, inner.Close()) })
	return watched{inner, w.t}, ahead
}

// TestAnItemThatWaitsForPeopleIsNotStalled, however long they take, and whichever process waits for them: of its agent nothing is expected.
func TestAnItemThatWaitsForPeopleIsNotStalled(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		t.Run(fmt.Sprintf("resumed %t", resumed), func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			store, ahead := w.aheadStore()
			slowly := func(ctx context.Context, c wave.Change) (wave.Judgement, error) {
				ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
				defer cancel()
				var err error
				for range 8 { // no leap is so long that a heartbeat from before it would be too old
					from := time.Now().Add(time.Duration(ahead.Add(int64(9 * time.Minute))))
					err = errors.Join(err, until(ctx, store, func(r statestore.Reader) (bool, error) {
						beat, err := lifecycle.BeatOf(r, wave.JobID(c.Wave, c.Item.ID))
						if errors.Is(err, statestore.ErrNotFound) {
							return false, nil
						}
						return beat.At.After(from), err
					}))
				}
				return wave.Judgement{OK: true}, err
			}
			quick := func(c *wave.Config) { c.Lease = 300 * time.Millisecond }
			asking := func(c *wave.Config) { c.Approver = &panel{answer: slowly} }
			var reports []wave.Report
			if resumed {
				h := &haltAt{t: t, halt: wave.Halt{Dir: w.state}, event: "asked"}
				waits := &panel{answer: func(ctx context.Context, _ wave.Change) (wave.Judgement, error) {
					<-ctx.Done()
					return wave.Judgement{}, ctx.Err()
				}}
				stopped, err := w.schedulerOn(store, func(c *wave.Config) { c.Observers, c.Approver = []wave.Observer{h}, waits }).Run(t.Context())
				must(t, err)
				wantOutcome(t, stopped, journal.Halted)
				must(t, h.halt.Clear())
				reports, err = w.schedulerOn(store, quick, asking).Resume(t.Context(), "")
				must(t, err)
			} else {
				reports = []wave.Report{w.runOn(store, quick, asking)}
			}
			wantState(t, reports[0], "a", journal.StateShipped)
			must(t, store.View(t.Context(), func(r statestore.Reader) error {
				now, err := lifecycle.Of(r, wave.JobID(reports[0].Wave, "a"))
				for _, step := range now.History {
					if step.State == lifecycle.Stalled {
						t.Errorf("it was stalled: %s", step.Reason)
					}
				}
				return err
			}))
		})
	}
}

// TestHowLongAnAgentMayBeSilentIsItsOwnWavesToSay: a sweep of another one, which lets its agents be silent for less, does not call it stalled, and
// so they do not tell the opposite of each other for ever. That nobody sees to it any more is seen as soon as of any other.
func TestHowLongAnAgentMayBeSilentIsItsOwnWavesToSay(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store, ahead := w.aheadStore()
	sweep := func(ctx context.Context, want lifecycle.Level) error {
		swept, err := lifecycle.Sweep(ctx, store, lifecycle.Thresholds{})
		if err == nil && (len(swept.Verdicts) != 1 || swept.Verdicts[0].Level != want) {
			t.Errorf("a sweep says %+v, want %s", swept.Verdicts, want)
		}
		return err
	}
	d := &agent{work: func(ctx context.Context, task driver.Task) (driver.Result, error) {
		job := wave.JobID(task.Wave, task.Item)
		beaten := func(from time.Time) error {
			return until(ctx, store, func(r statestore.Reader) (bool, error) {
				beat, err := lifecycle.BeatOf(r, job)
				if errors.Is(err, statestore.ErrNotFound) {
					return false, nil
				}
				return beat.At.After(from), err
			})
		}
		if err := beaten(time.Time{}); err != nil {
			return driver.Result{}, err
		}
		ahead.Store(int64(time.Hour))
		if err := beaten(time.Now().Add(time.Hour)); err != nil {
			return driver.Result{}, err
		}
		return driver.Result{}, errors.Join(sweep(ctx, lifecycle.OK), put(task, "a.txt", "good\n"))
	}}
	h := &haltAt{t: t, halt: wave.Halt{Dir: w.state}, event: "attempt_ended"}
	report, err := w.schedulerOn(store, with(d), func(c *wave.Config) {
		c.Lease, c.IdleTimeout, c.Observers = 300*time.Millisecond, 5*time.Hour, []wave.Observer{h}
	}).Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Halted)
	ahead.Store(int64(2 * time.Hour)) // and its process sees to nothing any more
	must(t, sweep(t.Context(), lifecycle.Dead))
}
