//go:build unix

package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/driver/process"
)

// TestMain lets the test binary act as a child program when its first argument is "fake": the environment cannot tell, for
// some children are started without one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake" {
		syscall.Exit(runFake(os.Args[2], os.Args[3:])) // os.Exit would let the race detector linger for a second
	}
	goleak.VerifyTestMain(m)
}

// fake is the command that runs a fake child with a mark of its own, which nothing may carry when the test is over.
func fake(t *testing.T, name string, args ...string) process.Command {
	t.Helper()
	mark := fmt.Sprintf("test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
	t.Cleanup(func() {
		for _, pid := range marked(mark) {
			t.Errorf("process %d with the mark %s is left", pid, mark)
		}
	})
	return process.Command{
		Argv: append([]string{os.Args[0], "fake", name}, args...), Dir: t.TempDir(), Mark: mark,
		Env: []string{"PATH=" + os.Getenv("PATH")},
	}
}

// run runs c within a minute and fails the test where it does not start or something survives.
func run(t *testing.T, ctx context.Context, c process.Command) process.Result {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	r, err := process.Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Survivors) > 0 {
		t.Errorf("survivors: %v", r.Survivors)
	}
	return r
}

// marked finds running processes by their environment, by other means than the package under test.
func marked(mark string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environ, []byte("AESOP_MARK="+mark+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// until waits for a condition that no event announces.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

// once is a writer that calls f when what it was given contains word, once.
type once struct {
	word string
	f    func()
	seen bytes.Buffer
}

func (w *once) Write(p []byte) (int, error) {
	w.seen.Write(p)
	if f := w.f; f != nil && bytes.Contains(w.seen.Bytes(), []byte(w.word)) {
		w.f = nil
		f()
	}
	return len(p), nil
}

// readyPID is the pid in the first line "PID ready" of an output.
func readyPID(t *testing.T, output []byte) int {
	t.Helper()
	word, _, _ := strings.Cut(string(output), " ready\n")
	pid, err := strconv.Atoi(word)
	if err != nil {
		t.Fatalf("no pid in the output %q", output)
	}
	return pid
}
