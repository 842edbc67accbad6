// Package command is the driver for any program that takes a prompt and changes files: it runs one command line by sh -c at
// the root of the tree, with the prompt on standard input.
//
// The program finds its task in AESOP_ITEM, AESOP_SLUG, AESOP_WAVE and AESOP_ATTEMPT_ID, and a folder of its own in
// AESOP_ATTEMPT_DIR. It ends with exit code 0 when it is done. It may leave what it used in usage.json in that folder:
//
//	{"model": "m", "input": 900, "cacheRead": 0, "output": 40, "reasoning": 10}
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aesop/cost"
	"aesop/driver"
	"aesop/driver/process"
	"aesop/internal/agentproc"
)

// summarySize is how many bytes of the output's end are taken for the agent's last words.
const summarySize = 4 << 10

// Config says what to run.
type Config struct {
	Line string // for sh -c; required. Other users of the machine can read it, so it must not hold a secret
}

// Driver runs a command line.
type Driver struct{ line string }

// New returns a driver for a command line. It looks at nothing outside, so that a program that does not exist is noticed when
// it is run.
func New(c Config) (*Driver, error) {
	if strings.TrimSpace(c.Line) == "" {
		return nil, errors.New("command driver: the command line is empty")
	}
	return &Driver{line: c.Line}, nil
}

// Info describes a driver that is trusted least, for nobody knows what it runs.
func (*Driver) Info() driver.Info { return driver.Info{Name: "command", Tier: 4} }

// Run runs the command line. Anything but exit code 0 is Crashed, with the code and the end of standard error in the error.
// Usage is read even then; a usage file that is damaged leaves the result unmetered, and an event says why.
func (d *Driver) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	r, err := agentproc.Run(ctx, agentproc.Command(t, "sh", "-c", d.line), strings.NewReader(t.Prompt), emit)
	result := driver.Result{
		Summary: agentproc.LastWords(r.Stdout, summarySize), Output: agentproc.Output(r), Confinement: r.Confinement,
		Survivors: process.Names(r.Survivors),
	}
	usage, found, usageErr := agentproc.ReadUsage(t.AttemptDir)
	event := driver.Event{Kind: "usage", Usage: usage}
	switch {
	case !found:
		return result, err
	case usageErr != nil:
		event = driver.Event{Kind: "progress", Text: fmt.Sprintf("usage is not known: %v", usageErr)}
	default:
		result.Calls, result.Metered = []cost.Usage{usage}, true
	}
	if emit != nil {
		emit(event)
	}
	return result, err
}
