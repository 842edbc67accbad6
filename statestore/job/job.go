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

// Record is a job as stored. Its token is kept only as its attempt id.
type Record struct {
	ID            string          `json:"id"`
	Item          string          `json:"item"`
	Wave          string          `json:"wave"`
	Seat          string          `json:"seat"` // worker, reviewer
	Status        Status          `json:"status"`
	Reason        string          `json:"reason,omitempty"`  // of the newest transition
	Attempt       string          `json:"attempt,omitempty"` // running or last; none while pending
	Iteration     int             `json:"iteration"`         // the loop's round, from 1; never the attempt's identity
	Epoch         int             `json:"epoch"`             // orders claims of the item
	TransitionSeq int             `json:"transitionSeq"`
	Deadline      time.Time       `json:"deadline,omitzero"`
	Final         bool            `json:"final,omitempty"`
	Explicit      bool            `json:"explicit,omitempty"` // the terminal was asked for, not inferred
	Reserved      *Reservation    `json:"reserved,omitempty"` // what the running attempt may still use; nil: nothing is set aside
	Progress      json.RawMessage `json:"progress,omitempty"`
	CreatedAt     time.Time       `json:"createdAt"`
	UpdatedAt     time.Time       `json:"updatedAt"`
}
