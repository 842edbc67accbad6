package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aesop/examples/internal/clitest"
)

// openPTY is a terminal of the kernel's: what programs see, and the other end.
func openPTY(t *testing.T, columns, rows int) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("not applicable: no terminal can be made here: %v", err)
	}
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)}); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("not applicable: no terminal can be opened here: %v", err)
	}
	return person, program
}

// session is a program on a terminal.
type session struct {
	t      *testing.T
	shown  *clitest.Terminal
	person *os.File
	cmd    *exec.Cmd
	ended  chan error
}

// columns is enough for what is waited for to stand on one line.
const columns = 300

// onTerminal starts the built binary on a terminal.
func (g ground) onTerminal(env []string, args ...string) *session {
	g.t.Helper()
	person, program := openPTY(g.t, columns, 24)
	s := &session{t: g.t, shown: &clitest.Terminal{Columns: columns}, person: person, ended: make(chan error, 1)}
	cmd := exec.CommandContext(g.t.Context(), "wave", append(args, "--repo", g.path("repo"), "--state", g.path("state"), "--tracker", g.path("tracker.json"), "--config", g.path("aesop.json"))...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm", "NO_COLOR=", "USER=tester"}, env...)...)
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	s.cmd = cmd
	_ = program.Close() // the program has its own
	read := make(chan struct{})
	go func() {
		defer close(read)
		if _, err := io.Copy(s.shown, person); err != nil && !errors.Is(err, syscall.EIO) { // what Linux says at the end
			g.t.Error(err)
		}
	}()
	go func() { err := cmd.Wait(); <-read; s.ended <- err }()
	g.t.Cleanup(func() { _ = person.Close() })
	return s
}

func (s *session) await(text string) {
	s.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for !strings.Contains(s.shown.String(), text) {
		select {
		case <-tick.C:
		case <-limit:
			s.t.Fatalf("%q is never shown; what is:\n%s", text, s.shown)
		}
	}
}

func (s *session) say(line string) {
	s.t.Helper()
	if _, err := s.person.WriteString(line + "\n"); err != nil {
		s.t.Fatal(err)
	}
}

// end is what is shown when the program has ended.
func (s *session) end() string {
	s.t.Helper()
	if err := <-s.ended; err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			s.t.Fatal(err)
		}
	}
	if unknown := s.shown.Unknown(); len(unknown) > 0 {
		s.t.Errorf("control sequences %q", unknown)
	}
	return s.shown.String()
}

func TestOnATerminal(t *testing.T) {
	g := newGround(t)
	g.write("tracker.json", []byte(`[{"id": "a", "slug": "a", "title": "Add a", "ownsFiles": ["a.txt"], "prompt": "x", "testCmd": "grep good a.txt"},
  {"id": "b", "slug": "b", "ownsFiles": ["b.txt"], "prompt": "x", "testCmd": "grep good b.txt"}]`))
	s := g.onTerminal(nil, "run", "--supervise", "--driver", "command", "--agent-cmd", "fake-agent wait "+g.path("go")+" write $AESOP_ITEM.txt=good")
	s.await("  a  agent at work")
	s.await("  b  agent at work")
	g.write("go", nil)
	s.await("skip (s)?")
	s.await("+good")
	if strings.Contains(s.shown.String(), "agent at work") {
		t.Errorf("the lines stand beside the question:\n%s", s.shown)
	}
	s.say("perhaps")
	s.await(`"perhaps" is no answer`)
	s.say("c")
	s.await("a folder with the corrected files is needed")
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/a.txt", []byte("good, better\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second := "a", "b"
	if !strings.Contains(s.shown.String(), "a waits for approval at") {
		first, second = "b", "a" // whichever was verified first
	}
	if first == "b" {
		s.say("s")
		s.await("b goes on waiting")
	}
	s.await("a: approve (a)")
	s.say("c " + folder)
	s.await("the correction is tested")
	s.await("corrected by tester, its tests pass")
	if second == "b" {
		s.await("b: approve (a)")
		s.say("r not now")
		s.await("rejected")
	}
	s.await("+good, better")
	s.say("a")
	if second == "a" {
		s.await("waits for approval")
		if code := g.command("approve", "b"); code != 0 {
			t.Errorf("approve from elsewhere: exit %d", code)
		}
	}
	shown := s.end()
	if !strings.Contains(shown, "  a                shipped") || !strings.Contains(shown, ", corrected by hand") || strings.Contains(shown, " tokens ") {
		t.Errorf("in the end:\n%s", shown)
	}
}

// command runs the built binary beside, and returns its exit code.
func (g ground) command(args ...string) int {
	g.t.Helper()
	cmd := exec.Command("wave", append(args, "--repo", g.path("repo"), "--state", g.path("state"), "--tracker", g.path("tracker.json"), "--config", g.path("aesop.json"))...)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		g.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// TestInterruptLeavesTheTerminalAsItWas, and so does a person who wants no drawing.
func TestInterruptLeavesTheTerminalAsItWas(t *testing.T) {
	for name, env := range map[string][]string{"drawn": nil, "no color": {"NO_COLOR=1"}, "dumb": {"TERM=dumb"}} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			s := g.onTerminal(env, "run", "--driver", "command", "--agent-cmd", "exec fake-agent touch "+g.path("started")+" wait "+g.path("never"))
			if env == nil {
				s.await("  a  agent at work")
			} else {
				s.await("a: agent at work, round 1")
			}
			s.await("agent at work")
			if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			shown := s.end()
			if !strings.Contains(shown, "interrupted") || !strings.Contains(shown, "stopping: agents end softly") || strings.Contains(shown, " tokens ") {
				t.Errorf("in the end:\n%s", shown)
			}
		})
	}
}
