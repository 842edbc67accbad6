// Package driver is the seam behind which an agent works. A Driver gets a Task, changes files below Task.Dir and returns a
// Result; what it says is a hint, for the engine reads the tree and runs the tests itself.
//
// A driver of your own implements the two methods of Driver and is proven by the suite in driver/drivertest. One whose agent is a program
// runs it with driver/program.
package driver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"aesop/cost"
)

// Driver runs agents, one for each call of Run. It is safe for concurrent use by tasks with different directories.
type Driver interface {
	// Info is static and offline: it starts nothing, opens nothing and reads no key.
	Info() Info
	// Run works on t below t.Dir until the agent is done, ctx ends, or a limit of t is reached. It calls emit, which may be nil,
	// from one goroutine at a time, and not after it returned. The Result counts even beside an error: usage of every call
	// that was made, the session, partial output. Errors are *Error; anything else is treated as Crashed. When ctx ends, Run
	// stops what it started and returns soon, with Cancelled.
	Run(ctx context.Context, t Task, emit func(Event)) (Result, error)
}

// Prober is a Driver that can say at once, without paying, why it could not work at all: its program is missing. A wave asks it before
// anything is claimed.
type Prober interface {
	// Probe looks for what Run would need in an environment, as Task.Environment has it. It starts nothing.
	Probe(env []string) error
}

// Role names the seat that a task fills; it selects the model.
type Role string

// The roles that the engine uses.
const (
	Worker   Role = "worker"
	Reviewer Role = "reviewer"
)

// Info describes a driver.
type Info struct {
	Name   string          // as people name it on a command line
	Models map[Role]string // the model of each role; none: the program's own default
	Tier   int             // 1 (most trusted) to 4, as asserted; the engine takes anything else for 4
	// Accuracy is the measured share of tasks solved, in [0,1], or nil where nobody measured it.
	Accuracy    *float64
	Metered     bool     // whether a Result is expected to carry usage
	Resumes     bool     // whether Task.Session continues an earlier session
	Environment []string // variables of the user's own that the program needs, by name
}

// Model resolves a role. An unknown role gets the worker's model, so that a misspelt role never costs more.
func (i Info) Model(role Role) string {
	if model, ok := i.Models[role]; ok {
		return model
	}
	return i.Models[Worker]
}

// EffectiveTier is the asserted tier, or the least trusted one where the assertion is missing or out of range.
func (i Info) EffectiveTier() int {
	if i.Tier < 1 || i.Tier > 4 {
		return 4
	}
	return i.Tier
}

// Task is one piece of work.
type Task struct {
	Item      string // id of the item
	Slug      string
	Wave      string
	AttemptID string // names the dispatch; not a secret

	Prompt string // the whole prompt, verbatim
	Role   Role   // "" means Worker
	Model  string // overrides the role's model
	// Session continues the session of an earlier Result where Info.Resumes; otherwise it is ignored.
	Session string
	// Schema is the JSON Schema of the answer that is wanted, as an object, or nil. A driver whose program can keep to a schema hands
	// it over; to the others the prompt says it.
	Schema json.RawMessage
	// ReadOnly asks for a task that changes nothing. A driver whose program can be kept from writing keeps it.
	ReadOnly bool

	Dir        string   // root of the tree to work in, absolute; a fresh checkout that nobody else uses
	AttemptDir string   // folder for progress, usage and reports, absolute, outside Dir
	Owns       []string // patterns of the paths that may change, relative to Dir
	// Environment is the complete environment for programs that the driver starts, as KEY=value; nothing else is inherited.
	Environment []string
	Mark        string // marks the processes of this attempt, see process.Command

	Round   int      // 1 for the first dispatch of the item in this wave, 2 for its first repair, and so on
	Failure *Failure // what went wrong before, or nil
	Budget  Budget
}

// Failure is what the engine saw fail: on the base before the first dispatch, or on the commit of the previous one.
type Failure struct {
	Step     string // base: before any change; verify: on the commit of the previous dispatch
	Command  string
	ExitCode *int // nil: it did not end by itself
	TimedOut bool
	Stdout   string // tails, bounded
	Stderr   string
	Diff     string // of the failed commit against the base, bounded; empty where there was no commit
	Reason   string // in words, where there is more to say
}

// Budget bounds one dispatch. Zero fields do not bound.
type Budget struct {
	Timeout time.Duration // total
	Idle    time.Duration // without any output
	// Tokens bounds the sum of the token classes. Drivers keep it that learn of the usage: they end the dispatch, or fail it when
	// the usage that was stated passes it, as Truncated.
	Tokens int64
}

// Check is the error of a dispatch that used more than it may, as Truncated, or nil.
func (b Budget) Check(used cost.Usage) error {
	if b.Tokens <= 0 || used.Tokens() <= b.Tokens {
		return nil
	}
	return &Error{Class: Truncated, Message: fmt.Sprintf("used %d tokens of %d", used.Tokens(), b.Tokens)}
}

// Result is what came of a task. All of it is the driver's word.
type Result struct {
	Files   []string // paths it says it changed, relative to Task.Dir; nil: it does not say
	Summary string   // the agent's last words
	Session string   // to continue from, or ""
	// SessionID names the session in what the program itself keeps of it, or "".
	SessionID string
	// Resumed says that Task.Session was continued, so that what it knew was not paid for again.
	Resumed bool
	// Answer is what the program gave as its answer to Task.Schema, or nil. It can be anything: who asked validates it.
	Answer  json.RawMessage
	Calls   []cost.Usage // every model call made, also by failed and repeated ones
	Service string       // that the calls were of, as cost.Call has it; "" is the standard one
	Metered bool         // Calls is complete; false: usage is unknown or only part of the truth
	Output  []byte       // tail of the raw output, bounded, for the log
	// Survivors are programs of the attempt that outlived the kill at its end, by name and process id.
	Survivors []string
	// Confinement says what held the programs that the driver started: none, or the name of a mechanism.
	Confinement string
}

// Usage sums the calls. It is metered only where Metered is set and every call is.
func (r Result) Usage() cost.Usage {
	sum := cost.Sum(r.Calls...)
	if len(r.Calls) == 0 {
		sum.Metered = r.Metered
	}
	sum.Metered = sum.Metered && r.Metered
	return sum
}

// Event is a sign of life while a task runs.
type Event struct {
	Kind string // text, tool, usage, progress
	Text string
	// Usage is cumulative for the task so far, with events of kind usage.
	Usage cost.Usage
}
