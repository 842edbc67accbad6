package main

import (
	"strings"
	"testing"

	"aesop/examples/internal/cli"
	"aesop/examples/internal/clitest"
	"aesop/redact/scan"
)

func TestProgressOnATerminal(t *testing.T) {
	terminal := &clitest.Terminal{Columns: 80}
	screen := cli.NewScreen(terminal, func() (columns, rows int) { return 80, 24 })
	progress(&cli.Context{Screen: screen})(scan.Progress{Commits: 1, OfCommits: 2, Blobs: 3})
	if !strings.Contains(terminal.String(), "scanning: 1 of 2 commits, 3 blobs") {
		t.Errorf("it shows %q", terminal.String())
	}
	if progress(&cli.Context{}) != nil {
		t.Error("it would draw where there is no terminal")
	}
}
