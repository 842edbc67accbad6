package job

import "time"

// The table knows two statuses that no record has.
const (
	none     Status = ""         // there is no such job yet
	inferred Status = "inferred" // completed, by inference only: somebody may still say how it ended
)

// place is where a record stands in the table.
func place(r *Record) Status {
	switch {
	case r == nil:
		return none
	case r.Status == Completed && !r.Explicit && !r.Final:
		return inferred
	}
	return r.Status
}

// row is one line of the table: what a request does to a job in one of some statuses.
type row struct {
	request string
	from    []Status
	to      Status         // "": it stays as it is
	by      map[role]check // who may ask, and what proves it
	checks  []check        // what else must hold, in this order
	effect  func(*Record, ask)
	signal  bool // of how an attempt ended: one that comes late, or once more, changes nothing and is recorded
	quiet   bool // bookkeeping beside the job's life: no transition, and no event
}

// check returns nil where something holds, and the refusal otherwise.
type check func(*Record, ask, time.Time) *Decision

// table is all that can happen to a job. What is not in it cannot.
func table() []row {
	ended := []Status{Completed, Failed, Cancelled, TimedOut, inferred}
	holder := map[role]check{worker: holdsToken, operator: sawTransition}
	return []row{
		{request: "create", from: []Status{none}, to: Pending, by: map[role]check{operator: unproven},
			checks: []check{named, fieldsFit, itemFree}, effect: create},
		{request: "claim", from: []Status{Pending}, to: Running, by: map[role]check{worker: bringsToken},
			checks: []check{tokenUnused, granted}, effect: startAttempt},
		{request: "reserve", from: []Status{Running}, by: holder, checks: []check{granted}, effect: reserve},
		{request: "progress", from: []Status{Running}, by: map[role]check{worker: holdsToken},
			checks: []check{fieldsFit, reportNamed}, effect: noteProgress},
		{request: "complete", from: []Status{Running, inferred}, to: Completed, by: holder,
			checks: []check{reportNamed}, effect: endExplicitly, signal: true},
		{request: "fail", from: []Status{Running, inferred}, to: Failed, by: holder,
			checks: []check{reportNamed}, effect: endExplicitly, signal: true},
		{request: "cancel", from: []Status{Pending, Running, inferred}, to: Cancelled, by: holder, effect: endExplicitly, signal: true},
		{request: "infer", from: []Status{Running}, to: Completed, by: map[role]check{gate: sawAttempt},
			checks: []check{threeYeses, reportNamed}, effect: infer, signal: true},
		{request: "timeout", from: []Status{Running}, to: TimedOut, by: map[role]check{engine: sawAttempt},
			checks: []check{deadlinePassed}},
		{request: "requeue", from: []Status{Running}, to: Pending,
			by: map[role]check{operator: sawTransition, engine: sawAttempt}, effect: clearAttempt},
		{request: "redispatch", from: ended, to: Pending, by: map[role]check{operator: sawTransition, engine: sawTransition},
			checks: []check{notFinal, laterIteration, withinBudget, itemFree}, effect: nextIteration},
		{request: "finalize", from: []Status{Running}, to: Failed, by: map[role]check{operator: sawTransition},
			checks: []check{reasonGiven}, effect: finishRunning},
		{request: "finalize", from: ended, by: map[role]check{operator: sawTransition},
			checks: []check{reasonGiven, notFinalYet}, effect: finish},
		{request: "settle", from: append([]Status{Pending, Running}, ended...), by: map[role]check{notifier: owed}, effect: settle, quiet: true},
	}
}
