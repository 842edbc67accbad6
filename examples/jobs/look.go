package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/job/manifest"
	"aesop/statestore/outbox"
)

type showCommand struct {
	cli.Common
	named
}

type showDocument struct {
	SchemaVersion int             `json:"schemaVersion"`
	Job           jobDocument     `json:"job"`
	History       []eventDocument `json:"history"`
	Owed          []owedDocument  `json:"owed"`
	Report        *reportDocument `json:"report"`
}

// eventDocument is a transition, or a signal that was not taken.
type eventDocument struct {
	At            time.Time   `json:"at"`
	Request       string      `json:"request"`
	Outcome       job.Outcome `json:"outcome"`
	Code          *string     `json:"code"` // why it was not applied
	Detail        *string     `json:"detail"`
	By            string      `json:"by"`
	From          *string     `json:"from"`
	To            job.Status  `json:"to"`
	Attempt       *string     `json:"attempt"` // of the job afterwards
	Iteration     int         `json:"iteration"`
	TransitionSeq int         `json:"transitionSeq"`
	Reason        *string     `json:"reason"`
}

type owedDocument struct {
	Sink      string     `json:"sink"`
	Intent    string     `json:"intent"`
	Kind      string     `json:"kind"`
	Subject   string     `json:"subject"`
	Tries     int        `json:"tries"`
	LastTry   *time.Time `json:"lastTry"`
	LastError *string    `json:"lastError"`
}

type reportDocument struct {
	job.Report
	Verified bool    `json:"verified"` // its manifest still holds
	Detail   *string `json:"detail"`   // why not
}

func (cmd showCommand) Run(c *cli.Context) error {
	return with(c, cmd.Common, false, func(d *desk) error {
		document := showDocument{SchemaVersion: schemaVersion}
		var record job.Record
		err := d.store.View(d, func(r statestore.Reader) (err error) {
			document.History, document.Owed = []eventDocument{}, []owedDocument{}
			if record, err = find(r, cmd.id(c)); err != nil {
				return err
			}
			return document.read(r, record)
		})
		if err != nil {
			return err
		}
		document.Job, document.Report = newJob(record), d.reportOf(record)
		d.Print(document, func(w io.Writer) { document.print(w, record) })
		return nil
	})
}

// read reads the history of a job, and what is owed of it.
func (s *showDocument) read(r statestore.Reader, record job.Record) error {
	for stored, err := range r.Events(statestore.EventQuery{Stream: job.Stream(record.ID)}) {
		if err != nil {
			return err
		}
		var e job.Event
		if err := json.Unmarshal(stored.Data, &e); err != nil {
			return fmt.Errorf("event %d of job %s: %w", stored.Version, record.ID, err)
		}
		s.History = append(s.History, eventDocument{At: stored.At.UTC(), Request: strings.TrimPrefix(stored.Type, "job."), Outcome: e.Outcome,
			Code: maybe(string(e.Reason)), Detail: maybe(e.Text), By: e.By, From: maybe(string(e.From)), To: e.Job.Status, Attempt: maybe(e.Job.Attempt),
			Iteration: e.Job.Iteration, TransitionSeq: e.Job.TransitionSeq, Reason: maybe(e.Job.Reason)})
		if e.Outcome != job.Applied {
			continue
		}
		owed, err := outbox.Owing(r, outbox.ID(stored.Stream, e.Job.TransitionSeq, stored.Type))
		if err != nil {
			return err
		}
		for _, o := range owed {
			s.Owed = append(s.Owed, newOwed(o))
		}
	}
	return nil
}

func newOwed(o outbox.Owed) owedDocument {
	d := owedDocument{Sink: o.Sink, Intent: o.Intent.ID, Kind: o.Intent.Kind, Subject: o.Intent.Subject, Tries: o.Tries, LastError: maybe(o.LastError)}
	if !o.LastTry.IsZero() {
		at := o.LastTry.UTC()
		d.LastTry = &at
	}
	return d
}

// reportOf looks whether the report of a job is still the one that was finalised.
func (d *desk) reportOf(r job.Record) *reportDocument {
	if r.Report == nil {
		return nil
	}
	v, err := manifest.Read(d, filepath.Dir(r.Report.Path), manifest.Want{Job: r.ID, Attempt: r.Attempt})
	if err == nil && v.SHA256 != r.Report.SHA256 {
		err = errors.New("it was finalised again with other content, and not published")
	}
	document := &reportDocument{Report: *r.Report, Verified: err == nil}
	if err != nil {
		document.Detail = maybe(err.Error())
	}
	return document
}

func (s showDocument) print(w io.Writer, r job.Record) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-9s %s\n", name+":", cli.OneLine(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintln(w, standing(r))
	row("job", "%s of %s in wave %s, for seat %s", typeOf(r), r.Item, r.Wave, r.Seat)
	if r.Progress != nil {
		row("fields", "%s", r.Progress)
	}
	if s.Report != nil && s.Report.Verified {
		row("report", "%s, verified", s.Report.Path)
	} else if s.Report != nil {
		row("report", "%s, not verified: %s", s.Report.Path, *s.Report.Detail)
	}
	if r.Evidence != "" {
		row("evidence", "%s", r.Evidence)
	}
	for _, e := range s.History {
		line := fmt.Sprintf("%s  %s by %s: %s", e.At.Format(time.RFC3339), e.Request, e.By, e.To)
		if e.Attempt != nil {
			line += ", attempt " + *e.Attempt
		}
		if e.Outcome != job.Applied {
			line = fmt.Sprintf("%s  %s by %s %s, %s: %s", e.At.Format(time.RFC3339), e.Request, e.By, e.Outcome, *e.Code, *e.Detail)
		}
		fmt.Fprintln(w, "  "+cli.OneLine(line))
	}
	printOwed(w, s.Owed)
}

func printOwed(w io.Writer, all []owedDocument) {
	for _, o := range all {
		line := fmt.Sprintf("owed to %s: %s of %s, tried %d times", o.Sink, o.Kind, o.Subject, o.Tries)
		if o.LastError != nil {
			line += ", last: " + *o.LastError
		}
		fmt.Fprintln(w, cli.OneLine(line))
	}
}

type listCommand struct {
	cli.Common
	Wave   given   `help:"Only the jobs of this wave." placeholder:"WAVE"`
	Status *string `help:"Only the jobs with this status." placeholder:"STATUS"`
	All    bool    `help:"Also the jobs that have ended."`
}

type listDocument struct {
	SchemaVersion int           `json:"schemaVersion"`
	Jobs          []jobDocument `json:"jobs"`
}

func (cmd listCommand) Run(c *cli.Context) error {
	var only job.Status
	if cmd.Status != nil {
		var err error
		if only, err = statusOf(*cmd.Status, statuses()...); err != nil {
			return err
		}
	}
	return with(c, cmd.Common, false, func(d *desk) error {
		var found []job.Record
		err := d.store.View(d, func(r statestore.Reader) error {
			found = nil
			jobs := job.All(r, "")
			switch wave := d.Redactor.String(string(cmd.Wave)); {
			case wave != "":
				jobs = job.List(r, wave, "")
			case !cmd.All && (only == "" || only.Live()):
				jobs = job.Alive(r)
			}
			for record, err := range jobs {
				if err != nil {
					return err
				}
				if only == record.Status || only == "" && (cmd.All || record.Status.Live()) {
					found = append(found, record)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortFunc(found, func(a, b job.Record) int { return strings.Compare(a.ID, b.ID) })
		document := listDocument{SchemaVersion: schemaVersion, Jobs: []jobDocument{}}
		for _, record := range found {
			document.Jobs = append(document.Jobs, newJob(record))
		}
		d.Print(document, func(w io.Writer) {
			for _, record := range found {
				fmt.Fprintln(w, standing(record))
			}
			if len(found) == 0 {
				fmt.Fprintln(w, "no jobs")
			}
		})
		return nil
	})
}
