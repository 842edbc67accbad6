// Package lifecycle says what each agent is doing, and which of them have stopped doing anything.
//
// An agent is whoever works on a job. Its states are a fold of what is stored already: the events of the job, its
// heartbeat, and the advice that a sweep opened because nothing was heard of it. Nobody sets a state.
//
// Whoever runs an agent sends heartbeats, which replace one row. A Sweep judges all live agents, from their state,
// heartbeat and progress together, and keeps advice of those that have stalled:
//
//	err := store.Update(ctx, func(tx statestore.Tx) error {
//		return lifecycle.Beat(tx, lifecycle.Heartbeat{Job: id, Attempt: attempt, Progress: newestOutput})
//	})
//	…
//	swept, err := lifecycle.Sweep(ctx, store, lifecycle.Thresholds{})
package lifecycle

import (
	"time"

	"aesop/statestore"
)

// Where things are kept:
//
//	beat/JOB     the Heartbeat of the newest attempt that sent one
//	advice/JOB   the Advice that is open
//
// and in the stream agent/JOB when advice was opened and closed. Job ids may have slashes.

// Stream is the stream of the advice on a job's agent.
func Stream(job string) string { return "agent/" + job }

func beatKey(job string) statestore.Key   { return statestore.Key("beat/" + job) }
func adviceKey(job string) statestore.Key { return statestore.Key("advice/" + job) }

// State of an agent.
type State string

// The states. The last four are those of jobs that have ended.
const (
	Queued     State = "queued"     // nobody has claimed the job
	Dispatched State = "dispatched" // claimed, and nothing was heard of the attempt yet
	Working    State = "working"    // a heartbeat or progress of the attempt came
	Stalled    State = "stalled"    // there is open advice on the attempt
	Done       State = "done"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
	TimedOut   State = "timed_out"
)

// Ended says whether the state is one of a job that has ended.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled || s == TimedOut }

// Agent is what is known of the agent of a job.
type Agent struct {
	Job       string    `json:"job"`
	Item      string    `json:"item"`
	Wave      string    `json:"wave"`
	Seat      string    `json:"seat"`
	Type      string    `json:"type,omitempty"`
	State     State     `json:"state"`
	Since     time.Time `json:"since"`             // of the newest step
	Attempt   string    `json:"attempt,omitempty"` // running or last; none while queued
	Iteration int       `json:"iteration"`
	Final     bool      `json:"final,omitempty"`   // it has ended for good
	Claimed   time.Time `json:"claimed,omitzero"`  // when the running attempt was
	Progress  time.Time `json:"progress,omitzero"` // when the running attempt last made progress that is an event of the job
	History   []Step    `json:"history,omitempty"` // oldest first
}

// Step is an entry of an agent's history: it came to a state, or was once more told to be in it, as by finalize.
type Step struct {
	State     State          `json:"state"`
	At        time.Time      `json:"at"`
	Attempt   string         `json:"attempt,omitempty"`
	Iteration int            `json:"iteration"`
	Reason    string         `json:"reason,omitempty"`
	Seq       statestore.Seq `json:"seq,omitempty"` // of the event; 0: a heartbeat told it
}
