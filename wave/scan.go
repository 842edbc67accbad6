package wave

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aesop/internal/git"
	"aesop/redact/scan"
	"aesop/tracker"
	"aesop/wave/journal"
)

// scan looks for secrets in what the verified items would push: their commits as they are now, before anybody judges them, and again
// after they followed a base that moved or were corrected. An item with a secret does not ship, and the others do.
func (r *run) scan() error { return r.eachItem(r.s.config.Parallel, unscanned, r.scanItem) }

// scanIn is scan for one repository.
func (r *run) scanIn(t *target) error {
	return r.eachItem(r.s.config.Parallel, func(i *journal.ItemState) bool { return unscanned(i) && r.targetOf(i.ID) == t }, r.scanItem)
}

func unscanned(i *journal.ItemState) bool { return i.Shippable() && !i.Clean() }

func (r *run) scanItem(ctx context.Context, id string) error {
	item, t := r.journal.Item(id), r.targetOf(id)
	result, err := r.scanned(ctx, t, t.Base, item.Verified)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case ownFile(err) && r.canScan(ctx, t, t.Base) == nil:
		reason := "it cannot be scanned for secrets, by its own " + scan.FileName
		return r.endBySecret(id, journal.ItemEnded{Reason: reason, Failure: &journal.Failure{Tail: err.Error()}})
	case err != nil:
		err = &gateError{"scan", err}
		r.stop.cancel(err)
		return err
	}
	event := journal.Scanned{Item: id, Commit: item.Verified}
	var fatal []string
	for _, f := range result.Findings {
		switch f.Status {
		case scan.Fatal:
			fatal = append(fatal, f.String())
		case scan.Warning:
			event.Warnings = append(event.Warnings, f.String())
		default:
			event.Allowed = append(event.Allowed, f.String())
		}
	}
	if len(fatal) == 0 {
		return r.record(event)
	}
	reason := "its commit holds what looks like a secret"
	if len(fatal) > 1 {
		reason = fmt.Sprintf("its commit holds %d things that look like secrets", len(fatal))
	}
	return r.endBySecret(id, journal.ItemEnded{Reason: reason, Failure: &journal.Failure{Tail: strings.Join(fatal, "\n")}}, event)
}

// endBySecret ends an item whose commit may not be pushed.
func (r *run) endBySecret(id string, end journal.ItemEnded, before ...journal.Event) error {
	end.Item, end.State, end.Counted, end.Failure.Step = id, journal.StateSecretFound, true, "scan"
	return r.recordWith(r.cancelJob(id, string(end.State)), append(before, end)...)
}

// scanned is what a commit adds to a base, by the rules and exemptions of that base.
func (r *run) scanned(ctx context.Context, t *target, base, commit git.SHA) (*scan.Result, error) {
	scanner, err := scan.New(scan.Config{GitDir: t.engine.Dir, State: r.s.config.State, Redactor: r.s.config.Redactor, Now: r.s.config.Clock})
	if err != nil {
		return nil, err
	}
	return scanner.Added(ctx, base, commit)
}

// canScan says why nothing on a base could be scanned, so that agents need not be paid for it: its rules cannot be read, or the user's
// approvals. The error is a *gateError.
func (r *run) canScan(ctx context.Context, t *target, base git.SHA) error {
	if _, err := r.scanned(ctx, t, base, base); err != nil {
		return &gateError{"scan", err}
	}
	return nil
}

// ownFile says that a scan could not be carried out for a file with rules, which may be the scanned commit's own.
func ownFile(err error) bool {
	if _, damaged := errors.AsType[*tracker.FileError](err); damaged {
		return true
	}
	e, ours := errors.AsType[*scan.Error](err)
	return ours && (e.Code == "unreadable" || e.Code == "rule")
}
