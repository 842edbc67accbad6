package main

import (
	"fmt"
	"io"
	"time"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/tracker"
)

type claimCommand struct {
	cli.Common
	Job      string         `arg:"" optional:"" help:"Id of a pending job."`
	Next     bool           `help:"The one that is pending for the longest, in place of a named one. Those of waves that are not finished are left to their engine."`
	Seat     given          `help:"With --next: only of this seat." placeholder:"SEAT"`
	Deadline *time.Duration `help:"How long the attempt may run, by the store's clock, before recover ends it (default: as long as it takes)." placeholder:"D"`
}

func (claimCommand) Help() string {
	return `Examples:

  aesop-jobs claim manual/greet --deadline 30m
  aesop-jobs claim --next --seat worker --json

Of two that claim a job one has it, the other is refused. It prints the job and the token of the attempt: a secret of its holder, which is
stored nowhere. Where --next finds no pending job, nothing is claimed, and the exit code is 1.`
}

type claimDocument struct {
	SchemaVersion int        `json:"schemaVersion"`
	Job           string     `json:"job"`
	Item          string     `json:"item"`
	Token         string     `json:"token"`
	Attempt       string     `json:"attempt"`
	Iteration     int        `json:"iteration"`
	Epoch         int        `json:"epoch"`
	TransitionSeq int        `json:"transitionSeq"`
	Deadline      *time.Time `json:"deadline"`
	Progress      progress   `json:"progress"` // fields of submit, and what earlier rounds added
}

func (cmd claimCommand) Run(c *cli.Context) error {
	switch {
	case cmd.Next == (cmd.Job != ""):
		return &cli.Problem{Code: "usage", Message: "name a job, or --next", Hint: "one of the two"}
	case cmd.Seat != "" && !cmd.Next:
		return &cli.Problem{Code: "usage", Message: "--seat is for --next"}
	case cmd.Deadline != nil && *cmd.Deadline <= 0:
		return &cli.Problem{Code: "usage", Message: fmt.Sprintf("--deadline is %v", *cmd.Deadline), Hint: "give a duration above 0, such as 30m"}
	}
	token, err := tracker.NewToken(nil)
	if err != nil {
		return err
	}
	return with(c, cmd.Common, true, func(d *desk) error {
		var decision job.Decision
		found := true
		err := d.store.Update(d, func(tx statestore.Tx) (err error) {
			id := named{cmd.Job}.id(c)
			if cmd.Next {
				if id, err = oldest(tx, d.Redactor.String(string(cmd.Seat))); err != nil {
					return err
				}
				if found = id != ""; !found {
					return nil
				}
			}
			claim := job.Claim{ID: id, Token: token}
			if cmd.Deadline != nil {
				claim.Deadline = tx.Now().Add(*cmd.Deadline)
			}
			decision, err = job.Apply(tx, claim)
			return err
		})
		switch {
		case err != nil:
			return err
		case !found:
			return &cli.Exit{Code: cli.NotGood, Err: &cli.Problem{Code: "nothing_pending", Message: "there is no pending job; nothing is claimed"}}
		case !decision.OK():
			return d.answer(decision)
		}
		d.printClaim(token, decision.Record)
		return nil
	})
}

func (d *desk) printClaim(token string, r job.Record) {
	of := newJob(r)
	document := claimDocument{schemaVersion, r.ID, r.Item, token, r.Attempt, r.Iteration, r.Epoch, r.TransitionSeq, of.Deadline, of.Progress}
	d.PrintAsIs(document, func(w io.Writer) { fmt.Fprintln(w, r.ID, token) })
}

// oldest is the job of a seat, or of any, that is pending for the longest; "" where there is none.
func oldest(r statestore.Reader, seat string) (id string, err error) {
	of, err := engines(r)
	if err != nil {
		return "", err
	}
	var since time.Time // nothing changes a job while it is pending
	for record, err := range job.Alive(r) {
		if err != nil {
			return "", err
		}
		if record.Status != job.Pending || of[record.Wave] || seat != "" && record.Seat != seat {
			continue
		}
		if id == "" || record.UpdatedAt.Before(since) || record.UpdatedAt.Equal(since) && record.ID < id {
			id, since = record.ID, record.UpdatedAt
		}
	}
	return id, nil
}
