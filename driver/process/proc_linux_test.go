package process

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestParseStat(t *testing.T) {
	const rest = " 11 22 33 34816 22 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 20"
	for _, name := range []string{"sh", "a b", "a) S 1 2 3 (b", "", ")"} {
		p, state, ok := parseStat([]byte("123 (" + name + ") S" + rest))
		want := process{parent: 11, session: 33, start: 987654, name: name}
		if !ok || state != 'S' || p != want {
			t.Errorf("name %q: got %+v, %c, %v", name, p, state, ok)
		}
	}
	for _, line := range []string{"", "123", "123 (sh)", "123 (sh) S 1 2", "123 )sh( S" + rest, "123 (sh) SS" + rest, "123 (sh) S x" + rest[3:]} {
		if p, _, ok := parseStat([]byte(line)); ok {
			t.Errorf("%q was taken as %+v", line, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	if own, err := os.ReadFile("/proc/self/stat"); err == nil {
		f.Add(own)
	}
	f.Add([]byte("1 (a) b) Z 1 1 1"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, _, ok := parseStat(line); !ok && p != (process{}) {
			t.Errorf("half of a line: %+v", p)
		}
	})
}

// TestKillIsForOneProcessAndNotForItsPid holds a description of another process that had the same pid.
func TestKillIsForOneProcessAndNotForItsPid(t *testing.T) {
	cmd := sleeper(t)
	p, err := look(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	older := p
	older.start--
	older.kill()
	if now, err := look(p.pid); err != nil || now.start != p.start {
		t.Errorf("the process is gone: %+v, %v", now, err)
	}
	p.kill()
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("got %v", err)
	}
	p.kill() // of one that is gone does nothing
}

// TestSurvivorsAreNamed has no time to see the process die.
func TestSurvivorsAreNamed(t *testing.T) {
	cmd := sleeper(t, markVariable+"=survivor")
	p, err := look(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	program, _ := exec.LookPath("sleep")
	program, _ = filepath.EvalSymlinks(program)
	if got, want := p.survivor(), (Survivor{PID: p.pid, Program: filepath.Base(program), Mark: "survivor"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := eradicate(ctx, p.start, func(q *process) bool { return q.pid == p.pid })
	if err != nil || len(got) != 1 || got[0].PID != p.pid {
		t.Errorf("got %v, %v; want process %d", got, err, p.pid)
	}
	_ = cmd.Wait()
}

func TestOlderProcessesAreNoMembers(t *testing.T) {
	cmd := sleeper(t)
	p, err := look(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	self := func(q *process) bool { return q.pid == p.pid }
	if got, err := eradicate(t.Context(), p.start+1, self); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := look(p.pid); err != nil {
		t.Errorf("the older process: %v", err)
	}
}

func TestLimitOfAMark(t *testing.T) {
	first, again := limitOf("a"), limitOf("a")
	if first == limitOf("b") || first != again || first < 1<<59 || first >= 1<<60 {
		t.Error("the limits of marks are not apart, not stable or not beyond those that people set")
	}
}

func sleeper(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "3600")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

func BenchmarkLook(b *testing.B) {
	for b.Loop() {
		if _, err := processes(0, nil); err != nil {
			b.Fatal(err)
		}
	}
}
