//go:build unix

package process

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName is the name of the signal that ended a process, or "".
func signalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

func hasSeparator(name string) bool { return strings.Contains(name, "/") }

func sameVariable(a, b string) bool { return a == b }

func executable(path string, _ *Command) (string, bool) {
	info, err := os.Stat(path)
	return path, err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}
