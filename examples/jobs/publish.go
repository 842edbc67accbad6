package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"aesop/examples/internal/cli"
	"aesop/statestore/job"
	"aesop/statestore/job/manifest"
	"aesop/tracker"
)

type publishCommand struct {
	cli.Common
	Job            string   `arg:"" optional:"" help:"Id of the job (default: that of the token; of an agent below a wave, its own)."`
	Token          string   `env:"AESOP_TOKEN" help:"The attempt's token, which aesop-jobs claim printed; the variable keeps it from other users." placeholder:"T"`
	Status         *string  `help:"How it ended: completed, failed or cancelled (default: it has not ended)." placeholder:"STATUS"`
	Reason         string   `help:"Why; shown with the job." placeholder:"TEXT"`
	Progress       []string `help:"A field to add to those of the job." placeholder:"NAME=VALUE" sep:"none" xor:"progress"`
	ProgressFile   given    `help:"A JSON object of fields to add." placeholder:"FILE" xor:"progress"`
	FinalizeReport given    `help:"Finalise this report first. It is moved to the name report beside a manifest, in AESOP_ATTEMPT_DIR, or else where it lies." placeholder:"FILE"`
	SideEffect     []string `help:"With --finalize-report: what was done elsewhere, and where that can be seen." placeholder:"KIND=REF" sep:"none"`
	AttemptID      given    `name:"attempt-id" help:"Refuse unless the attempt is this one." placeholder:"ID"`
}

func (publishCommand) Help() string {
	return `Examples:

  AESOP_TOKEN=TOKEN aesop-jobs publish --progress tests=12
  AESOP_TOKEN=TOKEN aesop-jobs publish --status failed --reason 'no disk'
  aesop-jobs publish --status completed --finalize-report report.md --side-effect file=dist/notes.md

With a token it is published in the store, all in one transaction or nothing. Without one, in a folder AESOP_ATTEMPT_DIR, it is put into that
folder as publish.json, which the engine of the wave reads when the agent has ended; no store is opened then. Where a report cannot be
finalised nothing is published. Kinds of side effects are file, commit, url and command; nobody looks at them here: infer does, before it completes a job. The same
once more is no error, and changes nothing.`
}

// told is what a command line publishes, without secrets.
type told struct {
	status job.Status
	reason string
	fields json.RawMessage // nil: none
	report *draft          // nil: none
	other  bool            // the report is not the one that was published
}

func (cmd publishCommand) Run(c *cli.Context) error {
	if cmd.Token != "" {
		_ = c.Redactor.Register(cmd.Token) // what is too short to be a token is known to no job
	}
	t, err := cmd.told(c)
	if err != nil {
		return err
	}
	if cmd.Token != "" {
		attempt := tracker.AttemptID(cmd.Token)
		if cmd.AttemptID != "" && string(cmd.AttemptID) != attempt {
			return refuse(string(job.StaleAttempt), "nothing is published", "--attempt-id is %s, and the token's is %s", cmd.AttemptID, attempt)
		}
		return with(c, cmd.Common, true, func(d *desk) error { return cmd.work(d, t) })
	}
	if dir := os.Getenv("AESOP_ATTEMPT_DIR"); dir != "" {
		return cmd.drop(c, dir, t)
	}
	return &cli.Problem{Code: "usage", Message: "neither a token nor AESOP_ATTEMPT_DIR is given",
		Hint: "a worker sets AESOP_TOKEN to what aesop-jobs claim printed; an agent below a wave has AESOP_ATTEMPT_DIR from it"}
}

// told reads the flags, and refuses what needs no look at anything.
func (cmd publishCommand) told(c *cli.Context) (t told, err error) {
	if cmd.Status != nil {
		if t.status, err = statusOf(*cmd.Status, job.Completed, job.Failed, job.Cancelled); err != nil {
			return t, err
		}
	}
	t.reason = c.Redactor.String(cmd.Reason)
	if cmd.ProgressFile != "" {
		t.fields, err = fieldsOf(c, string(cmd.ProgressFile))
	} else {
		t.fields, err = pairs(c, "progress", cmd.Progress)
	}
	if err != nil {
		return t, err
	}
	if cmd.FinalizeReport != "" {
		t.report = &draft{file: string(cmd.FinalizeReport)}
	}
	for _, pair := range cmd.SideEffect {
		kind, ref, _ := strings.Cut(c.Redactor.String(pair), "=")
		if kind == "" || ref == "" || t.report == nil {
			return t, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--side-effect %s has no kind, reference or report", pair),
				Hint: "write --finalize-report FILE --side-effect KIND=REF; without a reference it is no evidence"}
		}
		t.report.sideEffects = append(t.report.sideEffects, manifest.SideEffect{Kind: kind, Ref: ref})
	}
	switch {
	case t.status == job.Cancelled && t.report != nil:
		return t, &cli.Problem{Code: "usage", Message: "what is cancelled has no report"}
	case t.status == "" && t.reason != "":
		return t, &cli.Problem{Code: "usage", Message: "--reason is for --status"}
	case t.status == "" && t.fields == nil && t.report == nil:
		return t, &cli.Problem{Code: "usage", Message: "there is nothing to publish", Hint: "give --status, --progress or --finalize-report"}
	}
	return t, nil
}
