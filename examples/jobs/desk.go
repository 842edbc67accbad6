package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/wave/journal"
)

const schemaVersion = 1

// desk is what a command works on.
type desk struct {
	*cli.Context // ends at a signal
	store        statestore.Store
	settings     aesop.Settings
}

// with opens the store. Only who writes makes what is missing.
func with(c *cli.Context, common cli.Common, write bool, do func(*desk) error) error {
	settings, place, err := common.Locate(c)
	if err != nil {
		return err
	}
	if settings.Store != "" {
		return &cli.Problem{Code: "unsupported_setting", Message: "store is set, and this version keeps jobs in the state folder only",
			Hint: "remove the key; nothing is changed in a place that others do not look at"}
	}
	c, release := c.UntilSignal()
	defer release()
	store, err := open(c, place, write)
	if err != nil {
		return err
	}
	return errors.Join(do(&desk{Context: c, store: store, settings: settings}), store.Close())
}

func open(ctx context.Context, place aesop.Place, write bool) (statestore.Store, error) {
	if write {
		return place.OpenStore(ctx)
	}
	return place.ReadStore(ctx)
}

// decide makes a change in one transaction, and says what became of it. What is refused is committed too: the audit of it counts.
func decide(c *cli.Context, common cli.Common, change func(statestore.Tx) (job.Decision, error)) error {
	return with(c, common, true, func(d *desk) error {
		var decision job.Decision
		err := d.store.Update(d, func(tx statestore.Tx) (err error) {
			decision, err = change(tx)
			return err
		})
		if err != nil {
			return err
		}
		return d.answer(decision)
	})
}

// get returns a job, or the zero one where there is none: the table says so.
func get(r statestore.Reader, id string) (job.Record, error) {
	record, err := job.Get(r, id)
	if errors.Is(err, statestore.ErrNotFound) {
		return job.Record{}, nil
	}
	return record, err
}

// find returns a job that is looked at.
func find(r statestore.Reader, id string) (job.Record, error) {
	record, err := job.Get(r, id)
	if errors.Is(err, statestore.ErrNotFound) {
		return record, &cli.Problem{Code: string(job.NoSuchJob), Message: fmt.Sprintf("there is no job %s", id), Hint: "aesop-jobs list --all shows all"}
	}
	return record, err
}

// named is the argument of commands for one job.
type named struct {
	Job string `arg:"" help:"Id of the job."`
}

// id is the name as it is stored: without secrets, as submit made it.
func (n named) id(c *cli.Context) string { return c.Redactor.String(n.Job) }

// operated are the flags by which an operator says on what it decided.
type operated struct {
	Transition *int `help:"Refuse if the job has gone on since this transition, which aesop-jobs status prints (default: as it is now)." placeholder:"N"`
}

// by is the operator, who saw that transition, or sees the record as it is.
func (o operated) by(record job.Record) job.Operator {
	if o.Transition != nil {
		return job.Operator{TransitionSeq: *o.Transition}
	}
	return job.Operator{TransitionSeq: record.TransitionSeq}
}

// engines says which waves are not finished. Their jobs are their engine's: nobody else picks them up or lets them time out.
func engines(r statestore.Reader) (map[string]bool, error) {
	open, err := journal.Open(r, "")
	waves := map[string]bool{}
	for _, id := range open {
		waves[id] = true
	}
	return waves, err
}

// pairs are fields of the form K=V, as a JSON object of texts without secrets; nil where there are none.
func pairs(c *cli.Context, flag string, given []string) (json.RawMessage, error) {
	fields := map[string]string{}
	for _, pair := range given {
		name, value, ok := strings.Cut(c.Redactor.String(pair), "=") // whole, since the name tells what the value is
		if !ok || name == "" {
			return nil, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--%s %s has no name and value", flag, pair), Hint: fmt.Sprintf("write --%s NAME=VALUE", flag)}
		}
		fields[name] = value
	}
	if len(fields) == 0 {
		return nil, nil
	}
	return json.Marshal(fields)
}

// maxFile bounds a file of fields, in bytes: far more than a job keeps.
const maxFile = 1 << 20

// fieldsOf reads a JSON document of fields, without secrets. What it must be, the job says.
func fieldsOf(c *cli.Context, path string) (json.RawMessage, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, &cli.Problem{Code: "usage", Message: fmt.Sprintf("%s has more than %d bytes", path, maxFile)}
	}
	return c.Redactor.JSON(data), nil
}
