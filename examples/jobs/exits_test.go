package main

import (
	"testing"

	"aesop/examples/internal/cli"
	"aesop/statestore/job"
)

// TestExitCodes is the table from what became of a request to the exit code.
func TestExitCodes(t *testing.T) {
	for outcome, want := range map[job.Outcome]int{
		job.Applied:    cli.OK,
		job.Idempotent: cli.OK,
		job.Invalid:    cli.NotGood,
		job.Refused:    cli.Refused,
		job.Conflict:   cli.Refused,
		"":             cli.Usage, // never silently good
		"new":          cli.Usage,
	} {
		if got := exitOf(outcome); got != want {
			t.Errorf("%q is exit code %d, want %d", outcome, got, want)
		}
	}
}
