package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"aesop/examples/internal/cli"
	"aesop/stateapi"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/statestore/outbox"
	"aesop/wave/journal"
)

type recoverCommand struct {
	cli.Common
	receivers
	Forget []string `help:"Owe this sink nothing more, also nothing of what it is owed: file, mirror, webhook, or a name in notify." placeholder:"SINK" sep:"none" xor:"dry"`
	DryRun bool     `help:"Change and send nothing: say what there is to do, with exit code 1 where there is something." xor:"dry"`
}

func (recoverCommand) Help() string {
	return `Examples:

  aesop-jobs recover --dry-run
  aesop-jobs recover --to-file news.jsonl --webhook https://example.com/jobs

Records of jobs, waves, advice and statuses are compared with the events, which win. Running jobs past their deadline time out, but for those of waves
that are not finished: wave resume has them. Each receiver that is named here, or by notify in the configuration, gets what it is owed, oldest
first; one that is named for the first time is owed what comes from then on. What cannot be sent stays owed, and is sent the next time under the same id. The exit code is 1 while
something stays owed.`
}

type recoverDocument struct {
	SchemaVersion int             `json:"schemaVersion"`
	DryRun        bool            `json:"dryRun"`
	Drifts        []driftDocument `json:"drifts"`  // repaired, but for a dry run
	Overdue       []string        `json:"overdue"` // jobs that were timed out, but for a dry run; null: not known before records are repaired
	Forgotten     int             `json:"forgotten"`
	Sent          int             `json:"sent"`
	Failed        int             `json:"failed"`
	Busy          []string        `json:"busy"` // sinks to which another process is sending
	Owed          []owedDocument  `json:"owed"` // what stays so
	Damaged       []string        `json:"damaged"`
}

type driftDocument struct {
	Key     string `json:"key"`
	Problem string `json:"problem"`
}

func (cmd recoverCommand) Run(c *cli.Context) error {
	sinks, err := cmd.sinks()
	if err != nil {
		return err
	}
	return with(c, cmd.Common, !cmd.DryRun, func(d *desk) error {
		document := recoverDocument{SchemaVersion: schemaVersion, DryRun: cmd.DryRun, Busy: []string{}}
		if cmd.DryRun {
			err = d.store.View(d, document.look)
		} else {
			err = cmd.recover(d, sinks, &document)
		}
		if err != nil {
			return err
		}
		d.Print(document, document.print)
		if document.open() {
			fmt.Fprintln(c.Stderr, document.left())
			return &cli.Exit{Code: cli.NotGood}
		}
		return nil
	})
}

// recover does what there is to do, in this order: what is owed is of records that are right.
func (cmd recoverCommand) recover(d *desk, sinks []outbox.Named, document *recoverDocument) error {
	if err := d.store.View(d, document.look); err != nil { // without keeping others from writing
		return err
	}
	if len(document.Drifts) > 0 {
		if err := d.store.Update(d, document.repair); err != nil {
			return err
		}
	}
	damaged := len(document.Damaged) > 0
	err := d.store.Update(d, func(tx statestore.Tx) (err error) {
		if document.Forgotten, err = cmd.forget(tx); err == nil && damaged {
			_, err = statestore.Repair(tx, job.Check) // what cannot be read is dropped without a word to its job
		}
		return err
	})
	if err != nil {
		return err
	}
	configured, closeAll, err := d.settings.Receivers(os.LookupEnv)
	defer func() { _ = closeAll() }() // what was not sent is still owed
	if err != nil {
		return err
	}
	notifier, err := outbox.New(d, outbox.Config{Store: d.store, Sinks: append(sinks, configured...), Settled: job.Settled, Redact: d.Redactor.String})
	if err != nil {
		return err
	}
	if err := d.store.Update(d, document.timeOut); err != nil { // of which who is named for the first time hears too
		return err
	}
	flushed, err := notifier.Flush(d)
	if err != nil {
		return err
	}
	document.Sent, document.Failed, document.Busy = flushed.Sent, flushed.Failed, append([]string{}, flushed.Busy...)
	return d.store.View(d, document.pending)
}

// forget owes sinks nothing more, and says how much that was.
func (cmd recoverCommand) forget(tx statestore.Tx) (dropped int, err error) {
	for _, name := range cmd.Forget {
		if err := subscribed(tx, name); err != nil {
			return 0, err
		}
		n, err := outbox.Unsubscribe(tx, name, job.Settled)
		if err != nil {
			return 0, err
		}
		dropped += n
	}
	return dropped, nil
}

// subscribed is nil where a sink of that name is.
func subscribed(r statestore.Reader, name string) error {
	var names []string
	for s, err := range outbox.Subscriptions(r) {
		if _, damaged := errors.AsType[*statestore.DamagedError](err); err != nil && !damaged {
			return err
		}
		names = append(names, s.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return &cli.Problem{Code: "unknown_sink", Message: fmt.Sprintf("there is no sink %q", name), Hint: "subscribed are: " + cmp.Or(strings.Join(names, ", "), "none")}
}

// look finds out what there is to do.
func (r *recoverDocument) look(reader statestore.Reader) error {
	r.Drifts = []driftDocument{}
	for _, check := range checks() {
		drifts, err := check(reader)
		if err != nil {
			return err
		}
		r.note(drifts)
	}
	if len(r.Drifts) == 0 {
		late, err := overdue(reader)
		if err != nil {
			return err
		}
		r.Overdue = []string{}
		for _, record := range late {
			r.Overdue = append(r.Overdue, record.ID)
		}
	}
	return r.pending(reader)
}

// checks compare all that is kept beside the events with them.
func checks() []func(statestore.Reader) ([]statestore.Drift, error) {
	return []func(statestore.Reader) ([]statestore.Drift, error){job.Check, journal.Check, lifecycle.Check, stateapi.Check}
}

func (r *recoverDocument) note(drifts []statestore.Drift) {
	for _, drift := range drifts {
		r.Drifts = append(r.Drifts, driftDocument{string(drift.Key), drift.String()})
	}
}

func (r *recoverDocument) repair(tx statestore.Tx) error {
	r.Drifts = []driftDocument{}
	drifts, err := statestore.Repair(tx, checks()...)
	r.note(drifts)
	return err
}

func (r *recoverDocument) timeOut(tx statestore.Tx) error {
	late, err := overdue(tx)
	if err != nil {
		return err
	}
	r.Overdue = []string{}
	for _, record := range late {
		d, err := job.Apply(tx, job.Timeout{ID: record.ID, By: job.Engine{Attempt: record.Attempt}})
		if err != nil {
			return err
		}
		if d.OK() {
			r.Overdue = append(r.Overdue, record.ID)
		}
	}
	return nil
}

// overdue are the running jobs past their deadline, by the store's clock.
func overdue(r statestore.Reader) (late []job.Record, err error) {
	of, err := engines(r)
	if err != nil {
		return nil, err
	}
	for record, err := range job.Alive(r) {
		if err != nil {
			return nil, err
		}
		if record.Status == job.Running && !of[record.Wave] && !record.Deadline.IsZero() && !r.Now().Before(record.Deadline) {
			late = append(late, record)
		}
	}
	return late, nil
}

// pending finds out what is owed to any sink.
func (r *recoverDocument) pending(reader statestore.Reader) error {
	r.Owed, r.Damaged = []owedDocument{}, []string{}
	for sink, err := range outbox.Subscriptions(reader) {
		if damaged, ok := errors.AsType[*statestore.DamagedError](err); ok {
			r.Damaged = append(r.Damaged, damaged.Error())
		} else if err != nil {
			return err
		}
		for owed, err := range outbox.Pending(reader, sink.Name) {
			if damaged, ok := errors.AsType[*statestore.DamagedError](err); ok {
				r.Damaged = append(r.Damaged, damaged.Error())
			} else if err != nil {
				return err
			} else {
				r.Owed = append(r.Owed, newOwed(owed))
			}
		}
	}
	return nil
}

// open says whether there is something to do still.
func (r recoverDocument) open() bool {
	return len(r.Owed) > 0 || len(r.Damaged) > 0 || r.DryRun && len(r.Drifts)+len(r.Overdue) > 0
}

func (r recoverDocument) left() string {
	if r.DryRun {
		return fmt.Sprintf("there is something to do: records to repair %d, jobs past their deadline %d, news owed %d, damaged %d",
			len(r.Drifts), len(r.Overdue), len(r.Owed), len(r.Damaged))
	}
	text := fmt.Sprintf("something stays owed: news %d, damaged %d (name its receiver again, or --forget SINK)", len(r.Owed), len(r.Damaged))
	if len(r.Damaged) > 0 {
		text += " (it is dropped with all that its sink is owed by aesop-jobs recover --forget SINK)"
	}
	return text
}

func (r recoverDocument) print(w io.Writer) {
	repaired, ended := "repaired", "timed out"
	if r.DryRun {
		repaired, ended = "to repair", "past its deadline"
	}
	for _, drift := range r.Drifts {
		fmt.Fprintf(w, "%s: %s\n", repaired, cli.OneLine(drift.Problem))
	}
	for _, id := range r.Overdue {
		fmt.Fprintf(w, "%s: %s\n", ended, cli.OneLine(id))
	}
	if r.Forgotten > 0 {
		fmt.Fprintf(w, "forgotten: %d\n", r.Forgotten)
	}
	if !r.DryRun {
		fmt.Fprintf(w, "sent: %d, failed: %d\n", r.Sent, r.Failed)
	}
	for _, sink := range r.Busy {
		fmt.Fprintf(w, "another process is sending to %s\n", sink)
	}
	printOwed(w, r.Owed)
	for _, text := range r.Damaged {
		fmt.Fprintln(w, cli.OneLine(text))
	}
	if r.DryRun && !r.open() {
		fmt.Fprintln(w, "there is nothing to do")
	}
}
