// Package program runs an agent that is a program: it is all that a driver of one needs but for what is the program's own.
//
//	func (d Driver) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
//		return program.Run(ctx, t, emit, "my-agent", "--model", t.Model)
//	}
//
// The program works at the root of the tree, with the prompt on standard input. It finds its task in AESOP_ITEM, AESOP_SLUG, AESOP_WAVE and
// AESOP_ATTEMPT_ID, and a folder of its own in AESOP_ATTEMPT_DIR. It ends with exit code 0 when it is done. It may leave what it used in
// usage.json in that folder:
//
//	{"model": "m", "input": 900, "cacheRead": 0, "output": 40, "reasoning": 10}
//
// Input and output must be said there, for a count that is absent is unknown and not zero.
package program

import (
	"context"
	"fmt"
	"strings"

	"aesop/cost"
	"aesop/driver"
	"aesop/driver/process"
	"aesop/internal/agentproc"
)

// summarySize is how many bytes of the output's end are taken for the agent's last words.
const summarySize = 4 << 10

// Run runs argv on t within its budget, and ends all that it started. What is to be different is changed in t: the prompt, the limits,
// the environment. argv never holds a secret or the prompt, for other users of the machine can read it.
//
// The Result has the end of standard output as summary and the usage that the program left, also beside an error. A usage file that is
// damaged leaves it unmetered, and an event says why. Each line of standard output is an event of kind text.
//
// The error is nil after exit code 0. It is Timeout, Idle, Cancelled, or Truncated where the usage passes the budget; anything else is
// Crashed, with the exit code and the end of standard error. A driver that knows more of its program gives that one a better class.
func Run(ctx context.Context, t driver.Task, emit func(driver.Event), argv ...string) (driver.Result, error) {
	if emit == nil {
		emit = func(driver.Event) {}
	}
	c, words := agentproc.Command(t, argv...), &lines{emit: emit}
	c.Stdin, c.Stdout = strings.NewReader(t.Prompt), words
	r, err := process.Run(ctx, c)
	if err != nil {
		return driver.Result{Confinement: "none"}, &driver.Error{Class: driver.Crashed, Err: err}
	}
	words.flush()
	agentproc.TellSurvivors(r, emit)
	result := driver.Result{
		Summary: agentproc.LastWords(r.Stdout, summarySize), Output: agentproc.Output(r), Confinement: r.Confinement,
		Survivors: process.Names(r.Survivors),
	}
	usage, found, unknown := agentproc.ReadUsage(t.AttemptDir)
	switch {
	case unknown != nil:
		emit(driver.Event{Kind: "progress", Text: fmt.Sprintf("usage is not known: %v", unknown)})
	case found:
		result.Calls, result.Metered = []cost.Usage{usage}, true
		emit(driver.Event{Kind: "usage", Usage: usage})
	}
	if err := agentproc.Failure(ctx, r); err != nil {
		return result, err
	}
	return result, t.Budget.Check(result.Usage())
}
