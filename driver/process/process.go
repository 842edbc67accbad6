// Package process runs child programs whose whole tree ends when it should: bounded output in memory, standard input always
// closed, a total and an idle deadline, and a kill that reaches what left the process group.
//
// Correctness never depends on a kill: what survives one is reported.
package process

import (
	"context"
	"io"
	"os/exec"
	"time"
)

// Command describes one run of a child.
type Command struct {
	Argv   []string  // program and arguments; a program without a slash is looked up in the PATH of Env
	Dir    string    // working directory, absolute
	Env    []string  // the complete environment; nothing is inherited
	Stdin  io.Reader // nil: empty. It is closed after its end either way
	Stdout io.Writer // also gets what the child writes, as it comes; nil: only the tail is kept. A write error ends nothing
	Stderr io.Writer

	// Mark names the tree that the child starts. It is inherited by environment as AESOP_MARK, so that Kill finds processes
	// that left the group. Required.
	Mark string

	Timeout time.Duration // total; 0: none
	Idle    time.Duration // without output on either pipe; 0: none
	Grace   time.Duration // between a soft stop (SIGTERM to the group) and the kill; 0: kill at once
	Tail    int           // bytes kept of each pipe's end; 0: 64 KiB

	Confiner Confiner // nil: the child runs unconfined
}

// Confiner starts a child under restrictions. It is the seam for Landlock and its like.
type Confiner interface {
	// Name is what reports say held, such as landlock.
	Name() string
	// Start starts cmd, as cmd.Start would.
	Start(cmd *exec.Cmd) error
}

// Reason says how a run ended.
type Reason string

// The reasons.
const (
	Exited    Reason = "exited"    // by itself, also by a signal that was not ours
	TimedOut  Reason = "timeout"   // Command.Timeout passed
	WentIdle  Reason = "idle"      // Command.Idle passed
	Cancelled Reason = "cancelled" // the context ended
)

// Result is how a run went.
type Result struct {
	Reason      Reason
	Code        int    // exit code; -1 if a signal ended it
	Signal      string // the signal, or ""
	Stdout      Tail
	Stderr      Tail
	Duration    time.Duration
	Survivors   []Survivor // processes of the tree that a kill did not end
	Confinement string     // none, or the Confiner's name
}

// OK says that the child ended by itself with exit code 0.
func (r Result) OK() bool { return r.Reason == Exited && r.Code == 0 }

// Tail is the end of what a pipe carried.
type Tail struct {
	Text    []byte
	Dropped int64 // bytes before Text that are gone
}

// Survivor is a process that should have ended.
type Survivor struct {
	PID     int
	Program string // name of the executable, never its arguments
	Mark    string
}

// WithKill returns a context that carries a second, harder stop: when ctx ends, Run stops the child softly and waits
// Command.Grace; when kill is closed it kills the tree at once. It passes through drivers that know nothing of it.
func WithKill(ctx context.Context, kill <-chan struct{}) context.Context {
	return context.WithValue(ctx, killKey{}, kill)
}

type killKey struct{}
