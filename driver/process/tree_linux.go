package process

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killLimit bounds the search for processes of a tree that do not die.
const killLimit = 3 * time.Second

// attributes makes the child the leader of a session, so that it has a group of its own and no terminal to ask on, and lets
// it die with the thread that starts it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func onMainThread() bool { return unix.Gettid() == os.Getpid() }

// awaitExit returns when the child ended and leaves it a zombie: as long as nobody reaps it, neither its pid nor its group and
// session can come to mean other processes.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// tree is what a child started, found by whatever tells it from other processes.
type tree struct {
	pid   int // of the child, and so of its group and of its session, which holds the group
	start uint64
	mark  string
	limit uint64
	dir   string // "": not exclusive
}

// newTree marks the child with a resource limit: the kernel ignores RLIMIT_LOCKS, but it is inherited and everybody can read
// it, also where a process cleared its environment. What the child forks before this is reached by the other signs only.
func newTree(c *Command, cmd *exec.Cmd) *tree {
	t := &tree{pid: cmd.Process.Pid, mark: c.Mark, limit: limitOf(c.Mark)}
	var old unix.Rlimit
	if err := unix.Prlimit(t.pid, unix.RLIMIT_LOCKS, nil, &old); err == nil && t.limit <= old.Max {
		_ = unix.Prlimit(t.pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: t.limit, Max: old.Max}, nil)
	}
	self, _ := look(t.pid) // a child that ended already is seen too, with an error
	t.start = self.start
	if c.Exclusive {
		t.dir = filepath.Clean(c.Dir)
		if real, err := filepath.EvalSymlinks(t.dir); err == nil {
			t.dir = real
		}
	}
	return t
}

// limitOf is the resource limit that stands for a mark: beyond any that people set, and the same after our own death.
func limitOf(mark string) uint64 {
	sum := sha256.Sum256([]byte(mark))
	return binary.BigEndian.Uint64(sum[:])>>4 | 1<<59
}

func (t *tree) stop() bool { return unix.Kill(-t.pid, unix.SIGTERM) == nil }

func (t *tree) kill() []Survivor {
	_ = unix.Kill(-t.pid, unix.SIGSTOP) // atomic: no member forks from here on, and all descendants keep their parents
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	survivors, _ := eradicate(ctx, t.start, t.member)
	_ = unix.Kill(-t.pid, unix.SIGKILL) // where /proc cannot be read, the group is all that can be reached
	return survivors
}

// member says whether p, which is no older than the child, is one of the tree by itself; eradicate adds the descendants.
func (t *tree) member(p *process) bool {
	return p.session == t.pid || p.mark() == t.mark || p.locks() == t.limit || t.dir != "" && p.worksIn(t.dir)
}
