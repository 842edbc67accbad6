//go:build unix

package testrun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/internal/testcount"
	"aesop/internal/testrun"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell is a run of a shell line in a folder of its own.
func shell(t *testing.T, line string) testrun.Spec {
	t.Helper()
	return testrun.Spec{Argv: []string{"sh", "-c", line}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Mark: fmt.Sprintf("testrun-%d/%s", os.Getpid(), t.Name()),
		Timeout: time.Minute}
}

func run(t *testing.T, s testrun.Spec) testrun.Outcome {
	t.Helper()
	o, err := testrun.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestHowARunEnds: only a command that ends by itself with exit 0 has passed.
func TestHowARunEnds(t *testing.T) {
	code := func(n int) *int { return &n }
	for name, tt := range map[string]struct {
		line     string
		timeout  time.Duration
		exit     *int
		timedOut bool
		signal   string
	}{
		"good":            {"true", time.Minute, code(0), false, ""},
		"bad":             {"exit 7", time.Minute, code(7), false, ""},
		"like a timeout":  {"exit 124", time.Minute, code(124), false, ""},
		"like a signal":   {"exit 137", time.Minute, code(137), false, ""},
		"timeout":         {"sleep 600", 200 * time.Millisecond, nil, true, "SIGKILL"},
		"good, too late":  {"trap 'exit 0' TERM; while :; do sleep 0.05; done", 200 * time.Millisecond, nil, true, "SIGKILL"},
		"signal":          {"kill -KILL $$", time.Minute, nil, false, "SIGKILL"},
		"its own signal":  {"kill -TERM $$", time.Minute, nil, false, "SIGTERM"},
		"program missing": {"nowhere-to-be-found", time.Minute, code(127), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := shell(t, tt.line)
			s.Timeout = tt.timeout
			o := run(t, s)
			if (o.Exit == nil) != (tt.exit == nil) || o.Exit != nil && *o.Exit != *tt.exit || o.TimedOut != tt.timedOut || o.Signal != tt.signal {
				t.Errorf("exit %v, timed out %v, signal %q", o.Exit, o.TimedOut, o.Signal)
			}
			if want := tt.exit != nil && *tt.exit == 0; o.Passed() != want {
				t.Errorf("passed is %v", o.Passed())
			}
			if o.Confinement != "none" || o.Duration <= 0 {
				t.Errorf("confinement %q, duration %s", o.Confinement, o.Duration)
			}
		})
	}
}

// TestTimeoutEndsTheTree: also a child that left the group and reads a pipe is gone when Run returns.
func TestTimeoutEndsTheTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a child that leaves its group can stay")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	s := shell(t, "mkfifo "+pipe+"; setsid sh -c 'while :; do cat "+pipe+"; done' & exec 3>"+pipe+"; sleep 600")
	s.Timeout = time.Second
	if o := run(t, s); !o.TimedOut {
		t.Fatalf("it ended by itself: %+v", o)
	}
	f, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		f.Close()
	}
	if !errors.Is(err, syscall.ENXIO) { // which says that nobody reads it
		t.Errorf("a process of the tree is left: %v", err)
	}
}

func TestCancelledRunIsAnError(t *testing.T) {
	cause := errors.New("halted")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := shell(t, "echo here; sleep 600")
	s.Log = writerFunc(func([]byte) { cancel(cause) })
	o, err := testrun.Run(ctx, s)
	if !errors.Is(err, cause) || o.Passed() || o.Exit != nil {
		t.Errorf("outcome %+v, error %v", o, err)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

func TestInputIsEmpty(t *testing.T) {
	if o := run(t, shell(t, "cat; echo end")); o.Stdout != "end\n" {
		t.Errorf("output %q", o.Stdout)
	}
}

// TestOutput: the end is kept, bounded, of each stream; the log gets all of it where it is not too much.
func TestOutput(t *testing.T) {
	var log bytes.Buffer
	s := shell(t, `i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done; echo complaint >&2`)
	s.Log = &log
	o := run(t, s)
	if len(o.Stdout) > 16<<10 || len(o.Stdout) < 8<<10 || !strings.HasSuffix(o.Stdout, "line 4999\n") || strings.Contains(o.Stdout, "line 1\n") {
		t.Errorf("%d bytes are kept", len(o.Stdout))
	}
	if !strings.Contains(log.String(), "line 0\n") || !strings.Contains(log.String(), "line 4999\n") || !strings.Contains(log.String(), "complaint\n") {
		t.Errorf("the log has %d bytes", log.Len())
	}
	if o.Stderr != "complaint\n" || !strings.HasSuffix(o.Tail(), "line 4999\n\ncomplaint\n") {
		t.Errorf("standard error %q, tail ends with %q", o.Stderr, o.Tail()[len(o.Tail())-40:])
	}
	for _, tt := range []struct{ out, err, want string }{{"a", "", "a"}, {"", "b", "b"}, {"a", "b", "a\nb"}, {"", "", ""}} {
		if got := (testrun.Outcome{Stdout: tt.out, Stderr: tt.err}).Tail(); got != tt.want {
			t.Errorf("tail of %q and %q is %q", tt.out, tt.err, got)
		}
	}
}

// TestLogIsBounded: a test that never stops talking must not fill the disk.
func TestLogIsBounded(t *testing.T) {
	var log bytes.Buffer
	s := shell(t, "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last; echo late >&2")
	s.Log = &log
	o := run(t, s)
	if !o.Passed() || !strings.HasSuffix(o.Stdout, "\nlast\n") || o.Stderr != "late\n" {
		t.Errorf("outcome %v, tail %q, %q", o.Exit, o.Stdout[max(0, len(o.Stdout)-10):], o.Stderr)
	}
	text := log.String()
	_, note, _ := strings.Cut(text, "\n[")
	if len(text) < 8<<20 || len(text) > 8<<20+100 || !strings.HasPrefix(text, "first\n") {
		t.Errorf("the log has %d bytes", len(text))
	}
	if want := strconv.Itoa(20_000_000+len("first\n\nlast\nlate\n")-(8<<20)) + " more bytes of output were cut]\n"; note != want {
		t.Errorf("the log ends with %q, want %q", note, want)
	}
}

func TestDirectoryThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cause := range map[string]error{"missing": fs.ErrNotExist, "file": nil} {
		s := shell(t, "true")
		s.Dir = filepath.Join(dir, name)
		_, err := testrun.Run(t.Context(), s)
		e, ok := errors.AsType[*testrun.DirectoryError](err)
		if !ok || e.Dir != s.Dir || cause != nil && !errors.Is(err, cause) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestProgramThatCannotBeStarted(t *testing.T) {
	s := shell(t, "")
	s.Argv = []string{"nowhere-to-be-found"}
	if _, err := testrun.Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "nowhere-to-be-found") {
		t.Errorf("error is %v", err)
	}
}

// TestCountsAllOutput: also what is beyond the tails and the log, and also where the log fails.
func TestCountsAllOutput(t *testing.T) {
	for name, log := range map[string]io.Writer{"no log": nil, "log": io.Discard, "broken log": broken{}} {
		s := shell(t, `echo 2 passed in 0.01s; echo 1 passed in 0.01s >&2; head -c 10000000 /dev/zero; echo; echo 3 passed in 0.02s`)
		s.Log = log
		outcome := run(t, s)
		if want := (testcount.Count{Known: true, Tests: 6, Runner: "pytest"}); outcome.Counted != want {
			t.Errorf("%s: %+v", name, outcome.Counted)
		}
	}
}

// broken is a log that cannot be written.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space") }
