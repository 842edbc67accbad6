//go:build unix

package claude_test

import (
	"testing"

	"aesop/driver"
	"aesop/driver/claude"
	"aesop/internal/agentproc/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

// open is a driver of a program.
func open(t testing.TB, program string) *claude.Driver {
	t.Helper()
	d, err := claude.New(claude.Config{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGolden(t *testing.T) {
	agenttest.Golden(t, func(program string) driver.Driver { return open(t, program) })
}
