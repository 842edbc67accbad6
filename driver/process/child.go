package process

import (
	"os/exec"
	"runtime"
	"time"
)

// exitLimit bounds how long Run waits for a killed child; one that hangs in the kernel is reported as a survivor instead.
const exitLimit = 5 * time.Second

// child is a started child.
type child struct {
	tree   *tree
	exited chan struct{} // closed when it ended; where the system allows it, it is a zombie then, which reserves its pid
	reaped chan struct{}
	let    chan struct{} // closed to let it be reaped
}

// start starts cmd on an OS thread that is kept for it: on Linux a child is told to die with the thread that started it, and
// Go ends idle threads as it likes.
func start(c *Command, cmd *exec.Cmd) (*child, error) {
	ch := &child{exited: make(chan struct{}), reaped: make(chan struct{}), let: make(chan struct{})}
	started := make(chan error, 1)
	onThread(c.Confiner != nil, func() {
		begin := cmd.Start
		if c.Confiner != nil {
			begin = func() error { return c.Confiner.Start(cmd) }
		}
		if err := begin(); err != nil {
			started <- err
			return
		}
		ch.tree = newTree(c, cmd)
		started <- nil
		awaitExit(cmd)
		close(ch.exited)
		<-ch.let
		if cmd.ProcessState == nil {
			_ = cmd.Wait() // the exit code is read from the state
		}
		close(ch.reaped)
	})
	if err := <-started; err != nil {
		return nil, err
	}
	return ch, nil
}

// onThread runs f on an OS thread of its own. One to be thrown away ends with f and is not the main thread, whose end would
// leave the process without its first thread.
func onThread(throwAway bool, f func()) {
	go func() {
		runtime.LockOSThread()
		if !throwAway {
			defer runtime.UnlockOSThread()
			f()
			return
		}
		if !onMainThread() {
			f()
			return
		}
		locked := make(chan struct{})
		go func() { // gets another thread, for this goroutine holds the main one until then
			runtime.LockOSThread()
			close(locked)
			f()
		}()
		<-locked
		runtime.UnlockOSThread()
	}()
}

// reap takes the child's exit status, which frees its pid, and says whether its end was seen.
func (ch *child) reap() bool {
	close(ch.let)
	limit := time.NewTimer(exitLimit)
	defer limit.Stop()
	select {
	case <-ch.reaped:
		return true
	case <-limit.C:
		return false
	}
}
