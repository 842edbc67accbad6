package wave

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"aesop/statestore"
	"aesop/statestore/lifecycle"
	"aesop/wave/journal"
)

// beatEvery is how often heartbeats of a wave's attempts are written, in one write: well within the time in which silence is nothing to speak of.
const beatEvery = lifecycle.DefaultQuiet / 5

// keepBeating writes heartbeats, and looks for agents of any wave that have stalled, until the returned function is called.
func (r *run) keepBeating() (stop func()) {
	done := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		tick := time.NewTicker(min(beatEvery, r.s.config.Lease/3))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if err := errors.Join(r.beat(), r.sweep()); err != nil {
					r.s.config.Logger.Warn("who is alive could not be written down", zap.String("wave", r.id), zap.Error(err))
				}
			}
		}
	})
	return func() { close(done); keeper.Wait() }
}

// beat says of the newest attempts of the wave's open items that somebody sees to them, and when they got on. Where an item waits, for people
// or for its turn, that is now: nothing is expected of its agent.
func (r *run) beat() error {
	var beats []lifecycle.Heartbeat
	for _, i := range r.journal.Wave().Select((*journal.ItemState).Open) {
		last := i.Last()
		if last == nil {
			continue
		}
		h := lifecycle.Heartbeat{Job: r.jobID(i.ID), Attempt: last.ID, PatienceMs: max(r.s.config.IdleTimeout, r.s.config.TestTimeout).Milliseconds()}
		if r.worksOn(i.ID) && !i.Built() {
			h.Progress = r.lastWords(i.ID)
		}
		beats = append(beats, h)
	}
	if len(beats) == 0 {
		return nil
	}
	ctx, cancel := r.bookkeeping()
	defer cancel()
	return r.s.config.Store.Update(ctx, func(tx statestore.Tx) error {
		for _, b := range beats {
			if b.Progress.IsZero() {
				b.Progress = tx.Now()
			}
			if err := lifecycle.Beat(tx, b); err != nil && !errors.Is(err, lifecycle.ErrNotRunning) {
				return err
			}
		}
		return nil
	})
}

// lastWords is when the agent or a test of an item last said something; zero where that is not known.
func (r *run) lastWords(item string) time.Time {
	log, err := os.Stat(filepath.Join(r.s.config.State, logName(r.id, item)))
	if err != nil {
		return time.Time{}
	}
	return log.ModTime()
}

// sweep keeps advice on agents of all waves that have stalled. What a configuration lets them be silent for is in their heartbeats.
func (r *run) sweep() error {
	ctx, cancel := r.bookkeeping()
	defer cancel()
	_, err := lifecycle.Sweep(ctx, r.s.config.Store, lifecycle.Thresholds{})
	return err
}
