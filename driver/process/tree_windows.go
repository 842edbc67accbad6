package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func onMainThread() bool { return false }

func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// tree is a job object, which what the child starts belongs to as well, and which the system ends when its last handle goes:
// with this process too. What the child starts before it is put into the job is not found.
type tree struct {
	child *os.Process
	job   windows.Handle // 0: there is none, and the child alone can be killed
}

func newTree(_ *Command, cmd *exec.Cmd) *tree {
	t := &tree{child: cmd.Process}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return t
	}
	if err := fill(job, uint32(cmd.Process.Pid)); err != nil {
		_ = windows.CloseHandle(job)
		return t
	}
	t.job = job
	return t
}

func fill(job windows.Handle, pid uint32) error {
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return err
	}
	child, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(child)
	return windows.AssignProcessToJobObject(job, child)
}

// stop says that there is no soft stop for programs without a console.
func (*tree) stop() bool { return false }

func (t *tree) kill() []Survivor {
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		_ = windows.CloseHandle(t.job)
	}
	_ = t.child.Kill()
	return nil
}

// Kill finds nothing: the trees of a dead process ended with it.
func Kill(context.Context, func(mark string) bool) ([]Survivor, error) { return nil, nil }

func signalName(*os.ProcessState) string { return "" }

func hasSeparator(name string) bool { return strings.ContainsAny(name, `\/:`) }

func sameVariable(a, b string) bool { return strings.EqualFold(a, b) }

func executable(path string, c *Command) (string, bool) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && filepath.Ext(path) != "" {
		return path, true
	}
	extensions := c.variable("PATHEXT")
	if extensions == "" {
		extensions = ".com;.exe;.bat;.cmd"
	}
	for _, ext := range strings.Split(extensions, ";") {
		if info, err := os.Stat(path + ext); err == nil && !info.IsDir() {
			return path + ext, true
		}
	}
	return "", false
}
