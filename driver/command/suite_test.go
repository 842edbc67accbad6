//go:build unix

package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"aesop/driver"
	"aesop/driver/command"
	"aesop/driver/drivertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		if play.Fail != "" && play.Fail != driver.Crashed {
			t.Skip("not applicable: a program can only fail by its exit code")
		}
		d, err := command.New(command.Config{Line: line(t, play)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// line is a command line that plays play.
func line(t *testing.T, play drivertest.Play) string {
	dir := t.TempDir()
	steps := []string{"set -e"}
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
	if play.Fail != "" {
		steps = append(steps, "exit 1")
	}
	return strings.Join(steps, "\n")
}
