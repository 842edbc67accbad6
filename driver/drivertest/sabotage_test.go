//go:build unix

package drivertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aesop/driver"
	"aesop/driver/drivertest"
	"aesop/driver/script"
)

// sabotageVariable names the defect of the driver that TestSabotaged runs in a child process.
const sabotageVariable = "AESOP_TEST_SABOTAGE"

// sabotaged is a good driver with one defect.
type sabotaged struct {
	driver.Driver
	defect string
	calls  *int
}

func (s sabotaged) Info() driver.Info {
	info := s.Driver.Info()
	switch s.defect {
	case "info changes":
		*s.calls++
		info.Tier = 1 + *s.calls%2
	case "no tier":
		info.Tier = 0
	}
	return info
}

func (s sabotaged) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	switch s.defect {
	case "events without a receiver":
		emit(driver.Event{Kind: "progress"})
	case "writes outside":
		_ = os.WriteFile(filepath.Join(t.Dir, "..", "stray.txt"), nil, 0o644)
	case "deletes outside":
		_ = os.RemoveAll(filepath.Join(t.Dir, "..", "neighbour", "file.txt"))
	case "prompt in arguments":
		cmd := exec.Command("sh", "-c", "sleep 20; true", t.Prompt[:min(len(t.Prompt), 1000)])
		if cmd.Start() == nil {
			defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
		}
	case "deaf to the context":
		ctx = context.WithoutCancel(ctx)
		if t.Budget.Timeout == 0 {
			t.Budget.Timeout = 3 * time.Second
		}
	case "no idle limit":
		t.Budget.Idle, t.Budget.Timeout = 0, min(t.Budget.Timeout, 3*time.Second)
	case "one tree for all":
		if dir := os.Getenv("TMPDIR"); strings.Contains(t.Mark, "TasksDoNotMix") {
			t.Dir = dir
		}
	}
	result, err := s.Driver.Run(ctx, t, emit)
	switch s.defect {
	case "leaves a process":
		cmd := exec.Command("sleep", "20")
		cmd.Env = []string{"AESOP_MARK=" + t.Mark}
		if cmd.Start() == nil {
			go func() { _ = cmd.Wait() }()
		}
	case "foreign error":
		if err != nil {
			err = errors.New(err.Error())
		}
	case "unknown class":
		if err != nil {
			err = &driver.Error{Class: "tired"}
		}
	case "forgets usage of a failure":
		if err != nil {
			result.Calls = nil
		}
	case "invents usage":
		result.Metered = true
	case "silent about confinement":
		result.Confinement = ""
	case "events after the end":
		if emit != nil {
			go func() {
				tick := time.NewTicker(time.Millisecond)
				defer tick.Stop()
				for range 200 {
					emit(driver.Event{Kind: "text"})
					<-tick.C
				}
			}()
		}
	case "budget as a crash":
		if driver.ClassOf(err) == driver.Truncated {
			err = &driver.Error{Class: driver.Crashed}
		}
	case "deadline as a crash":
		if driver.ClassOf(err) == driver.Timeout {
			err = &driver.Error{Class: driver.Crashed}
		}
	}
	return result, err
}

// TestSabotaged is run by TestSuiteCatches only.
func TestSabotaged(t *testing.T) {
	defect := os.Getenv(sabotageVariable)
	if defect == "" {
		t.Skip("not applicable: the child of TestSuiteCatches")
	}
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		if play.Prompt != "" {
			t.Skip("not applicable: a script does not read its prompt")
		}
		attempt := map[string]any{"say": play.Say, "fail": play.Fail, "files": play.Files}
		if u := play.Usage; u != nil {
			attempt["usage"] = map[string]any{"input": u.Input, "cacheRead": u.CacheRead, "output": u.Output}
		}
		switch play.Hang {
		case drivertest.Silent:
			attempt["exec"] = "sleep 3600"
		case drivertest.Talking:
			attempt["exec"] = "while :; do echo still here; sleep 0.1; done"
		}
		for key, value := range attempt {
			if text, ok := value.(driver.Class); ok && text == "" || key == "files" && play.Files == nil {
				delete(attempt, key)
			}
		}
		data, err := json.Marshal(map[string]any{"slug": []any{attempt}})
		if err != nil {
			t.Fatal(err)
		}
		good, err := script.Parse("play.json", data)
		if err != nil {
			t.Fatal(err)
		}
		return sabotaged{Driver: good, defect: defect, calls: new(int)}
	})
}

// TestSuiteCatches wants a failure in the test that is about the defect.
func TestSuiteCatches(t *testing.T) {
	for defect, test := range map[string]string{
		"info changes":               "InfoIsStatic",
		"no tier":                    "InfoIsStatic",
		"events without a receiver":  "WorksOnlyBelowDir",
		"events after the end":       "WorksOnlyBelowDir",
		"writes outside":             "WorksOnlyBelowDir",
		"deletes outside":            "WorksOnlyBelowDir",
		"leaves a process":           "WorksOnlyBelowDir",
		"prompt in arguments":        "NothingSecretInArguments",
		"deaf to the context":        "Cancelled/silent",
		"deadline as a crash":        "TotalDeadline",
		"budget as a crash":          "TokenBudget",
		"no idle limit":              "IdleDeadline",
		"one tree for all":           "TasksDoNotMix",
		"foreign error":              "Failures/overloaded",
		"unknown class":              "Failures/overloaded",
		"forgets usage of a failure": "Failures/overloaded",
		"invents usage":              "UsageIsUnknownWhenNotSaid",
		"silent about confinement":   "WorksOnlyBelowDir",
	} {
		t.Run(defect, func(t *testing.T) {
			if runtime.GOOS != "linux" && (defect == "leaves a process" || defect == "prompt in arguments") {
				t.Skip("processes are looked for on Linux only")
			}
			t.Parallel()
			name, class, _ := strings.Cut(test, "/")
			cmd := exec.Command(os.Args[0], "-test.run=^TestSabotaged$/^"+name+"$/^"+class+"$")
			cmd.Env = append(os.Environ(), sabotageVariable+"="+defect, "TMPDIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestSabotaged/"+test) {
				t.Errorf("not caught: %v\n%s", err, out)
			}
		})
	}
}
