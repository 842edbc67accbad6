package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"aesop/statestore"
	"aesop/statestore/job"
)

// ErrNotRunning is wrapped by the error of a heartbeat of an attempt that does not run: it has ended, or another one
// runs. Whoever sent it is not wanted any more.
var ErrNotRunning = errors.New("attempt is not running")

// MaxNote is how many bytes of a note are kept.
const MaxNote = 500

// Heartbeat says that an attempt is alive. There is one row for each job, which the next heartbeat replaces; it is no
// event. The row stays when the attempt ends, and goes with the first heartbeat of the next one.
//
// The first heartbeat of an attempt makes its agent Working. That is told by the row alone: what is not beaten any more
// is history only where an event of the job tells it too.
type Heartbeat struct {
	Job     string `json:"job"`
	Attempt string `json:"attempt"` // its id, as in job.Record
	// Progress is when the agent last showed that it gets on: output, a file that changed. Being alive is no progress.
	// Zero: it is as the heartbeat before said.
	Progress time.Time `json:"progress,omitzero"`
	// PatienceMs is for how many milliseconds the agent may be without progress, where whoever judges it would allow it less: who started it
	// knows.
	PatienceMs int64  `json:"patienceMs,omitzero"`
	Note       string `json:"note,omitempty"` // for people; at most MaxNote bytes are kept, without secrets

	First time.Time `json:"first"` // heartbeat of the attempt, by the store's clock; Beat fills it in
	At    time.Time `json:"at"`    // of this one, by the store's clock; Beat fills it in
}

// Beat keeps a heartbeat in place of the one before. It is refused with ErrNotRunning where the attempt is not the job's
// running one.
func Beat(tx statestore.Tx, h Heartbeat) error {
	record, err := job.Get(tx, h.Job)
	if err != nil {
		return fmt.Errorf("heartbeat of %s: %w", h.Job, err)
	}
	if record.Status != job.Running || record.Attempt != h.Attempt {
		return fmt.Errorf("heartbeat of %s: %s: %w", h.Job, h.Attempt, ErrNotRunning)
	}
	h.First, h.At = tx.Now(), tx.Now()
	h.Progress, h.Note = h.Progress.UTC(), cut(h.Note)
	before, err := BeatOf(tx, h.Job)
	damaged := (*statestore.DamagedError)(nil)
	switch {
	case errors.Is(err, statestore.ErrNotFound), errors.As(err, &damaged): // a row that cannot be read says nothing worth keeping
	case err != nil:
		return err
	case before.Attempt == h.Attempt:
		h.First = before.First
		if before.Progress.After(h.Progress) && !future(before.Progress, h.At) {
			h.Progress = before.Progress
		}
	}
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("heartbeat of %s: %w", h.Job, err)
	}
	_, err = tx.Put(beatKey(h.Job), data, statestore.Any)
	return err
}

// cut is the beginning of a note.
func cut(note string) string {
	if len(note) <= MaxNote {
		return note
	}
	end := MaxNote
	for end > 0 && !utf8.RuneStart(note[end]) {
		end--
	}
	return note[:end]
}

// BeatOf is the newest heartbeat of a job, of its running attempt or an earlier one. The error is statestore.ErrNotFound
// where there is none, and a *statestore.DamagedError where it cannot be read.
func BeatOf(r statestore.Reader, job string) (Heartbeat, error) {
	var h Heartbeat
	record, err := r.Get(beatKey(job))
	if err != nil {
		return h, fmt.Errorf("heartbeat of %s: %w", job, err)
	}
	err = json.Unmarshal(record.Value, &h)
	if err == nil && (h.Job != job || h.Attempt == "" || h.At.IsZero() || h.First.IsZero()) {
		err = errors.New("it is not a heartbeat of that job")
	}
	if err != nil {
		return Heartbeat{}, statestore.DamagedRecord(record.Key, err)
	}
	return h, nil
}
