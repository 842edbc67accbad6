package job

import (
	"encoding/json"
	"time"

	"aesop/statestore"
)

// Request is what may be asked of a job: Create, Claim, Reserve, Progress, Complete, Fail, Cancel, Infer, Timeout, Requeue, Redispatch,
// Finalize or Settle. None of them has a status to set; the table has.
type Request interface {
	ask() ask
}

// Authority is what a request is allowed by: Worker, Operator, Engine, Gate or Notifier. It proves by knowing something, not by a name.
type Authority interface {
	authority() authority
}

// Worker is whoever holds the token of the attempt.
type Worker struct {
	Token string
}

// Operator is whoever can open the state. TransitionSeq is that of the record on which it decided.
type Operator struct {
	TransitionSeq int
}

// Engine is the orchestrator itself. Timeout and Requeue compare the Attempt that it judged, Redispatch the TransitionSeq.
type Engine struct {
	Attempt       string
	TransitionSeq int
}

// Gate is what infers that an attempt is complete though nobody said so. It needs three yeses that do not depend on each other: its own
// two, and the AutoComplete of the job.
type Gate struct {
	Attempt   string // that was judged
	Enabled   bool   // inference is switched on at all
	Quiescent bool   // the backend is one whose idleness was observed to mean that the agent has ended
	Evidence  string // digest of what was judged
}

// Notifier sends news of jobs. Intent is the id of what it sent.
type Notifier struct {
	Intent string
}

// authority is any Authority in one form.
type authority struct {
	role    role
	token   string
	attempt string
	seq     int
	gate    Gate
	intent  string
}

type role string

const (
	worker   role = "worker"
	operator role = "operator"
	engine   role = "engine"
	gate     role = "gate"
	notifier role = "notifier"
)

func (w Worker) authority() authority   { return authority{role: worker, token: w.Token} }
func (o Operator) authority() authority { return authority{role: operator, seq: o.TransitionSeq} }
func (e Engine) authority() authority {
	return authority{role: engine, attempt: e.Attempt, seq: e.TransitionSeq}
}
func (g Gate) authority() authority     { return authority{role: gate, attempt: g.Attempt, gate: g} }
func (n Notifier) authority() authority { return authority{role: notifier, intent: n.Intent} }

// Create makes a job of an item, pending in its first iteration. Its epoch is the greater of MinEpoch and the one after the
// newest of the item. An item has at most one job that is pending or running.
type Create struct {
	ID, Item, Wave, Seat string
	MinEpoch             int
	Type                 string          // such as loop
	MaxIterations        int             // 0: no bound
	AutoComplete         bool            // its end may be inferred
	Fields               json.RawMessage // an object that Progress begins with; nil: an empty one
}

// Claim starts an attempt with a new token from tracker.NewToken. Only its attempt id is kept.
type Claim struct {
	ID       string
	Token    string
	Deadline time.Time // when Timeout may end the attempt; zero: never
	Reserve  Purse     // nil: nothing is reserved
}

// Purse says, in the transaction that reserves it, how much an attempt may use. It sees the job as it is before the request.
type Purse interface {
	// Grant returns what to reserve, nil for nothing, or an error that is cost.ErrCeiling where there is no room, which refuses the request.
	// Any other error is one of the store.
	Grant(r statestore.Reader, job Record) (*Reservation, error)
}

// Reserve changes what a running attempt has reserved, by a Worker or an Operator: to what a Purse grants, or to nothing.
type Reserve struct {
	ID       string
	By       Authority
	Reserve  Purse     // nil: nothing is reserved any more
	Deadline time.Time // of the attempt from now on; zero: as it was
}

// Progress merges the members of a JSON object into those that the job has, and notes a report that the attempt has finalised. The names
// of Record's own fields are refused.
type Progress struct {
	ID     string
	By     Worker
	Fields json.RawMessage // nil: none, where there is a Report
	Report *Report         // nil: as it was
}

// Complete ends a job well, by a Worker or an Operator.
type Complete struct {
	ID     string
	By     Authority
	Reason string
	Report *Report // nil: that of the attempt's Progress, if there is one
}

// Fail ends a job badly, by a Worker or an Operator.
type Fail struct {
	ID     string
	By     Authority
	Reason string
	Report *Report // nil: that of the attempt's Progress, if there is one
}

// Cancel ends a job that is not wanted any more, by a Worker or an Operator. A pending one has no worker.
type Cancel struct {
	ID     string
	By     Authority
	Reason string
}

// Infer ends a job well, though nobody said that it is complete. Whoever holds the token, or an Operator, may still say otherwise.
type Infer struct {
	ID     string
	By     Gate
	Reason string
	Report *Report // nil: that of the attempt's Progress, if there is one
}

// Timeout ends an attempt whose deadline has passed.
type Timeout struct {
	ID string
	By Engine
}

// Requeue gives up a running attempt and makes its job pending again, by an Operator, or by the Engine when the lease lapsed.
type Requeue struct {
	ID     string
	By     Authority
	Reason string
}

// Redispatch makes an ended job pending again for its next iteration, by an Operator, or by the Engine for a repair.
type Redispatch struct {
	ID        string
	By        Authority
	Iteration int // greater than that of the record
	Reason    string
}

// Finalize ends a job for good: an ended one stays as it is, a running one has failed. A reason is required.
type Finalize struct {
	ID     string
	By     Operator
	Reason string
}

// Settle writes down that the news of a job was sent, in the transaction that takes it off what is owed (outbox.Config.Settled). News that
// came meanwhile stays owed.
type Settle struct {
	ID string
	By Notifier
}

// ask is any request in one form, with the facts beside the record that Apply reads in the transaction.
type ask struct {
	name   string
	id     string
	by     Authority
	reason string

	create    Create
	deadline  time.Time
	purse     Purse
	fields    json.RawMessage
	iteration int
	report    *Report

	live  string // the item's live job
	epoch int    // the item's newest
	spent bool   // the token was used before
	late  bool   // the token or attempt was this job's before
	owed  string // the newest of the job's news that is still owed

	granted *Reservation
	ceiling error // why nothing was granted
}

func (r Create) ask() ask {
	return ask{name: "create", id: r.ID, by: Operator{}, create: r, fields: r.Fields}
}
func (r Claim) ask() ask {
	return ask{name: "claim", id: r.ID, by: Worker{r.Token}, deadline: r.Deadline, purse: r.Reserve}
}
func (r Reserve) ask() ask {
	return ask{name: "reserve", id: r.ID, by: r.By, purse: r.Reserve, deadline: r.Deadline}
}
func (r Progress) ask() ask {
	return ask{name: "progress", id: r.ID, by: r.By, fields: r.Fields, report: r.Report}
}
func (r Complete) ask() ask {
	return ask{name: "complete", id: r.ID, by: r.By, reason: r.Reason, report: r.Report}
}
func (r Fail) ask() ask {
	return ask{name: "fail", id: r.ID, by: r.By, reason: r.Reason, report: r.Report}
}
func (r Cancel) ask() ask  { return ask{name: "cancel", id: r.ID, by: r.By, reason: r.Reason} }
func (r Timeout) ask() ask { return ask{name: "timeout", id: r.ID, by: r.By} }
func (r Requeue) ask() ask { return ask{name: "requeue", id: r.ID, by: r.By, reason: r.Reason} }
func (r Redispatch) ask() ask {
	return ask{name: "redispatch", id: r.ID, by: r.By, reason: r.Reason, iteration: r.Iteration}
}
func (r Finalize) ask() ask { return ask{name: "finalize", id: r.ID, by: r.By, reason: r.Reason} }
func (r Infer) ask() ask {
	return ask{name: "infer", id: r.ID, by: r.By, reason: r.Reason, report: r.Report}
}
func (r Settle) ask() ask { return ask{name: "settle", id: r.ID, by: r.By} }
