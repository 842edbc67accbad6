//go:build unix

package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/driver/process"
)

func TestRunReportsHowTheChildEnded(t *testing.T) {
	for _, test := range []struct {
		fake   string
		code   int
		signal string
		stderr string
	}{
		{"echo", 0, "", "0 bytes\n"},
		{"exit-3", 3, "", "no good\n"},
		{"signal", -1, "SIGKILL", ""},
	} {
		t.Run(test.fake, func(t *testing.T) {
			t.Parallel()
			r := run(t, t.Context(), fake(t, test.fake))
			if r.Reason != process.Exited || r.Code != test.code || r.Signal != test.signal || string(r.Stderr.Text) != test.stderr {
				t.Errorf("got %+v", r)
			}
			if r.OK() != (test.code == 0) || r.Confinement != "none" || r.Duration <= 0 {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestStdinEnds(t *testing.T) {
	large := bytes.Repeat([]byte("prompt\n"), 1<<18)
	for _, test := range []struct {
		name  string
		stdin io.Reader
		want  []byte
	}{
		{"none", nil, nil},
		{"large", bytes.NewReader(large), large},
		{"failing", io.MultiReader(strings.NewReader("part"), failing{}), []byte("part")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			c := fake(t, "echo")
			c.Stdin, c.Stdout = test.stdin, &out
			if r := run(t, t.Context(), c); !r.OK() || !bytes.Equal(out.Bytes(), test.want) {
				t.Errorf("got %d bytes, want %d; %s", out.Len(), len(test.want), r.Reason)
			}
		})
	}
}

func TestChildThatDoesNotReadItsInput(t *testing.T) {
	t.Parallel()
	c := fake(t, "exit-3")
	c.Stdin = bytes.NewReader(make([]byte, 1<<22))
	if r := run(t, t.Context(), c); r.Code != 3 {
		t.Errorf("got %+v", r)
	}
}

func TestLongLineInBoundedMemory(t *testing.T) {
	t.Parallel()
	c := fake(t, "long-line")
	c.Tail = 1000
	r := run(t, t.Context(), c)
	const total = 100<<20 + len("\nend\n")
	if !r.OK() || len(r.Stdout.Text) != 1000 || cap(r.Stdout.Text) > 2000 || r.Stdout.Dropped != int64(total)-1000 {
		t.Errorf("%s, code %d: kept %d of cap %d, dropped %d", r.Reason, r.Code, len(r.Stdout.Text), cap(r.Stdout.Text), r.Stdout.Dropped)
	}
	if !bytes.HasSuffix(r.Stdout.Text, []byte("x\nend\n")) {
		t.Errorf("the tail ends in %q", r.Stdout.Text[980:])
	}
}

func TestFailingWriterEndsNothing(t *testing.T) {
	t.Parallel()
	c := fake(t, "long-line")
	w := &failing{}
	c.Stdout = w
	if r := run(t, t.Context(), c); !r.OK() || !bytes.HasSuffix(r.Stdout.Text, []byte("end\n")) {
		t.Errorf("got %s, code %d", r.Reason, r.Code)
	}
}

func TestOneWriterForBothPipes(t *testing.T) {
	t.Parallel()
	var both bytes.Buffer // has no lock: the race detector sees concurrent writes
	c := fake(t, "echo")
	c.Stdin = bytes.NewReader(make([]byte, 1<<20))
	c.Stdout, c.Stderr = &both, &both
	if r := run(t, t.Context(), c); !r.OK() || both.Len() != 1<<20+len("1048576 bytes\n") {
		t.Errorf("got %d bytes", both.Len())
	}
}

func TestDeadlines(t *testing.T) {
	for _, test := range []struct {
		name, fake    string
		timeout, idle time.Duration
		want          process.Reason
	}{
		{"silent child, idle", "stay", time.Minute, 300 * time.Millisecond, process.WentIdle},
		{"silent child, total", "stay", 300 * time.Millisecond, time.Minute, process.TimedOut},
		{"chatty child, total", "chatty", 2 * time.Second, time.Minute, process.TimedOut},
		{"chatty child is not idle", "chatty-for-a-while", time.Minute, 1500 * time.Millisecond, process.Exited},
		{"deaf child", "ignore-term", 300 * time.Millisecond, 0, process.TimedOut},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := fake(t, test.fake)
			c.Timeout, c.Idle, c.Grace = test.timeout, test.idle, time.Hour
			r := run(t, t.Context(), c)
			if r.Reason != test.want {
				t.Errorf("got %s, want %s", r.Reason, test.want)
			}
			if r.Reason != process.Exited && (r.Code != -1 || r.Signal != "SIGKILL" || r.OK()) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestCancelStopsSoftlyFirst(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := fake(t, "obey-term")
	c.Grace, c.Stdout = time.Minute, &once{word: "ready", f: cancel}
	r := run(t, ctx, c)
	if r.Reason != process.Cancelled || r.Code != 7 || !bytes.HasSuffix(r.Stdout.Text, []byte("bye\n")) || r.OK() {
		t.Errorf("got %+v", r)
	}
}

func TestCancelKillsAfterGrace(t *testing.T) {
	for name, grace := range map[string]time.Duration{"none": 0, "short": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			c := fake(t, "ignore-term")
			c.Grace, c.Stdout = grace, &once{word: "ready", f: cancel}
			if r := run(t, ctx, c); r.Reason != process.Cancelled || r.Signal != "SIGKILL" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestWithKillNeedsNoGrace(t *testing.T) {
	for _, test := range []struct {
		name string
		soft bool
	}{{"after the soft stop", true}, {"alone", false}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kill := make(chan struct{})
			ctx, cancel := context.WithCancel(process.WithKill(t.Context(), kill))
			defer cancel()
			c := fake(t, "ignore-term")
			c.Grace, c.Stdout = time.Hour, &once{word: "ready", f: func() {
				if test.soft {
					cancel()
				}
				close(kill)
			}}
			if r := run(t, ctx, c); r.Reason != process.Cancelled || r.Signal != "SIGKILL" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := fake(t, "touch")
	if r := run(t, ctx, c); r.Reason != process.Cancelled || r.Code != -1 {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "touched")); err == nil {
		t.Error("the child ran")
	}
}

func TestEnvironmentIsComplete(t *testing.T) {
	t.Setenv("FROM_THE_HOST", "1")
	c := fake(t, "environment")
	c.Env = []string{"A=1", "A=2", "AESOP_MARK=another"}
	r := run(t, t.Context(), c)
	if want := "A=2\nAESOP_MARK=" + c.Mark + "\n"; string(r.Stdout.Text) != want {
		t.Errorf("got %q, want %q", r.Stdout.Text, want)
	}
}

func TestProgramIsLookedUpInTheChildsPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho found\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir) // a relative entry would lead there, too
	for _, test := range []struct {
		program, path string
		found         bool
	}{
		{"tool", "/nowhere:" + dir, true},
		{"./tool", "", true}, // from the working directory, as asked
		{"tool", "", false},
		{"tool", ".", false}, // a folder that the agent can write
		{"tool", ":", false},
		{"data", dir, false},
		{"sh", dir, false}, // not in ours
	} {
		c := fake(t, "echo")
		c.Argv, c.Dir, c.Env = []string{test.program}, dir, []string{"PATH=" + test.path}
		r, err := process.Run(t.Context(), c)
		switch {
		case test.found && (err != nil || string(r.Stdout.Text) != "found\n"):
			t.Errorf("%s in PATH %q: %v, %q", test.program, test.path, err, r.Stdout.Text)
		case !test.found && !errors.Is(err, exec.ErrNotFound):
			t.Errorf("%s in PATH %q: %v, want not found", test.program, test.path, err)
		}
	}
}

func TestMalformedCommands(t *testing.T) {
	for name, spoil := range map[string]func(c *process.Command){
		"no argv":         func(c *process.Command) { c.Argv = nil },
		"empty program":   func(c *process.Command) { c.Argv = []string{""} },
		"relative dir":    func(c *process.Command) { c.Dir = "." },
		"no dir":          func(c *process.Command) { c.Dir = "" },
		"absent dir":      func(c *process.Command) { c.Dir += "/absent" },
		"exclusive root":  func(c *process.Command) { c.Dir, c.Exclusive = "/", true },
		"no mark":         func(c *process.Command) { c.Mark = "" },
		"mark of 2 lines": func(c *process.Command) { c.Mark = "a\nb" },
		"negative":        func(c *process.Command) { c.Idle = -1 },
		"no such program": func(c *process.Command) { c.Argv = []string{"/nowhere/tool"} },
		"zero byte":       func(c *process.Command) { c.Env = append(c.Env, "A=\x00") },
	} {
		c := fake(t, "touch")
		spoil(&c)
		if r, err := process.Run(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), "run ") {
			t.Errorf("%s: got %v and %+v, want an error", name, err, r)
		}
	}
}

func TestConfinerStartsTheChild(t *testing.T) {
	c := fake(t, "echo")
	confiner := &recording{}
	c.Confiner = confiner
	if r := run(t, t.Context(), c); !r.OK() || r.Confinement != "recording" || confiner.started != 1 {
		t.Errorf("got %+v, started %d", r, confiner.started)
	}
	confiner.fail = errors.New("no such right")
	if _, err := process.Run(t.Context(), c); !errors.Is(err, confiner.fail) {
		t.Errorf("got %v", err)
	}
}

type recording struct {
	started int
	fail    error
}

func (*recording) Name() string { return "recording" }

func (r *recording) Start(cmd *exec.Cmd) error {
	if r.fail != nil {
		return r.fail
	}
	r.started++
	return cmd.Start()
}

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errors.New("read fails") }
func (failing) Write([]byte) (int, error) { return 0, errors.New("write fails") }
