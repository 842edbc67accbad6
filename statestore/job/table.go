package job

import "time"

// none is the status of a job that does not exist yet.
const none Status = ""

// row is one line of the table: what a request does to a job in one of some statuses.
type row struct {
	request string
	from    []Status
	to      Status         // "": it stays as it is
	by      map[role]check // who may ask, and what proves it
	checks  []check        // what else must hold, in this order
	effect  func(*Record, ask)
	again   bool // a job that has ended: the same again is Idempotent, another end is a Conflict, and both are recorded
}

// check returns nil where something holds, and the refusal otherwise.
type check func(*Record, ask, time.Time) *Decision

// table is all that can happen to a job. What is not in it cannot.
func table() []row {
	ended := []Status{Completed, Failed, Cancelled, TimedOut}
	holder := map[role]check{worker: holdsToken, operator: sawTransition}
	return []row{
		{request: "create", from: []Status{none}, to: Pending, by: map[role]check{operator: unproven},
			checks: []check{named, itemFree}, effect: create},
		{request: "claim", from: []Status{Pending}, to: Running, by: map[role]check{worker: bringsToken},
			checks: []check{tokenUnused, granted}, effect: startAttempt},
		{request: "reserve", from: []Status{Running}, by: holder, checks: []check{granted}, effect: reserve},
		{request: "progress", from: []Status{Running}, by: map[role]check{worker: holdsToken},
			checks: []check{fieldsFit}, effect: mergeFields},
		{request: "complete", from: []Status{Running}, to: Completed, by: holder, effect: explicit, again: true},
		{request: "fail", from: []Status{Running}, to: Failed, by: holder, effect: explicit, again: true},
		{request: "cancel", from: []Status{Pending, Running}, to: Cancelled, by: holder, effect: explicit, again: true},
		{request: "timeout", from: []Status{Running}, to: TimedOut, by: map[role]check{engine: sawAttempt},
			checks: []check{deadlinePassed}},
		{request: "requeue", from: []Status{Running}, to: Pending,
			by: map[role]check{operator: sawTransition, engine: sawAttempt}, effect: clearAttempt},
		{request: "redispatch", from: ended, to: Pending, by: map[role]check{operator: sawTransition, engine: sawTransition},
			checks: []check{notFinal, laterIteration, itemFree}, effect: nextIteration},
		{request: "finalize", from: []Status{Running}, to: Failed, by: map[role]check{operator: sawTransition},
			checks: []check{reasonGiven}, effect: finishRunning},
		{request: "finalize", from: ended, by: map[role]check{operator: sawTransition},
			checks: []check{reasonGiven, notFinalYet}, effect: finish},
	}
}
