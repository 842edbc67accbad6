//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/driver/drivertest"
)

func TestSuite(t *testing.T) {
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		if _, played := exitCodes()[play.Fail]; !played {
			t.Skip("not applicable: this program has no exit code that says so")
		}
		return Agent{Program: fake(t, play)}
	})
}

// exitCodes are how the played agent says that it failed.
func exitCodes() map[driver.Class]int {
	return map[driver.Class]int{"": 0, driver.Crashed: 1, driver.InvalidOutput: 65, driver.Overloaded: 69, driver.RateLimited: 75, driver.Auth: 77}
}

// fake is a program that plays play.
func fake(t *testing.T, play drivertest.Play) string {
	t.Helper()
	dir := t.TempDir()
	steps := []string{"#!/bin/sh", "set -e"}
	for name, text := range play.Files {
		path := filepath.Join(dir, "files", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(play.Files) > 0 {
		steps = append(steps, fmt.Sprintf("cp -R '%s/files/.' .", dir))
	}
	if play.Prompt != "" {
		steps = append(steps, fmt.Sprintf("cat > '%s'", play.Prompt))
	}
	if play.Say != "" {
		steps = append(steps, fmt.Sprintf("echo '%s'", play.Say))
	}
	if u := play.Usage; u != nil {
		steps = append(steps, fmt.Sprintf(`echo '{"model": "%s", "input": %d, "cacheRead": %d, "output": %d, "reasoning": %d}' >"$AESOP_ATTEMPT_DIR"/usage.json`,
			u.Model, u.Input, u.CacheRead, u.Output, u.Reasoning))
	}
	switch play.Hang {
	case drivertest.Silent:
		steps = append(steps, "sleep 3600")
	case drivertest.Talking:
		steps = append(steps, "while :; do echo still here; sleep 0.1; done")
	}
	steps = append(steps, fmt.Sprintf("exit %d", exitCodes()[play.Fail]))
	program := filepath.Join(dir, "my-agent")
	if err := os.WriteFile(program, []byte(strings.Join(steps, "\n")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestHowTheProgramIsCalled: the model of the role unless the task names one, and what keeps a reader from writing.
func TestHowTheProgramIsCalled(t *testing.T) {
	program := filepath.Join(t.TempDir(), "my-agent")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for want, task := range map[string]driver.Task{
		"--model large":             {},
		"--model small --read-only": {Role: driver.Reviewer, ReadOnly: true},
		"--model mine":              {Model: "mine"},
	} {
		task.Dir, task.AttemptDir, task.Mark = t.TempDir(), t.TempDir(), filepath.Base(t.TempDir())+t.Name()
		task.Environment = []string{"PATH=" + os.Getenv("PATH")}
		result, err := Agent{Program: program}.Run(t.Context(), task, nil)
		if err != nil || result.Summary != want {
			t.Errorf("called with %q, want %q: %v", result.Summary, want, err)
		}
	}
}
