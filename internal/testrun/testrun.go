// Package testrun runs a test command the way that proves something: in a clean tree, without standard input, with an
// environment that holds no provider key and caches that no agent could have written, under a deadline that ends the tree.
package testrun

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"aesop/driver/process"
	"aesop/internal/testcount"
)

// Spec is one run.
type Spec struct {
	Argv    []string
	Dir     string   // working directory, absolute, inside the tree
	Env     []string // complete, see Environment
	Mark    string
	Timeout time.Duration
	Log     io.Writer // also gets the output as it comes, up to a bound, or nil
}

// Outcome is how a run went.
type Outcome struct {
	Exit        *int // nil: it did not end by itself
	TimedOut    bool
	Signal      string // that ended it, such as SIGKILL, or ""
	Stdout      string // tails
	Stderr      string
	Duration    time.Duration
	Counted     testcount.Count // executed tests, of the whole output
	Confinement string
	Survivors   []string // processes that the kill at the end did not end
}

// Passed says that the command ended by itself with exit 0.
func (o Outcome) Passed() bool { return o.Exit != nil && *o.Exit == 0 }

// Tail is the end of the output, standard error last.
func (o Outcome) Tail() string {
	switch {
	case o.Stderr == "":
		return o.Stdout
	case o.Stdout == "":
		return o.Stderr
	}
	return o.Stdout + "\n" + o.Stderr
}

const tailBytes = 16 << 10

// Run runs the command. A *StartError says that it could not be started, a *DirectoryError that its folder is not there, any
// other error that ctx ended; a command that fails is an Outcome.
func Run(ctx context.Context, s Spec) (Outcome, error) {
	if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
		return Outcome{}, &DirectoryError{Dir: s.Dir, Err: err}
	}
	command := process.Command{Argv: s.Argv, Dir: s.Dir, Env: s.Env, Mark: s.Mark, Exclusive: true, Timeout: s.Timeout, Tail: tailBytes}
	log, counter := &head{to: s.Log}, &testcount.Counter{}
	command.Stdout, command.Stderr = tee{counter.Stdout(), log}, tee{counter.Stderr(), log}
	result, err := process.Run(ctx, command)
	log.end()
	if err != nil {
		return Outcome{}, &StartError{Err: err}
	}
	outcome := Outcome{TimedOut: result.Reason == process.TimedOut, Stdout: string(result.Stdout.Text), Stderr: string(result.Stderr.Text),
		Signal: result.Signal, Duration: result.Duration, Counted: counter.Count(), Confinement: result.Confinement, Survivors: process.Names(result.Survivors)}
	if result.Reason == process.Cancelled {
		return outcome, context.Cause(ctx)
	}
	if result.Reason == process.Exited && result.Signal == "" {
		outcome.Exit = &result.Code
	}
	return outcome, nil
}

// DirectoryError says that the working directory of a test is not in the tree.
type DirectoryError struct {
	Dir string
	Err error
}

func (e *DirectoryError) Error() string {
	return fmt.Sprintf("test directory %s is not in the tree", filepath.Base(e.Dir))
}

func (e *DirectoryError) Unwrap() error {
	if e.Err == nil {
		return syscall.ENOTDIR
	}
	return e.Err
}

// StartError says that a test command could not be started, as when its program does not exist.
type StartError struct{ Err error }

func (e *StartError) Error() string { return fmt.Sprintf("the test cannot be started: %v", e.Err) }
func (e *StartError) Unwrap() error { return e.Err }
