//go:build unix

package codex_test

import (
	"testing"

	"aesop/driver"
	"aesop/driver/codex"
	"aesop/internal/agentproc/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

// open is a driver of a program.
func open(t testing.TB, program string) *codex.Driver {
	t.Helper()
	d, err := codex.New(codex.Config{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGolden(t *testing.T) {
	agenttest.Golden(t, func(program string) driver.Driver { return open(t, program) })
}
