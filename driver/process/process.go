// Package process runs child programs whose whole tree ends when it should: bounded output in memory, standard input always
// closed, a total and an idle deadline, and a kill that reaches what left the process group. Run does it all:
//
//	result, err := process.Run(ctx, process.Command{
//		Argv: []string{"go", "test", "./..."}, Dir: tree, Env: []string{"PATH=" + path}, Mark: attempt, Timeout: 10 * time.Minute,
//	})
//
// err says that there was no child; how the child fared is in the result. When Run returns, the child and what it left running
// are gone, whether it ended by itself or not.
//
// How far a kill reaches depends on the system. On Linux: the session that the child leads, processes that carry the mark in
// their environment or in an unused resource limit, descendants, and for a directory of its own whatever works in it; and the
// child dies with this process. On Windows: a job object, which also ends with this process. Elsewhere: the process group.
// Correctness never depends on a kill: what is seen to survive one is reported.
package process

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Command describes one run of a child.
type Command struct {
	// Argv is the program and its arguments. Other users can read it, so it never holds a secret or a prompt. A program without
	// a slash is looked up in the absolute folders of Env's PATH.
	Argv   []string
	Dir    string    // working directory, absolute
	Env    []string  // the complete environment; nothing is inherited
	Stdin  io.Reader // nil: empty. The child sees its end after the reader's end or error
	Stdout io.Writer // also gets what the child writes, as it comes; nil: only the tail is kept. A write error ends nothing
	Stderr io.Writer // never written to at the same time as Stdout, nor after Run returned

	// Mark names the tree that the child starts. It is inherited by environment as AESOP_MARK, so that Kill finds processes
	// that left the group. Required, and unique among the runs of a moment: the end of a run kills all that carry its mark.
	Mark string
	// Exclusive says that nobody but the child works below Dir, so that a process found working there belongs to its tree.
	Exclusive bool

	Timeout time.Duration // total; 0: none
	Idle    time.Duration // without output on either pipe; 0: none
	Grace   time.Duration // between a soft stop (SIGTERM to the group) and the kill; 0, and always on Windows: kill at once
	Tail    int           // bytes kept of each pipe's end; 0: 64 KiB

	Confiner Confiner // nil: the child runs unconfined
}

// Confiner starts a child under restrictions. It is the seam for Landlock and its like.
type Confiner interface {
	// Name is what reports say held, such as landlock.
	Name() string
	// Start starts cmd, as cmd.Start would. It runs on an OS thread of its own, never the main one, which is thrown away
	// after the child's end: restrictions put on the thread need not be taken off.
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
	Code        int    // exit code; -1 if a signal ended it or its end was not seen
	Signal      string // the signal, such as SIGKILL, or ""
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

// Names are survivors as people read them.
func Names(survivors []Survivor) []string {
	var names []string
	for _, s := range survivors {
		names = append(names, fmt.Sprintf("%s (process %d)", s.Program, s.PID))
	}
	return names
}

// WithKill returns a context that carries a second, harder stop: when ctx ends, Run stops the child softly and waits
// Command.Grace; when kill is closed it kills the tree at once. It passes through drivers that know nothing of it.
func WithKill(ctx context.Context, kill <-chan struct{}) context.Context {
	return context.WithValue(ctx, killKey{}, kill)
}

type killKey struct{}

// killOf is the channel of WithKill; nil, which never closes, where there is none.
func killOf(ctx context.Context) <-chan struct{} {
	kill, _ := ctx.Value(killKey{}).(<-chan struct{})
	return kill
}
