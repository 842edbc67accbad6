package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aesop/examples/internal/cli"
	"aesop/statestore/job"
	"aesop/statestore/job/drop"
	"aesop/wave"
)

type dropDocument struct {
	SchemaVersion int       `json:"schemaVersion"`
	File          string    `json:"file"` // that the engine reads
	Dropped       drop.Drop `json:"dropped"`
	Report        *string   `json:"report"`
}

// drop publishes as an agent below a wave: into its folder. It opens nothing else.
func (cmd publishCommand) drop(c *cli.Context, dir string, t told) error {
	attempt, err := cmd.ofFolder(dir)
	if err != nil {
		return err
	}
	said := drop.Drop{SchemaVersion: drop.SchemaVersion, Attempt: attempt, Status: t.status, Reason: t.reason, Fields: t.fields}
	if said.Fields == nil {
		said.Fields = json.RawMessage("{}")
	}
	if err := said.Check(); err != nil {
		return dropped(err)
	}
	before, err := drop.Read(dir, attempt)
	if err != nil && !errors.Is(err, drop.ErrNone) {
		return dropped(err)
	}
	same := err != nil || before.Status == t.status && before.Reason == t.reason && t.in(job.Record{Progress: before.Fields}, nil)
	document := dropDocument{SchemaVersion: schemaVersion, File: filepath.Join(dir, drop.Name)}
	if t.report != nil {
		id, err := cmd.ofWave(c)
		if err != nil {
			return err
		}
		var report *job.Report
		if same { // or cut off before it was dropped
			report = t.report.moved(c, dir, id, attempt)
		}
		if report == nil {
			if report, err = t.report.finalise(c, dir, id, attempt); err != nil {
				return err
			}
		}
		document.Report = &report.Path
	}
	document.Dropped, err = drop.Write(dir, said)
	if err != nil {
		return dropped(err)
	}
	c.Print(document, func(w io.Writer) {
		fmt.Fprintf(w, "attempt %s: %s, in %s\n", attempt, statusField(document.Dropped), document.File)
	})
	return nil
}

// ofFolder is the attempt whose folder it is.
func (cmd publishCommand) ofFolder(dir string) (string, error) {
	own := os.Getenv("AESOP_ATTEMPT_ID")
	if own != "" && cmd.AttemptID != "" && own != string(cmd.AttemptID) {
		return "", refuse(string(job.StaleAttempt), "nothing is published", "--attempt-id is %s, and the attempt of %s is %s", cmd.AttemptID, dir, own)
	}
	if own == "" && cmd.AttemptID == "" {
		return "", &cli.Problem{Code: "usage", Message: "the attempt is not known", Hint: "set AESOP_ATTEMPT_ID or --attempt-id"}
	}
	return cmp.Or(own, string(cmd.AttemptID)), nil
}

// ofWave is the job of the manifest: the one that is named, or that of the wave's item.
func (cmd publishCommand) ofWave(c *cli.Context) (string, error) {
	of, item := os.Getenv("AESOP_WAVE"), os.Getenv("AESOP_ITEM")
	switch {
	case cmd.Job != "":
		return named{cmd.Job}.id(c), nil
	case of != "" && item != "":
		return wave.JobID(of, item), nil
	}
	return "", &cli.Problem{Code: "usage", Message: "the job of the report is not known", Hint: "name it: aesop-jobs publish JOB …"}
}

// dropped says why nothing was dropped.
func dropped(err error) error {
	if wrong, ok := errors.AsType[*drop.Error](err); ok && wrong.Field == "attempt" && wrong.File != "" {
		return refuse(string(job.StaleAttempt), "nothing is published", "%v", err)
	}
	return &cli.Problem{Code: "not_published", Message: err.Error(), Hint: "nothing is published"}
}

// statusField is a drop's status for people.
func statusField(d drop.Drop) string {
	if d.Status == "" {
		return "no end yet"
	}
	return string(d.Status)
}
