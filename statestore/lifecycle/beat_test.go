package lifecycle_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/tracker"
)

// TestHeartbeatsReplaceOneRow and are no events.
func TestHeartbeatsReplaceOneRow(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		begin := f.now
		for range 5 {
			f.pass(time.Second)
			f.mustBeat("j", token, time.Time{})
		}
		h := f.beatOf("j")
		if h.Job != "j" || h.Attempt != tracker.AttemptID(token) || !h.First.Equal(begin.Add(time.Second)) || !h.At.Equal(f.now) {
			t.Errorf("the heartbeat is %+v", h)
		}
		rows := 0
		f.view(func(r statestore.Reader) error {
			for _, err := range r.Scan(statestore.Range{Prefix: "beat/"}) {
				if err != nil {
					return err
				}
				rows++
			}
			return nil
		})
		if rows != 1 || len(f.events("job/j")) != 2 || len(f.events("agent/j")) != 0 {
			t.Errorf("%d rows, events %v %v", rows, f.events("job/j"), f.events("agent/j"))
		}
	})
}

func TestAHeartbeatOfAnAttemptThatDoesNotRunIsRefused(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.applied(job.Create{ID: "j", Item: "i", Wave: "w1", Seat: "worker"})
		old := f.token()
		refused := func(when string) {
			t.Helper()
			if err := f.beat("j", old, time.Time{}); !errors.Is(err, lifecycle.ErrNotRunning) || !strings.Contains(err.Error(), "j") {
				t.Errorf("%s: error is %v", when, err)
			}
		}
		refused("nobody has claimed it")
		f.applied(job.Claim{ID: "j", Token: old})
		f.mustBeat("j", old, time.Time{})
		f.applied(job.Requeue{ID: "j", By: job.Operator{TransitionSeq: 2}})
		refused("it is queued")
		newer := f.claim("j")
		refused("another attempt runs")
		if h := f.beatOf("j"); h.Attempt != tracker.AttemptID(old) {
			t.Errorf("the row is of %s", h.Attempt)
		}
		f.pass(time.Minute)
		f.mustBeat("j", newer, time.Time{})
		if h := f.beatOf("j"); h.Attempt != tracker.AttemptID(newer) || !h.First.Equal(f.now) {
			t.Errorf("the next attempt's first heartbeat leaves %+v", h)
		}
		f.applied(job.Complete{ID: "j", By: job.Worker{Token: newer}})
		old = newer
		refused("it has ended")
		if err := f.beat("none", old, time.Time{}); !errors.Is(err, statestore.ErrNotFound) {
			t.Errorf("no such job: error is %v", err)
		}
	})
}

// TestProgressOfHeartbeatsNeverGoesBack, but a time from the future does not stay.
func TestProgressOfHeartbeatsNeverGoesBack(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		for _, step := range []struct{ given, want time.Duration }{
			{-time.Minute, -time.Minute}, {-2 * time.Minute, -time.Minute}, {time.Minute, time.Minute}, {time.Hour, time.Hour}, {-time.Second, -time.Second},
		} {
			f.mustBeat("j", token, f.now.Add(step.given))
			if h := f.beatOf("j"); !h.Progress.Equal(f.now.Add(step.want)) {
				t.Errorf("progress %s is kept as %s", step.given, h.Progress.Sub(f.now))
			}
		}
		f.mustBeat("j", token, time.Time{})
		if h := f.beatOf("j"); !h.Progress.Equal(f.now.Add(-time.Second)) {
			t.Errorf("without progress it is kept as %s", h.Progress)
		}
		f.applied(job.Requeue{ID: "j", By: job.Operator{TransitionSeq: 2}})
		f.mustBeat("j", f.claim("j"), time.Time{})
		if h := f.beatOf("j"); !h.Progress.IsZero() {
			t.Errorf("progress of another attempt is kept: %s", h.Progress)
		}
	})
}

func TestALongNoteIsCutBetweenCharacters(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		f.update(func(tx statestore.Tx) error {
			return lifecycle.Beat(tx, lifecycle.Heartbeat{Job: "j", Attempt: tracker.AttemptID(token), Note: "a" + strings.Repeat("é", lifecycle.MaxNote)})
		})
		if note := f.beatOf("j").Note; len(note) != lifecycle.MaxNote-1 || !utf8.ValidString(note) {
			t.Errorf("the note has %d bytes", len(note))
		}
	})
}

// TestAnUnreadableHeartbeatIsAnErrorAndIsReplaced by the next one.
func TestAnUnreadableHeartbeatIsAnErrorAndIsReplaced(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		for _, value := range []string{``, `{`, `{}`, `{"job":"k","attempt":"a","first":"2026-01-02T03:04:05Z","at":"2026-01-02T03:04:05Z"}`} {
			f.put("beat/j", value)
			err := f.store.View(t.Context(), func(r statestore.Reader) error { _, err := lifecycle.BeatOf(r, "j"); return err })
			if !isDamaged(err) || !strings.Contains(err.Error(), "beat/j") {
				t.Errorf("%q: error is %v", value, err)
			}
			f.mustBeat("j", token, time.Time{})
			if h := f.beatOf("j"); !h.At.Equal(f.now) {
				t.Errorf("%q stays: %+v", value, h)
			}
		}
		err := f.store.View(t.Context(), func(r statestore.Reader) error { _, err := lifecycle.BeatOf(r, "none"); return err })
		if !errors.Is(err, statestore.ErrNotFound) {
			t.Errorf("none: error is %v", err)
		}
	})
}
