package main

import (
	"cmp"
	"fmt"
	"strings"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
)

type redispatchCommand struct {
	cli.Common
	named
	operated
	Iteration  *int   `help:"The round that begins (default: the next)." placeholder:"N"`
	Reason     string `help:"Why; shown with the job." placeholder:"TEXT"`
	OrFinalize bool   `help:"Where the job has no round left, finalize it."`
}

func (redispatchCommand) Help() string {
	return `Examples:

  aesop-jobs redispatch manual/greet
  aesop-jobs redispatch manual/greet --or-finalize

The job becomes pending again, without the attempt that it had, and with all its fields. A round that is not after the last one is refused, so that
nothing is begun twice by the same command line with --iteration. After its last round a job is refused, and is to be finalized.`
}

func (cmd redispatchCommand) Run(c *cli.Context) error {
	return decide(c, cmd.Common, func(tx statestore.Tx) (job.Decision, error) {
		record, err := get(tx, cmd.id(c))
		if err != nil {
			return job.Decision{}, err
		}
		next := record.Iteration + 1
		if cmd.Iteration != nil {
			next = *cmd.Iteration
		}
		d, err := job.Apply(tx, job.Redispatch{ID: cmd.id(c), By: cmd.by(record), Iteration: next, Reason: c.Redactor.String(cmd.Reason)})
		if err == nil && cmd.OrFinalize && (d.Reason == job.BudgetUsedUp && record.Iteration >= record.MaxIterations || d.Reason == job.AlreadyFinal) {
			reason := cmp.Or(c.Redactor.String(cmd.Reason), fmt.Sprintf("the budget of %d iterations is used up", record.MaxIterations))
			return job.Apply(tx, job.Finalize{ID: cmd.id(c), By: cmd.by(record), Reason: reason})
		}
		return d, err
	})
}

type finalizeCommand struct {
	cli.Common
	named
	operated
	Reason string `required:"" help:"Why; shown with the job." placeholder:"TEXT"`
}

func (finalizeCommand) Help() string {
	return `Example:

  aesop-jobs finalize manual/greet --reason 'good enough'

A job that ended stays as it ended, one that runs has failed. Neither is dispatched again. A pending one has no end to keep: cancel it, by
aesop-jobs status JOB --set cancelled.`
}

func (cmd finalizeCommand) Run(c *cli.Context) error {
	if strings.TrimSpace(cmd.Reason) == "" {
		return &cli.Problem{Code: "usage", Message: "the reason is empty", Hint: "say why, for who finds it"}
	}
	return decide(c, cmd.Common, func(tx statestore.Tx) (job.Decision, error) {
		record, err := get(tx, cmd.id(c))
		if err != nil {
			return job.Decision{}, err
		}
		return job.Apply(tx, job.Finalize{ID: cmd.id(c), By: cmd.by(record), Reason: c.Redactor.String(cmd.Reason)})
	})
}
