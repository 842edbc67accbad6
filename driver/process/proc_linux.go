package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is one that a look at /proc showed; zombies are not seen.
type process struct {
	pid, parent, session int
	start                uint64 // ticks since boot; with the pid it names a process for good
	name                 string
}

// errGone says that a pid names no process that runs.
var errGone = errors.New("no such process")

// look reads one process.
func look(pid int) (process, error) {
	data, err := readProc(pid, "stat")
	if err != nil {
		return process{}, err
	}
	p, state, ok := parseStat(data)
	if !ok {
		return process{}, fmt.Errorf("read /proc/%d/stat: unknown format", pid)
	}
	p.pid = pid
	if state == 'Z' || state == 'X' {
		return p, errGone
	}
	return p, nil
}

// parseStat reads a stat line of proc(5). The name in parentheses may hold anything, parentheses too.
func parseStat(line []byte) (p process, state byte, ok bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, 0, false
	}
	fields := bytes.Fields(line[end+1:]) // from the third field of the line on
	if len(fields) < 20 || len(fields[0]) != 1 {
		return process{}, 0, false
	}
	p.name = string(line[open+1 : end])
	var errs [3]error
	p.parent, errs[0] = strconv.Atoi(string(fields[1]))
	p.session, errs[1] = strconv.Atoi(string(fields[3]))
	p.start, errs[2] = strconv.ParseUint(string(fields[19]), 10, 64)
	if errors.Join(errs[:]...) != nil {
		return process{}, 0, false
	}
	return p, fields[0][0], true
}

// processes looks at all but this one and those that started before since. Those it enters in older and passes over the next
// time: most processes of a machine are, and a look is dear.
func processes(since uint64, older map[int]bool) ([]process, error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return nil, err
	}
	if self != strconv.Itoa(os.Getpid()) {
		return nil, errors.New("read /proc: it shows the processes of another namespace")
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() || older[pid] {
			continue
		}
		p, err := look(pid)
		switch {
		case err != nil:
		case p.start < since:
			older[pid] = true
		default:
			all = append(all, p)
		}
	}
	return all, nil
}

// mark is the value of AESOP_MARK with which p was started, or "".
func (p *process) mark() string {
	environ, _ := readProc(p.pid, "environ")
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(markVariable+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// locks is the soft RLIMIT_LOCKS of p; 0 where there is none or it cannot be read.
func (p *process) locks() uint64 {
	limits, _ := readProc(p.pid, "limits")
	for line := range bytes.Lines(limits) {
		if rest, ok := bytes.CutPrefix(line, []byte("Max file locks")); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				n, _ := strconv.ParseUint(string(fields[0]), 10, 64)
				return n
			}
		}
	}
	return 0
}

// worksIn says whether the working directory of p is dir or below it.
func (p *process) worksIn(dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
	cwd = strings.TrimSuffix(cwd, " (deleted)")
	return err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/"))
}

// ours says whether p runs as our user.
func (p *process) ours() bool {
	var stat unix.Stat_t
	return unix.Stat(fmt.Sprintf("/proc/%d", p.pid), &stat) == nil && int(stat.Uid) == os.Geteuid()
}

// survivor describes p. The name that it gave itself is used only where the file that it runs cannot be told.
func (p *process) survivor() Survivor {
	program := p.name
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid)); err == nil {
		program = filepath.Base(exe)
	}
	return Survivor{PID: p.pid, Program: program, Mark: p.mark()}
}

// kill sends SIGKILL to exactly this process: the handle is opened first and the start time compared after, so that a pid that
// came to mean another process is left alone. Kernels without handles leave the moment between the two last calls.
func (p *process) kill() {
	handle, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(handle)
	}
	if now, lookErr := look(p.pid); lookErr != nil || now.start != p.start {
		return
	}
	if err == nil {
		_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0) // who does not die is seen again
		return
	}
	_ = unix.Kill(p.pid, unix.SIGKILL)
}

// readProc reads a file of a process by plain system calls: a scan reads hundreds, and package os would enter each in the
// poller.
func readProc(pid int, name string) ([]byte, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 1024)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := unix.Read(fd, data[len(data):cap(data)])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return data, err
		}
		data = data[:len(data)+n]
	}
}
