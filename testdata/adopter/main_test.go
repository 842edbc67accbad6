package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/driver/drivertest"
	"aesop/wave/journal"
)

// TestSuite proves the driver. Of what can be played, this test plays what needs one line.
func TestSuite(t *testing.T) {
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		switch {
		case play.Prompt != "":
			return Shell{"cat >" + play.Prompt}
		case play.Hang == drivertest.Silent:
			return Shell{"sleep 3600"}
		case play.Hang == drivertest.Talking:
			return Shell{"while :; do echo still here; sleep 0.1; done"}
		case play.Files != nil || play.Usage != nil || play.Fail != "":
			t.Skip("not applicable: shown by the drivers of the library")
		}
		return Shell{"echo " + play.Say}
	})
}

// TestWork runs a wave behind a closed gate, and one behind an open one.
func TestWork(t *testing.T) {
	for limit, want := range map[int64]struct {
		outcome journal.Outcome
		said    string
	}{0: {journal.Ceiling, ""}, 1: {journal.Good, "shipped 1 item\n"}} {
		var said strings.Builder
		report, err := Work(t.Context(), repository(t), t.TempDir(), Shell{"echo hello >greeting.txt"}, &AtMost{Limit: limit}, &said)
		if err != nil || report.Outcome != want.outcome || said.String() != want.said {
			t.Errorf("at most %d: %s, said %q, %v", limit, report.Outcome, &said, err)
		}
	}
}

// repository makes one with a commit and a backlog.
func repository(t *testing.T) string {
	t.Helper()
	repo := t.TempDir()
	for name, text := range map[string]string{"README": "A repository.\n",
		"tracker.json": `[{"id": "greet", "slug": "greet", "ownsFiles": ["greeting.txt"], "prompt": "Say hello.", "testCmd": "grep -q hello greeting.txt"}]`} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "README"},
		{"-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "--quiet", "--message=Begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return repo
}
