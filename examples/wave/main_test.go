package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"aesop/examples/internal/clitest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wave": main, "fake-agent": clitest.FakeAgent})
}

func TestScripts(t *testing.T) { clitest.Run(t) }

// TestFailures are the failures that people who begin meet most: how each looks, and that what PORTING.md says about it helps.
func TestFailures(t *testing.T) { clitest.RunIn(t, filepath.Join("testdata", "failures")) }
