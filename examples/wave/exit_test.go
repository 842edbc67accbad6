package main

import (
	"errors"
	"testing"

	"aesop/examples/internal/cli"
	"aesop/wave"
	"aesop/wave/journal"
)

// TestExitOfOutcomes is the table from outcomes of waves to exit codes.
func TestExitOfOutcomes(t *testing.T) {
	for outcome, want := range map[journal.Outcome]int{
		journal.Good: cli.OK, journal.NothingToDo: cli.OK,
		journal.Partial: cli.NotGood, journal.Failed: cli.NotGood, journal.NothingSelectable: cli.NotGood, journal.BaseRed: cli.NotGood,
		journal.ErrorOutcome: cli.Usage, journal.GateUnavailable: cli.Usage,
		journal.Halted: cli.Stopped, journal.Ceiling: cli.Stopped, journal.Interrupted: cli.Stopped,
		journal.ConflictOutcome: cli.Refused,
		"of a later version":    cli.NotGood,
	} {
		code := cli.OK
		if exit, ok := errors.AsType[*cli.Exit](exitOf(outcome)); ok {
			code = exit.Code
		}
		if code != want {
			t.Errorf("%s: exit %d, want %d", outcome, code, want)
		}
	}
}

func TestOutcomeOfSeveralWaves(t *testing.T) {
	for _, tt := range []struct {
		waves []journal.Outcome
		want  journal.Outcome
	}{
		{nil, journal.NothingToDo},
		{[]journal.Outcome{journal.Good, journal.Good}, journal.Good},
		{[]journal.Outcome{journal.Good, journal.Failed}, journal.Partial},
		{[]journal.Outcome{journal.Partial}, journal.Partial},
		{[]journal.Outcome{journal.Failed, journal.Failed}, journal.Failed},
		{[]journal.Outcome{journal.Good, journal.Halted}, journal.Halted},
		{[]journal.Outcome{journal.NothingSelectable}, journal.NothingSelectable},
	} {
		var reports []wave.Report
		for _, o := range tt.waves {
			reports = append(reports, wave.Report{Outcome: o})
		}
		if got := drained(reports); got != tt.want {
			t.Errorf("%v together are %s, want %s", tt.waves, got, tt.want)
		}
	}
}
