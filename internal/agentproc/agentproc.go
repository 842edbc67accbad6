// Package agentproc is what the drivers of programs share: the environment that an agent's program gets, how its end becomes
// an error of a driver, the usage that it may report, and the conversation with programs that talk in JSON lines.
package agentproc

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aesop/driver"
	"aesop/driver/process"
)

// Grace is how long an agent may take to end when it is asked to.
const Grace = 5 * time.Second

// Command is argv as the program of an agent that works on t: in its tree, in its environment, within its budget.
func Command(t driver.Task, argv ...string) process.Command {
	return process.Command{
		Argv: argv, Dir: t.Dir, Env: Environment(t), Mark: t.Mark, Exclusive: true,
		Timeout: t.Budget.Timeout, Idle: t.Budget.Idle, Grace: Grace,
	}
}

// Environment is the task's environment with what tells an agent which task it has. A claim's token never gets there.
func Environment(t driver.Task) []string {
	var env []string
	for _, entry := range t.Environment {
		if !strings.HasPrefix(entry, "AESOP_TOKEN=") {
			env = append(env, entry)
		}
	}
	return append(env, "AESOP_ITEM="+t.Item, "AESOP_SLUG="+t.Slug, "AESOP_WAVE="+t.Wave, "AESOP_ATTEMPT_ID="+t.AttemptID,
		"AESOP_ATTEMPT_DIR="+t.AttemptDir)
}

// TellSurvivors emits the programs that a kill did not end.
func TellSurvivors(r process.Result, emit func(driver.Event)) {
	for _, s := range r.Survivors {
		emit(driver.Event{Kind: "progress", Text: fmt.Sprintf("process %d (%s) could not be killed", s.PID, s.Program)})
	}
}

// Failure is the error of a driver for how a program ended; nil where it ended well.
func Failure(ctx context.Context, r process.Result) error {
	switch r.Reason {
	case process.TimedOut:
		return &driver.Error{Class: driver.Timeout, Message: fmt.Sprintf("stopped after %s", r.Duration.Round(time.Millisecond))}
	case process.WentIdle:
		return &driver.Error{Class: driver.Idle, Message: fmt.Sprintf("silent; stopped after %s", r.Duration.Round(time.Millisecond))}
	case process.Cancelled:
		return &driver.Error{Class: driver.Cancelled, Err: context.Cause(ctx)}
	}
	if r.OK() {
		return nil
	}
	e := &driver.Error{Class: driver.Crashed}
	switch {
	case r.Signal != "":
		e.Message = "ended by " + r.Signal
	case r.Code < 0:
		e.Message = "its end was not seen"
	default:
		e.ExitCode, e.Message = &r.Code, fmt.Sprintf("exit code %d", r.Code)
	}
	if words := LastWords(r.Stderr, 1<<10); words != "" {
		e.Message += ": " + words
	}
	return e
}

// Output is the raw output for the log: standard output, then standard error.
func Output(r process.Result) []byte {
	return append(append([]byte(nil), r.Stdout.Text...), r.Stderr.Text...)
}

// LastWords is the end of what a pipe carried as text of at most size bytes.
func LastWords(tail process.Tail, size int) string {
	text := tail.Text[max(0, len(tail.Text)-size):]
	return strings.TrimSpace(strings.ToValidUTF8(string(text), ""))
}
