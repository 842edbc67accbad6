package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"aesop/examples/internal/cli"
	"aesop/tracker"
)

// refuse is an answer of no, with a stable word for the reason.
func refuse(code, hint, format string, args ...any) error {
	return &cli.Exit{Code: cli.Refused, Err: &cli.Problem{Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}}
}

// explain puts the tracker's refusals in words. verb is what was asked for.
func (d *desk) explain(verb string, err error) error {
	conflict, ok := errors.AsType[*tracker.ConflictError](err)
	if !ok {
		return err
	}
	if readErr := d.read(); readErr != nil { // what the words are about
		return readErr
	}
	var reasons []string
	for _, c := range conflict.Conflicts {
		reasons = append(reasons, d.obstacle(verb, c))
	}
	return refuse(string(conflict.Conflicts[0].Reason), "", "nothing is changed: %s", strings.Join(reasons, "; "))
}

func (d *desk) obstacle(verb string, c tracker.Conflict) string {
	if c.Reason == tracker.ConflictHeld {
		return fmt.Sprintf("%s is held by %s until %s", c.ID, cmp.Or(cli.OneLine(c.Owner), "somebody"), c.Until.Format(time.RFC3339))
	}
	item, err := d.find(c.ID)
	if err != nil {
		return err.Error()
	}
	defect := item.Defect()
	switch {
	case verb == "claim" && defect != nil:
		return fmt.Sprintf("%s cannot be claimed, %s: %s", c.ID, defect.Reason, defect.Detail)
	case item.Status == tracker.InProgress && item.Claim == nil:
		return fmt.Sprintf("%s is in_progress without a claim, so a person has it; set it to todo to give it away", c.ID)
	case item.Status == tracker.InProgress:
		return fmt.Sprintf("%s is in_progress, claimed by %s; tracker claim takes it over", c.ID, holder(item.Claim))
	case verb == "claim":
		return fmt.Sprintf("%s is %s; tracker retry %s opens it again", c.ID, item.Status, c.ID)
	}
	return fmt.Sprintf("%s is %s", c.ID, item.Status)
}
