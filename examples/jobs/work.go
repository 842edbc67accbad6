package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/job/drop"
	"aesop/tracker"
)

// work publishes as the holder of a token.
func (cmd publishCommand) work(d *desk, t told) error {
	attempt := tracker.AttemptID(cmd.Token)
	record, err := cmd.ofToken(d, attempt)
	if err != nil {
		return err
	}
	report, err := cmd.report(d, &t, record, attempt)
	if err != nil {
		return err
	}
	var decision job.Decision
	err = d.store.Update(d, func(tx statestore.Tx) (err error) {
		decision, err = t.publish(tx, record.ID, cmd.Token, report)
		return err
	})
	if err != nil {
		return err
	}
	return d.answer(decision)
}

// ofToken is the job that is named, or else that of the token. One that there is not has only its name.
func (cmd publishCommand) ofToken(d *desk, attempt string) (record job.Record, err error) {
	err = d.store.View(d, func(r statestore.Reader) (err error) {
		if cmd.Job == "" {
			record, err = job.Of(r, attempt)
			return err
		}
		id := named{cmd.Job}.id(d.Context)
		record, err = get(r, id)
		record.ID = id
		return err
	})
	if errors.Is(err, statestore.ErrNotFound) {
		return record, refuse(string(job.NoAttempt), "nothing is published", "the token is that of no attempt")
	}
	return record, err
}

// report finalises the report, unless the fields will be refused. Where the attempt is over nothing is moved: what was published stays as it is.
func (cmd publishCommand) report(d *desk, t *told, record job.Record, attempt string) (report *job.Report, err error) {
	if t.report == nil {
		return nil, nil
	}
	dir, own := os.Getenv("AESOP_ATTEMPT_DIR"), os.Getenv("AESOP_ATTEMPT_ID")
	if dir != "" && own != "" && own != attempt {
		return nil, refuse(string(job.StaleAttempt), "unset AESOP_ATTEMPT_DIR, and put the report into a folder of its own",
			"%s is the folder of attempt %s, and the token's attempt is %s", dir, own, attempt)
	}
	if record.Status != job.Running || record.Attempt != attempt {
		report, t.other, err = t.report.again(d.Context, dir, record.ID, attempt)
		return report, err
	}
	if t.fields != nil {
		if no := job.Decide(&record, job.Progress{ID: record.ID, By: job.Worker{Token: cmd.Token}, Fields: t.fields}, record.UpdatedAt); !no.OK() {
			return nil, d.answer(no)
		}
	}
	if moved := t.report.moved(d.Context, dir, record.ID, attempt); moved != nil {
		published := record.Report != nil && record.Report.SHA256 == moved.SHA256
		if !published || t.status == "" && t.in(record, moved) { // else it is another report that is not there
			return moved, nil
		}
	}
	return t.report.finalise(d.Context, dir, record.ID, attempt)
}

// publish adds the fields and asks for the end. A refusal is committed with its audit; where the fields alone are refused, nothing else is asked.
func (t told) publish(tx statestore.Tx, id, token string, report *job.Report) (job.Decision, error) {
	end := drop.Drop{Status: t.status, Reason: t.reason}.Request(id, token, report)
	if t.fields != nil || end == nil {
		d, err := job.Apply(tx, job.Progress{ID: id, By: job.Worker{Token: token}, Fields: t.fields, Report: report})
		if err != nil || end == nil || !d.OK() && !over(d) {
			return d, err
		}
	}
	d, err := job.Apply(tx, end)
	if err == nil && d.Outcome == job.Idempotent && !t.in(d.Record, report) {
		d.Outcome, d.Text = job.Conflict, fmt.Sprintf("%s, with other fields or another report", d.Text)
	}
	return d, err
}

// over says whether fields were refused since the attempt is over: the answer is then that to the end that is asked for.
func over(d job.Decision) bool {
	switch d.Reason {
	case job.WrongStatus, job.NoAttempt, job.StaleAttempt, job.NoSuchJob:
		return true
	}
	return false
}

// in says whether a record has all that is told beside the status.
func (t told) in(r job.Record, report *job.Report) bool {
	var has, given map[string]any
	_ = json.Unmarshal(r.Progress, &has) // what is no object has no members
	if t.fields != nil && json.Unmarshal(t.fields, &given) != nil {
		return false
	}
	for name, value := range given {
		if was, ok := has[name]; !ok || !reflect.DeepEqual(was, value) {
			return false
		}
	}
	return report == nil || !t.other && r.Report != nil && r.Report.SHA256 == report.SHA256
}
