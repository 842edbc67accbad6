package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"aesop/examples/internal/clitest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"aesop-jobs": main, "fake-agent": clitest.FakeAgent})
}

func TestScripts(t *testing.T) { clitest.Run(t) }
