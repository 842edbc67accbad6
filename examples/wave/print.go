package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"aesop/cost"
	"aesop/examples/internal/cli"
	"aesop/wave"
	"aesop/wave/journal"
)

// printReport says in words what happened and what to do next.
func printReport(w io.Writer, state string, r wave.Report) {
	for _, old := range r.Resumed {
		fmt.Fprintf(w, "finished first: wave %s, %s", old.Wave, old.Outcome)
		if len(old.Shipped) > 0 {
			fmt.Fprintf(w, "; %s on %s", cli.OneLine(strings.Join(old.Shipped, ", ")), old.Branch)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "wave %s: %s\n", r.Wave, r.Outcome)
	for _, i := range r.Items {
		line := fmt.Sprintf("  %-16s %s", cli.OneLine(i.ID), i.State)
		if i.Commit != nil {
			line += " " + short(*i.Commit)
		}
		if n := len(i.Attempts); n > 1 {
			line += fmt.Sprintf(" after %d attempts", n)
		}
		if len(i.Corrections) > 0 {
			line += ", corrected by hand"
		}
		if i.Reason != "" {
			line += ": " + firstLine(i.Reason)
		}
		fmt.Fprintln(w, line)
		if n := len(i.Attempts); n > 0 {
			if said := saidText(i.Attempts[n-1].Said); said != "" && said != "its agent said: completed" {
				fmt.Fprintf(w, "                   %s\n", said)
			}
		}
		if i.State == journal.StateSecretFound && i.Failure != nil {
			fmt.Fprintf(w, "                   %s\n", strings.ReplaceAll(cli.Lines(i.Failure.Tail), "\n", "\n                   "))
		}
		if i.Verified && i.TestOnBase != nil && *i.TestOnBase == "passed" {
			fmt.Fprintln(w, "                   its test passed before any change too, and so proves little")
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "  %-16s skipped, %s: %s\n", cli.OneLine(s.ID), s.Reason, cli.OneLine(s.Detail))
	}
	printWhy(w, r)
	printNext(w, state, r)
}

// printWhy says what is true of the wave as a whole.
func printWhy(w io.Writer, r wave.Report) {
	switch {
	case r.Error != nil:
		fmt.Fprintf(w, "%s: %s\n", r.Error.Code, cli.OneLine(r.Error.Message))
		if r.Error.Hint != "" {
			fmt.Fprintf(w, "  %s\n", r.Error.Hint)
		}
	case r.HaltReason != nil:
		fmt.Fprintf(w, "stopped: %s\n", cli.OneLine(*r.HaltReason))
	case r.CeilingReason != nil:
		fmt.Fprintf(w, "stopped: %s\n", cli.OneLine(*r.CeilingReason))
	case r.Outcome == journal.NothingToDo:
		fmt.Fprintln(w, "every item is done")
	case r.Outcome == journal.NothingSelectable:
		fmt.Fprintln(w, "no item can be taken now: those that are not done are claimed, failed, blocked or skipped")
	}
	printMoney(w, r)
	for _, repo := range r.Repositories {
		if repo.Error != nil {
			fmt.Fprintf(w, "remote %s%s: %s\n", repo.Remote, inRepository(repo.Repo), *repo.Error)
			if repo.ErrorDetail != nil {
				fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(*repo.ErrorDetail, "\n", "\n  "))
			}
		}
	}
}

// printMoney says what the wave cost and how its limits stand.
func printMoney(w io.Writer, r wave.Report) {
	if r.CostUSD != nil && *r.CostUSD != cost.Money(0).String() {
		fmt.Fprintf(w, "cost: $%s\n", *r.CostUSD)
	}
	if r.Budget == nil {
		return
	}
	if r.CostUSD == nil && slices.ContainsFunc(r.Items, func(i wave.ItemReport) bool { return len(i.Attempts) > 0 }) {
		fmt.Fprintln(w, "cost: not known in full")
	}
	for _, l := range r.Budget.Limits {
		dollar, unit := "", " tokens"
		if l.Unit == "usd" {
			dollar, unit = "$", ""
		}
		line := fmt.Sprintf("limit %s: %s%s of %s%s%s spent", cli.OneLine(strings.TrimSpace(l.Name+" "+l.Item)), dollar, l.Spent, dollar, l.Limit, unit)
		if l.Estimated != "0" && l.Estimated != cost.Money(0).String() {
			line += fmt.Sprintf("; %s%s of that charged for what is not known", dollar, l.Estimated)
		}
		if l.Unknown > 0 {
			line += fmt.Sprintf("; %d calls are not in it", l.Unknown)
		}
		fmt.Fprintln(w, line)
	}
	for _, warning := range r.Budget.Warnings {
		fmt.Fprintf(w, "warning: %s\n", cli.OneLine(warning))
	}
}

// printNext says what to do now.
func printNext(w io.Writer, state string, r wave.Report) {
	for _, repo := range r.Repositories {
		switch {
		case repo.Pushed && repo.Remote == ".":
			fmt.Fprintf(w, "next: look at branch %s%s\n", *repo.Branch, inRepository(repo.Repo))
			fmt.Fprintf(w, "      %s diff %s...%s\n", gitIn(repo.Repo), repo.Base, *repo.Branch)
		case repo.Pushed:
			fmt.Fprintf(w, "next: look at branch %s on %s%s\n", *repo.Branch, repo.Remote, inRepository(repo.Repo))
			fmt.Fprintf(w, "      %s fetch %s && %s diff %s/%s...%s/%s\n", gitIn(repo.Repo), repo.Remote, gitIn(repo.Repo), repo.Remote, repo.Base, repo.Remote, *repo.Branch)
		}
	}
	for _, i := range r.Items {
		switch i.State {
		case journal.StateShipped, journal.StateParked:
		case journal.StateNotVerified, journal.StateFenceViolation, journal.StateSecretFound, journal.StateIntegrationFailed, journal.StateReviewRejected, journal.StateNoChanges:
			fmt.Fprintf(w, "next: wave show %s; to have it done again, tracker retry %s\n", cli.OneLine(i.ID), cli.OneLine(i.ID))
		default:
			fmt.Fprintf(w, "next: wave show %s\n", cli.OneLine(i.ID))
		}
	}
	if r.Error != nil && r.Error.Code == "base_red" {
		fmt.Fprintf(w, "next: its output is in %s\n", filepath.ToSlash(filepath.Join(state, "waves", r.Wave, "_wave.log")))
	}
	switch r.Outcome {
	case journal.Halted:
		if len(r.Items) > 0 {
			fmt.Fprintln(w, "next: wave halt clear, then wave resume with the driver's flags")
		} else {
			fmt.Fprintln(w, "next: wave halt clear")
		}
	case journal.Ceiling:
		fmt.Fprintln(w, "next: raise the limit, or wait until what it counts begins anew (a day at midnight UTC, a wave with the next one; an item's never)")
		switch {
		case slices.ContainsFunc(r.Items, func(i wave.ItemReport) bool { return i.State == journal.StateParked }):
			fmt.Fprintln(w, "next: wave resume with the driver's flags")
		case len(r.Items) > 0:
			fmt.Fprintln(w, "next: wave run takes what was released")
		}
	case journal.Interrupted, journal.ErrorOutcome, journal.GateUnavailable:
		if len(r.Items) > 0 {
			fmt.Fprintln(w, "next: wave resume with the driver's flags")
		}
	}
	if len(r.Items) > 0 {
		fmt.Fprintf(w, "report: %s\n", filepath.ToSlash(wave.ReportPath(state, r.Wave)))
	}
}

// gitIn is git as it is called in one of several repositories.
func gitIn(name string) string {
	if name == "." {
		return "git"
	}
	return "git -C " + cli.OneLine(name)
}

// firstLine is the first line of what agents and programs wrote.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return cli.OneLine(line)
}
