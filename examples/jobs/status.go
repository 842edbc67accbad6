package main

import (
	"fmt"
	"io"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
)

type statusCommand struct {
	cli.Common
	named
	Set        *string `help:"End the job as completed, failed or cancelled, or give its attempt up with pending." placeholder:"STATUS"`
	Transition *int    `help:"With --set, required: the transition that was looked at. A job that has gone on since is refused." placeholder:"N"`
	Reason     string  `help:"With --set: why; shown with the job." placeholder:"TEXT"`
}

func (statusCommand) Help() string {
	return `Examples:

  aesop-jobs status manual/greet
  aesop-jobs status manual/greet --set failed --transition 2 --reason 'the machine is gone'

--set is an operator's word. It says on which transition it was decided, which aesop-jobs status prints; where the job has gone on meanwhile, also
in the same moment, that is exit code 4 and nothing is changed. A job that stands so already, on an operator's or its worker's own word, is no
error. From an end, pending is aesop-jobs redispatch. A status that there is not is exit code 1 and opens nothing.`
}

type statusDocument struct {
	SchemaVersion int         `json:"schemaVersion"`
	Job           jobDocument `json:"job"`
}

func (cmd statusCommand) Run(c *cli.Context) error {
	if cmd.Set != nil {
		return cmd.set(c)
	}
	if cmd.Transition != nil || cmd.Reason != "" {
		return &cli.Problem{Code: "usage", Message: "--transition and --reason are for --set"}
	}
	return with(c, cmd.Common, false, func(d *desk) error {
		return d.store.View(d, func(r statestore.Reader) error {
			record, err := find(r, cmd.id(c))
			if err != nil {
				return err
			}
			d.Print(statusDocument{schemaVersion, newJob(record)}, func(w io.Writer) { fmt.Fprintln(w, standing(record)) })
			return nil
		})
	})
}

func (cmd statusCommand) set(c *cli.Context) error {
	status, err := statusOf(*cmd.Set, job.Pending, job.Completed, job.Failed, job.Cancelled)
	if err != nil {
		return err
	}
	if cmd.Transition == nil {
		return &cli.Problem{Code: "usage", Message: "--set needs --transition", Hint: "the number that aesop-jobs status prints: a job that has gone on since is then refused"}
	}
	return decide(c, cmd.Common, func(tx statestore.Tx) (job.Decision, error) {
		record, err := get(tx, cmd.id(c))
		if err != nil {
			return job.Decision{}, err
		}
		switch {
		case status == job.Pending && record.Status == job.Pending:
			return job.Decision{Outcome: job.Idempotent, Text: fmt.Sprintf("job %s is pending", record.ID), Record: record}, nil
		case status == job.Pending && record.Status.Ended():
			return job.Decision{Outcome: job.Conflict, Reason: job.AlreadyEnded, Record: record,
				Text: fmt.Sprintf("job %s has ended as %s: aesop-jobs redispatch %s begins its next round", record.ID, record.Status, record.ID)}, nil
		}
		by := job.Operator{TransitionSeq: *cmd.Transition}
		if record.Status == status && record.Explicit { // as it is wanted: nothing is decided that could be out of date
			by.TransitionSeq = record.TransitionSeq
		}
		return job.Apply(tx, request(status, cmd.id(c), by, c.Redactor.String(cmd.Reason)))
	})
}

// request asks for a status as an operator.
func request(status job.Status, id string, by job.Operator, reason string) job.Request {
	switch status {
	case job.Completed:
		return job.Complete{ID: id, By: by, Reason: reason}
	case job.Failed:
		return job.Fail{ID: id, By: by, Reason: reason}
	case job.Cancelled:
		return job.Cancel{ID: id, By: by, Reason: reason}
	case job.Pending:
		return job.Requeue{ID: id, By: by, Reason: reason}
	}
	return nil // which is no request
}
