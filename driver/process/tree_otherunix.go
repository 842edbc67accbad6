//go:build unix && !linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func onMainThread() bool { return false } // matters to confiners only, of which there are none here

// awaitExit reaps the child, which cannot be waited for in another way on all of these systems. The group is killed right
// after; a system would have to give the pid away as a new group's in between to make that hit a stranger.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// tree is the process group of a child; what left it is not found here.
type tree struct{ pid int }

func newTree(_ *Command, cmd *exec.Cmd) *tree { return &tree{pid: cmd.Process.Pid} }

func (t *tree) stop() bool { return unix.Kill(-t.pid, unix.SIGTERM) == nil }

func (t *tree) kill() []Survivor {
	_ = unix.Kill(-t.pid, unix.SIGKILL)
	return nil
}

// Kill cannot look at the environment of processes on this system and says so.
func Kill(context.Context, func(mark string) bool) ([]Survivor, error) {
	return nil, fmt.Errorf("kill by mark: %w", errors.ErrUnsupported)
}
