package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
)

type watchCommand struct {
	cli.Common
	named
	Until   []string       `required:"" help:"The statuses to wait for, with commas." placeholder:"STATUS"`
	Timeout *time.Duration `help:"How long to wait (default: as long as it takes)." placeholder:"D"`
}

func (watchCommand) Help() string {
	return `Example:

  aesop-jobs watch manual/greet --until completed,failed,cancelled,timed_out --timeout 1h

It is woken by what is committed. A time that is up is exit code 3 and says nothing about the job. A job that has ended for good, another way,
is exit code 4: it will never be as was expected.`
}

// errLate says that the time to wait is up.
var errLate = errors.New("the time is up")

func (cmd watchCommand) Run(c *cli.Context) error {
	var until []job.Status
	if len(cmd.Until) == 0 {
		cmd.Until = []string{""} // which is what was given
	}
	for _, word := range cmd.Until {
		status, err := statusOf(word, statuses()...)
		if err != nil {
			return err
		}
		until = append(until, status)
	}
	return with(c, cmd.Common, false, func(d *desk) error {
		ctx := d.Context.Context
		if cmd.Timeout != nil {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, *cmd.Timeout, errLate)
			defer cancel()
		}
		record, err := d.await(ctx, cmd.id(c), func(r job.Record) bool { return slices.Contains(until, r.Status) || r.Final })
		if errors.Is(context.Cause(ctx), errLate) && errors.Is(err, ctx.Err()) {
			return &cli.Exit{Code: cli.Stopped, Err: &cli.Problem{Code: "timeout", Message: fmt.Sprintf("the time is up; %s", standing(record)),
				Hint: "the job is as it was"}}
		}
		if err != nil {
			return err
		}
		if !slices.Contains(until, record.Status) {
			return refuse(string(job.AlreadyFinal), "", "it will not come to that: %s", standing(record))
		}
		d.Print(statusDocument{schemaVersion, newJob(record)}, func(w io.Writer) { fmt.Fprintln(w, standing(record)) })
		return nil
	})
}

// await returns a job once it is as is wanted, and the newest that was seen of it beside an error. It looks at a state of the store, and waits
// for what came after exactly that, until ctx ends.
func (d *desk) await(ctx context.Context, id string, enough func(job.Record) bool) (job.Record, error) {
	var record job.Record
	var seen statestore.Seq
	for {
		err := d.store.View(d, func(r statestore.Reader) (err error) {
			if record, err = find(r, id); err != nil {
				return err
			}
			seen, err = statestore.Newest(r, seen)
			return err
		})
		if err != nil || enough(record) {
			return record, err
		}
		if err := d.store.Changed(ctx, seen); err != nil {
			return record, err
		}
	}
}
