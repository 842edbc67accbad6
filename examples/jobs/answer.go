package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"aesop/examples/internal/cli"
	"aesop/statestore/job"
)

// exitOf is the exit code of an outcome.
func exitOf(o job.Outcome) int {
	switch o {
	case job.Applied, job.Idempotent:
		return cli.OK
	case job.Invalid:
		return cli.NotGood
	case job.Refused, job.Conflict:
		return cli.Refused
	}
	return cli.Usage
}

type decisionDocument struct {
	SchemaVersion int         `json:"schemaVersion"`
	Outcome       job.Outcome `json:"outcome"` // applied or idempotent
	Detail        *string     `json:"detail"`  // what was so already; null where it was applied
	Job           jobDocument `json:"job"`
}

// answer says what became of a request.
func (d *desk) answer(decision job.Decision) error {
	if code := exitOf(decision.Outcome); code != cli.OK {
		return &cli.Exit{Code: code, Err: &cli.Problem{Code: string(decision.Reason), Message: decision.Text, Hint: hint(decision)}}
	}
	d.Print(decisionDocument{schemaVersion, decision.Outcome, maybe(decision.Text), newJob(decision.Record)}, func(w io.Writer) {
		fmt.Fprintln(w, standing(decision.Record))
	})
	if decision.Outcome == job.Idempotent {
		fmt.Fprintf(d.Stderr, "it was so already: %s\n", decision.Text)
	}
	return nil
}

// hint is what helps, where something does.
func hint(d job.Decision) string {
	id := d.Record.ID
	switch d.Reason {
	case job.JobExists:
		return "aesop-jobs redispatch " + id + " begins another round of it; --id makes another job"
	case job.StaleTransition, job.StaleAttempt, job.NoAttempt:
		return "aesop-jobs show " + id + " says what happened"
	case job.BudgetUsedUp:
		if d.Record.Iteration < d.Record.MaxIterations {
			return fmt.Sprintf("its next round is %d", d.Record.Iteration+1)
		}
		return "aesop-jobs finalize " + id + " --reason TEXT, or redispatch with --or-finalize"
	case job.NoSuchJob:
		return "aesop-jobs list --all shows all"
	}
	return ""
}

// refuse is an answer of no that the table was not asked about. The code is a job.Reason where one fits.
func refuse(code, hint, format string, args ...any) error {
	return &cli.Exit{Code: cli.Refused, Err: &cli.Problem{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}}
}

// statusOf reads a status that people wrote. One that is not among the allowed has exit code 1 whatever else is wrong: it is read before
// anything is opened.
func statusOf(word string, allowed ...job.Status) (job.Status, error) {
	if slices.Contains(allowed, job.Status(word)) {
		return job.Status(word), nil
	}
	var words []string
	for _, s := range allowed {
		words = append(words, string(s))
	}
	return "", &cli.Exit{Code: cli.NotGood, Err: &cli.Problem{Code: "invalid_status", Message: fmt.Sprintf("%q is not a status here; nothing is changed", word),
		Hint: "one of " + strings.Join(words, ", ")}}
}

func statuses() []job.Status {
	return []job.Status{job.Pending, job.Running, job.Completed, job.Failed, job.Cancelled, job.TimedOut}
}

type jobDocument struct {
	ID            string      `json:"id"`
	Item          string      `json:"item"`
	Wave          string      `json:"wave"`
	Seat          string      `json:"seat"`
	Type          string      `json:"type"`
	Status        job.Status  `json:"status"`
	Reason        *string     `json:"reason"`
	Attempt       *string     `json:"attempt"`
	Iteration     int         `json:"iteration"`
	MaxIterations *int        `json:"maxIterations"` // null: no bound
	Epoch         int         `json:"epoch"`
	TransitionSeq int         `json:"transitionSeq"`
	Deadline      *time.Time  `json:"deadline"`
	Final         bool        `json:"final"`
	Explicit      bool        `json:"explicit"` // its end was asked for, not inferred
	AutoComplete  bool        `json:"autoComplete"`
	Evidence      *string     `json:"evidence"`
	Report        *job.Report `json:"report"`
	Intent        *string     `json:"intent"` // newest news of it that is owed
	Progress      progress    `json:"progress"`
	CreatedAt     time.Time   `json:"createdAt"`
	UpdatedAt     time.Time   `json:"updatedAt"`
}

func newJob(r job.Record) jobDocument {
	d := jobDocument{ID: r.ID, Item: r.Item, Wave: r.Wave, Seat: r.Seat, Type: typeOf(r), Status: r.Status, Reason: maybe(r.Reason), Attempt: maybe(r.Attempt),
		Iteration: r.Iteration, Epoch: r.Epoch, TransitionSeq: r.TransitionSeq, Final: r.Final, Explicit: r.Explicit, AutoComplete: r.AutoComplete,
		Evidence: maybe(r.Evidence), Report: r.Report, Intent: maybe(r.Intent), Progress: progress(r.Progress), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	if r.MaxIterations > 0 {
		d.MaxIterations = &r.MaxIterations
	}
	if !r.Deadline.IsZero() {
		d.Deadline = &r.Deadline
	}
	return d
}

// progress is an object, also where there is none.
type progress []byte

func (p progress) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte("{}"), nil
	}
	return p, nil
}

// maybe is a text of a document: null where there is none.
func maybe(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// typeOf is the type of a job in words: one piece of work is a task.
func typeOf(r job.Record) string {
	if r.Type == "" {
		return "task"
	}
	return r.Type
}

// standing is how a job stands, on one line.
func standing(r job.Record) string {
	text := fmt.Sprintf("%s: %s", cli.OneLine(r.ID), r.Status)
	if r.Final {
		text += " for good"
	}
	if r.Status == job.Completed && !r.Explicit {
		text += " by inference"
	}
	if r.Reason != "" {
		text += " (" + cli.OneLine(r.Reason) + ")"
	}
	if r.MaxIterations > 0 {
		text += fmt.Sprintf(", iteration %d of %d", r.Iteration, r.MaxIterations)
	} else if r.Iteration > 1 {
		text += fmt.Sprintf(", iteration %d", r.Iteration)
	}
	if r.Status == job.Running && !r.Deadline.IsZero() {
		text += ", until " + r.Deadline.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s, transition %d", text, r.TransitionSeq)
}
