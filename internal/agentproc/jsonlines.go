package agentproc

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync/atomic"
	"time"

	"aesop/driver/process"
)

// LineMax bounds a line that is read. A longer one is passed over, at no cost of memory; programs write such lines when a tool
// prints a large file, never for what a driver has to know.
const LineMax = 8 << 20

// Linger is how long a program may take to exit by itself after it said that it is done. Programs of this kind are known to
// hang then.
const Linger = 5 * time.Second

// Listener reads what a program says. Its methods are called from one goroutine at a time.
type Listener interface {
	// Line reads one line, without its end. An error ends the program at once and is the run's.
	Line(line []byte) error
	// Done says whether the program has finished its work, so that it only has to exit.
	Done() bool
}

// Spoken is how the talking of a program ended.
type Spoken struct {
	process.Result
	Torn    bool  // the output ended by itself in the middle of a line
	Skipped int   // lines longer than LineMax
	Stopped error // of Listener.Line
	Done    bool  // it had finished its work, whatever ended it then
}

// Listen runs c with stdin as its input and hands its output to l, line by line. Lines of blanks are left out. The pipe is drained whatever
// l does.
func Listen(ctx context.Context, c process.Command, stdin io.Reader, l Listener, linger time.Duration) (Spoken, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e := &ear{listener: l, cancel: cancel, patience: linger}
	e.linger = time.AfterFunc(time.Hour, func() {
		e.tired.Store(true)
		cancel()
	})
	e.linger.Stop()
	defer e.linger.Stop()
	c.Stdin, c.Stdout = stdin, e
	r, err := process.Run(ctx, c)
	if err != nil {
		return Spoken{Result: process.Result{Confinement: "none"}}, err
	}
	torn := e.end(r.Reason == process.Exited)
	return Spoken{Result: r, Torn: torn, Skipped: e.skipped, Stopped: e.err, Done: e.err == nil && (e.tired.Load() || l.Done())}, nil
}

// ear cuts a stream into lines.
type ear struct {
	listener Listener
	cancel   func()
	linger   *time.Timer
	patience time.Duration
	tired    atomic.Bool // it was done and did not exit
	line     []byte
	long     bool // the line is being passed over
	skipped  int
	err      error
}

func (e *ear) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		if len(e.line)+len(part) > LineMax {
			e.long, e.line = true, nil
		}
		if !e.long {
			e.line = append(e.line, part...)
		}
		if ended {
			e.finish()
		}
	}
	return len(p), nil
}

// finish hands the line over.
func (e *ear) finish() {
	line := bytes.TrimSpace(e.line)
	switch {
	case e.long:
		e.skipped++
	case e.err == nil && len(line) > 0:
		e.hear(line)
	}
	e.long, e.line = false, e.line[:0]
	if cap(e.line) > 1<<20 {
		e.line = nil
	}
}

func (e *ear) hear(line []byte) {
	if e.err = e.listener.Line(line); e.err != nil {
		e.cancel()
		return
	}
	if e.listener.Done() {
		e.linger.Reset(e.patience)
	} else {
		e.linger.Stop()
	}
}

// end takes a last line that has no end if it is a whole JSON value. It says whether it was torn, which is the program's doing
// only where nobody killed it.
func (e *ear) end(byItself bool) (torn bool) {
	line := bytes.TrimSpace(e.line)
	switch {
	case e.long:
		e.skipped++
	case len(line) == 0:
	case json.Valid(line):
		if e.err == nil {
			e.err = e.listener.Line(line)
		}
	default:
		return byItself && line[0] == '{'
	}
	return false
}
