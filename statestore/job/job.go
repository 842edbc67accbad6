// Package job is the transition boundary: the only writer of a job's status. What may happen is a table (Decide, pure); Apply
// carries a decision out in the caller's transaction.
//
// A job is one seat's work on one claim; each dispatch of it is an attempt with a token of its own.
package job

import (
	"encoding/json"
	"time"

	"aesop/cost"
)

// Status of a job.
type Status string

// The statuses. The last four are terminal.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	TimedOut  Status = "timed_out"
)

// Ended says whether the status is terminal.
func (s Status) Ended() bool {
	return s == Completed || s == Failed || s == Cancelled || s == TimedOut
}

// Live says whether the status keeps other jobs from the item.
func (s Status) Live() bool { return s == Pending || s == Running }

// Reservation is what is set aside for a running attempt. It is gone when the job runs no more.
type Reservation struct {
	Model  string      `json:"model,omitempty"` // that the attempt asks for; "" is not known
	Amount cost.Amount `json:"amount"`
}

// Report is the finalised report of an attempt, as whoever verified it found it.
type Report struct {
	Path   string `json:"path"` // absolute
	SHA256 string `json:"sha256"`
}

// Record is a job as stored. Its token is kept only as its attempt id.
type Record struct {
	ID            string          `json:"id"`
	Item          string          `json:"item"`
	Wave          string          `json:"wave"`
	Seat          string          `json:"seat"`           // worker, reviewer
	Type          string          `json:"type,omitempty"` // such as loop; "" is one piece of work
	Status        Status          `json:"status"`
	Reason        string          `json:"reason,omitempty"`        // of the newest transition
	Attempt       string          `json:"attempt,omitempty"`       // running or last; none while pending
	Iteration     int             `json:"iteration"`               // the loop's round, from 1; never the attempt's identity
	MaxIterations int             `json:"maxIterations,omitempty"` // after which it is not redispatched; 0: no bound
	Epoch         int             `json:"epoch"`                   // orders claims of the item
	TransitionSeq int             `json:"transitionSeq"`
	Deadline      time.Time       `json:"deadline,omitzero"`
	Final         bool            `json:"final,omitempty"`
	Explicit      bool            `json:"explicit,omitempty"`     // the terminal was asked for, not inferred
	AutoComplete  bool            `json:"autoComplete,omitempty"` // its end may be inferred
	Evidence      string          `json:"evidence,omitempty"`     // digest of what an inferred end was inferred from
	Report        *Report         `json:"report,omitempty"`       // of the attempt that ended
	Intent        string          `json:"intent,omitempty"`       // newest news of it that is still owed to a sink; "": none is
	Reserved      *Reservation    `json:"reserved,omitempty"`     // what the running attempt may still use; nil: nothing is set aside
	Progress      json.RawMessage `json:"progress,omitempty"`
	CreatedAt     time.Time       `json:"createdAt"`
	UpdatedAt     time.Time       `json:"updatedAt"`
}
