package process

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Run runs c to its end. An error says that c is malformed or could not be started; all else is in the Result. When ctx ends,
// the group gets SIGTERM, and Grace later the tree is killed; deadlines and the channel of WithKill kill at once. What the
// child leaves running is killed after a normal exit too. Run is safe for concurrent use and touches no other child of this
// process. A Stdin that blocks in Read outlives it; a Stdout or Stderr that blocks in Write delays it.
func Run(ctx context.Context, c Command) (Result, error) {
	program, err := c.check()
	if err != nil {
		return Result{}, err
	}
	result := Result{Reason: Cancelled, Code: -1, Confinement: "none"}
	if c.Confiner != nil {
		result.Confinement = c.Confiner.Name()
	}
	if ctx.Err() != nil {
		return result, nil
	}
	cmd := &exec.Cmd{Path: program, Args: c.Argv, Dir: c.Dir, Env: c.environment(), SysProcAttr: attributes()}
	streams, err := openPipes(&c, cmd)
	if err != nil {
		return Result{}, err
	}
	began := time.Now()
	ch, err := start(&c, cmd)
	if err != nil {
		streams.close(streams.ours, streams.theirs)
		return Result{}, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	streams.serve(c.Stdin)

	result.Reason = ch.supervise(ctx, &c, streams)
	result.Survivors = ch.tree.kill()
	ended := ch.reap()
	result.Stdout, result.Stderr = streams.drain()
	result.Duration = time.Since(began)
	if ended && cmd.ProcessState != nil { // nil: the host reaped a child that is not its own
		result.Code, result.Signal = cmd.ProcessState.ExitCode(), signalName(cmd.ProcessState)
	}
	return result, nil
}

// supervise returns when the child ended or must be killed.
func (ch *child) supervise(ctx context.Context, c *Command, streams *pipes) Reason {
	reason := ch.await(ctx, c, streams)
	select {
	case <-ch.exited:
		if reason != Cancelled || ctx.Err() == nil {
			return Exited // it was faster than the clock
		}
	default:
	}
	return reason
}

func (ch *child) await(ctx context.Context, c *Command, streams *pipes) Reason {
	total, idle := newTimer(c.Timeout), newTimer(c.Idle)
	defer total.Stop()
	defer idle.Stop()
	for {
		select {
		case <-ch.exited:
			return Exited
		case <-killOf(ctx):
			return Cancelled
		case <-ctx.Done():
			ch.stop(c.Grace, killOf(ctx))
			return Cancelled
		case <-total.C:
			return TimedOut
		case <-idle.C:
			rest := c.Idle - streams.quiet()
			if rest <= 0 {
				return WentIdle
			}
			idle.Reset(rest)
		}
	}
}

// newTimer is a timer that never fires where d is 0.
func newTimer(d time.Duration) *time.Timer {
	if d == 0 {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return t
	}
	return time.NewTimer(d)
}

// stop asks the group to end and waits for the child until grace is over or kill is closed.
func (ch *child) stop(grace time.Duration, kill <-chan struct{}) {
	if grace == 0 || !ch.tree.stop() {
		return
	}
	limit := time.NewTimer(grace)
	defer limit.Stop()
	select {
	case <-ch.exited:
	case <-limit.C:
	case <-kill:
	}
}
