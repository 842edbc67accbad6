package wave

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aesop/wave/journal"
	"aesop/wave/policy"
)

const (
	stepDone          = "done"
	stepPartial       = "partial"
	stepNotConfigured = "not_configured"
)

// NewReport is the report of a wave as its events have it now.
func NewReport(w *journal.Wave) Report {
	report := Report{SchemaVersion: SchemaVersion, Wave: w.ID, Outcome: w.Outcome(), StartedAt: w.StartedAt.UTC(), Driver: w.Driver, Prompt: w.Plan.Prompt,
		Items: []ItemReport{}, Skipped: append([]journal.Skipped{}, w.Skipped...), Gates: []GateReport{},
		Repositories: []RepositoryReport{}, Confinement: confinement(w), Survivors: append([]string{}, w.Survivors...), Resumed: append([]journal.Resume{}, w.Plan.Resumed...)}
	if !w.EndedAt.IsZero() {
		ended := w.EndedAt.UTC()
		report.EndedAt = &ended
	}
	for _, id := range w.Order {
		report.Items = append(report.Items, itemReport(w, w.Items[id]))
	}
	for _, repository := range w.In() {
		report.Repositories = append(report.Repositories, repositoryReport(w, repository))
	}
	if len(w.Plan.Repositories) == 1 {
		report.Base = orNull(w.In()[0].Base)
	}
	for _, g := range w.Gates {
		report.Gates = append(report.Gates, GateReport(g))
	}
	if len(w.Order) > 0 {
		report.Policy = &PolicyReport{SpotCheck: w.Plan.SpotCheck, Repairs: w.Plan.Repairs, Review: w.Plan.ReviewShare}
	}
	report.addMoney(w)
	report.Steps = steps(w)
	report.addEnd(w)
	return report
}

// addEnd fills in why a wave is not simply over.
func (r *Report) addEnd(w *journal.Wave) {
	if w.End != nil {
		r.Outcome = w.End.Outcome
		if reason := w.Refused(); reason != "" && r.Outcome == journal.Ceiling {
			r.CeilingReason = &reason
		}
	} else if w.Stop == nil && len(w.Order) > 0 {
		reason := unfinished
		r.Outcome, r.HaltReason = journal.Interrupted, &reason
	}
	if w.Stop != nil {
		r.Outcome = w.Stop.Outcome
		switch w.Stop.Outcome {
		case journal.Ceiling:
			r.CeilingReason = &w.Stop.Reason
		case journal.ErrorOutcome:
			r.Error = w.Stop.Error
		default:
			r.HaltReason = &w.Stop.Reason
		}
	}
	if w.RedBase() {
		repositories := w.In()
		red := repositories[slices.IndexFunc(repositories, (*journal.RepositoryState).Red)]
		r.Error = &ReportError{Code: "base_red", Message: redBase(red), Hint: "repair the base, or set allowRedBase"}
	}
}

func redBase(r *journal.RepositoryState) string {
	test := r.Tested.Test
	return fmt.Sprintf("%s fails on the base: %s", r.Tested.Command, lastLine(test.Stdout, test.Stderr, test.Reason))
}

// unfinished is what a report says of a wave that has neither ended nor stopped.
const unfinished = "the wave is not finished: it is running, or its process died"

func lastLine(texts ...string) string {
	line := ""
	for _, text := range texts {
		for l := range lines(text) {
			line = l
		}
	}
	return line
}

func itemReport(w *journal.Wave, i *journal.ItemState) ItemReport {
	row := ItemReport{ID: i.ID, Slug: i.Slug, Repo: i.Repo, Backend: w.Driver, Model: orNull(i.Model), Tier: w.Tier, TestCmd: i.TestText,
		Attempts: []AttemptReport{}, Usage: i.Usage(), Judgements: []JudgementReport{}, Unanswered: []UnansweredReport{}, Corrections: []string{}, Corrected: []CorrectionReport{}, Log: filepath.ToSlash(logName(w.ID, i.ID)),
		Durations: DurationsReport{BuildMs: i.BuildTime.Milliseconds(), VerifyMs: i.TestTime.Milliseconds(), ShipMs: i.ShipTime.Milliseconds()}}
	row.State, row.Reason, row.Failure = itemEnd(w, i)
	for _, a := range i.Attempts {
		row.Attempts = append(row.Attempts, attemptReport(a))
		row.Backend, row.Tier, row.Model = a.Driver, a.Tier, orNull(a.Model)
		if a.Ended != nil && a.Test != nil {
			row.TestExit, row.TestsRun, row.TreeSHA = a.Test.Exit, a.Test.Tests, orNull(a.Ended.Tree)
		}
	}
	row.CostUSD = costOf(i.Charge())
	row.addPeople(i)
	if s := i.Scanned; s != nil {
		row.Scan = &ScanReport{Commit: s.Commit, Allowed: append([]string{}, s.Allowed...), Warnings: append([]string{}, s.Warnings...)}
	}
	if i.Rebased != nil {
		row.TreeSHA = &i.Rebased.Tree
	}
	if test := i.Proof(); test != nil {
		row.TestExit, row.TestsRun = test.Exit, test.Tests
	}
	if i.BaseTest != nil {
		result := passedOrFailed(*i.BaseTest)
		row.TestOnBase, row.TestsOnBase = &result, i.BaseTest.Tests
	}
	if i.SpotChecked() {
		result := passedOrFailed(i.Again.Test)
		row.SpotCheck = &result
	}
	if i.Built() && !i.Refuted() && i.Adopted == nil {
		proof := proof(i.Proof(), i.BaseTest)
		row.Verified, row.Proof = true, &proof
	}
	if i.Commit != "" {
		row.Pushed, row.Commit = true, &i.Commit
		branch := ""
		if i.Adopted != nil {
			branch = i.Adopted.Branch
		} else {
			branch = w.Of(i).Shipped.Branch
		}
		row.Branch = &branch
	}
	return row
}

// addMoney fills in what the wave cost, and how its limits stand.
func (r *Report) addMoney(w *journal.Wave) {
	var all *journal.Charge
	for _, id := range w.Order {
		all = all.Add(w.Items[id].Charge())
	}
	r.CostUSD = costOf(all)
	if b := w.Budget; b != nil {
		r.Budget = &BudgetReport{Limits: append([]journal.LimitState{}, b.Limits...), Unpriced: b.Unpriced, Unmetered: b.Unmetered, Prices: b.Prices,
			Warnings: append([]string{}, b.Warnings...), Alerts: append([]journal.AlertState{}, w.Alerts...)}
	}
}

// budgetStep says whether the limits were looked at to the end.
func budgetStep(w *journal.Wave) string {
	switch {
	case !w.Plan.Limited && w.Budget == nil:
		return stepNotConfigured
	case w.Budget == nil:
		return stepPartial
	}
	return stepDone
}

// costOf is what agents cost, null where some of it is not known, or none was started.
func costOf(c *journal.Charge) *string {
	if c == nil || !c.Known {
		return nil
	}
	text := c.USD.String()
	return &text
}

// addPeople fills in what the seats said of the item, and what people changed.
func (row *ItemReport) addPeople(i *journal.ItemState) {
	for _, c := range i.Corrected {
		row.Corrected = append(row.Corrected, correctionReport(c))
		if c.Passed() {
			row.Corrections = append(row.Corrections, correctionLine(c))
			row.TreeSHA = orNull(c.Tree)
		}
	}
	for _, seat := range []string{journal.SeatReview, journal.SeatApprove} {
		if j := i.Judged[seat]; j.Seat != "" {
			row.Judgements = append(row.Judgements, JudgementReport{Seat: j.Seat, OK: j.OK, By: j.By, Reason: j.Reason, Usage: j.Usage})
		}
	}
	for _, u := range i.Unanswered {
		row.Unanswered = append(row.Unanswered, UnansweredReport{Seat: u.Seat, Reason: u.Reason, Usage: u.Usage})
	}
	if i.Waits() {
		row.Waiting = &WaitingReport{Commit: i.Verified, Since: i.AskedAt.UTC()}
	}
}

func correctionReport(c journal.Corrected) CorrectionReport {
	row := CorrectionReport{By: c.By, Reason: c.Reason, Files: append([]string{}, c.Files...), Of: c.Of, Commit: orNull(c.Commit), Detail: c.Why()}
	if c.Test != nil {
		row.Verified, row.TestExit = c.Test.Passed, c.Test.Exit
	}
	return row
}

// correctionLine is a correction in one line.
func correctionLine(c journal.Corrected) string {
	line := strings.Join(c.Files[:min(len(c.Files), maxNamed)], ", ")
	if more := len(c.Files) - maxNamed; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	if c.By != "" {
		line += " by " + c.By
	}
	if c.Reason != "" {
		line += ": " + c.Reason
	}
	return line
}

func passedOrFailed(t journal.Test) string {
	if t.Passed {
		return "passed"
	}
	return "failed"
}

// itemEnd is how the item stands: ended, shipped, or held up by what held up the wave.
func itemEnd(w *journal.Wave, i *journal.ItemState) (journal.State, string, *journal.Failure) {
	switch {
	case i.Adopted != nil:
		return journal.StateShipped, "adopted: shipped by wave " + i.Adopted.Wave, nil
	case i.Commit != "" && i.Lost:
		return journal.StateShipped, "the backlog could not be told: it no longer has this wave's claim", nil
	case i.Commit != "" && i.Changed:
		return journal.StateShipped, "what shipped is the text that was planned; it was changed meanwhile", nil
	case i.Commit != "":
		return journal.StateShipped, "", nil
	case i.End != nil:
		return i.End.State, i.End.Reason, i.End.Failure
	case w.Stop != nil:
		return journal.StateParked, w.Stop.Reason, nil
	}
	repository := w.Of(i)
	switch {
	case i.Verified != "" && repository.PushError != nil:
		return journal.StateShipFailed, repository.PushError.Error, &journal.Failure{Step: "ship", Command: "git push", Tail: repository.PushError.Detail}
	case repository.Failed != nil:
		return journal.StateParked, repository.Failed.Error, &journal.Failure{Step: "repository", Tail: repository.Failed.Detail}
	}
	if i.Waits() {
		return journal.StateParked, "it waits for approval", nil
	}
	return journal.StateParked, unfinished, nil
}

func attemptReport(a journal.Attempt) AttemptReport {
	row := AttemptReport{Attempt: a.ID, Outcome: "running"}
	if a.Ended == nil {
		return row
	}
	row.Outcome, row.DurationMs, row.Usage = a.Ended.Outcome, a.Ended.DurationMs, a.Ended.Usage
	row.Resumed, row.Parked = a.Ended.Resumed, orNull(a.Ended.Parked)
	if s := a.Ended.Said; s != nil {
		row.Said = &SaidReport{Status: orNull(s.Status), Reason: orNull(s.Reason), Report: orNull(s.Report), Fault: orNull(s.Fault)}
	}
	if a.Test != nil {
		row.Outcome = journal.OutcomeNotVerified
		if a.Test.Passed {
			row.Outcome = journal.OutcomeVerified
		}
	}
	return row
}

func repositoryReport(w *journal.Wave, r *journal.RepositoryState) RepositoryReport {
	row := RepositoryReport{Repo: r.Name, Remote: r.Remote, Base: r.Branch, BaseCommit: orNull(r.Base), Fence: "item_refs", Dirty: append([]string{}, r.Dirty...)}
	if r.Weak || r.Shipped != nil && r.Shipped.Weak {
		row.Fence = "weak"
	}
	if r.Shipped != nil {
		row.Branch, row.SHA, row.Pushed = &r.Shipped.Branch, &r.Shipped.Tip, true
	}
	fault := func(word, detail string) { row.Error, row.ErrorDetail = &word, &detail }
	switch {
	case r.Failed != nil:
		fault(r.Failed.Error, r.Failed.Detail)
	case r.PushError != nil && r.Shipped == nil:
		fault(r.PushError.Error, r.PushError.Detail)
	case r.Red() && !w.Plan.RedBase:
		fault("base_red", redBase(r))
	}
	return row
}

func steps(w *journal.Wave) StepsReport {
	s := StepsReport{Verify: stepDone, SpotCheck: shareStep(w, w.Plan.SpotCheck, checkable, (*journal.ItemState).SpotChecked), Review: stepNotConfigured, Approve: stepNotConfigured, Scan: scanStep(w), Budget: budgetStep(w)}
	if len(w.Order) == 0 {
		s.Verify = stepPartial
	}
	for _, id := range w.Order {
		if last := w.Items[id].Last(); last == nil || last.Test == nil {
			s.Verify = stepPartial
		}
	}
	if w.Review {
		s.Review = shareStep(w, w.Plan.ReviewShare, reviewable, reviewed)
	}
	if w.Approve {
		s.Approve = stepDone
		if slices.ContainsFunc(w.Select(reviewable), func(i *journal.ItemState) bool { return i.Judged[journal.SeatApprove].Seat == "" }) {
			s.Approve = stepPartial
		}
	}
	return s
}

// scanStep says whether every commit that could be pushed was scanned.
func scanStep(w *journal.Wave) string {
	made := func(i *journal.ItemState) bool { return i.Verified != "" && i.Adopted == nil }
	if len(w.Order) == 0 || slices.ContainsFunc(w.Select(made), func(i *journal.ItemState) bool { return !i.WasScanned() }) || len(w.Select(unbuilt)) > 0 {
		return stepPartial
	}
	return stepDone
}

// unbuilt says that an item may still come to be verified.
func unbuilt(i *journal.ItemState) bool { return i.Open() && !i.Built() }

// shareStep says whether as many items had a step as the share of those that count asks for. Which ones they are the key decides, and
// only they have it.
func shareStep(w *journal.Wave, share float64, counts, had func(*journal.ItemState) bool) string {
	due := policy.Count(share, len(w.Select(counts)))
	switch {
	case share == 0:
		return stepNotConfigured
	case len(w.Order) == 0 || len(w.Select(had)) < due || len(w.Select(unbuilt)) > 0:
		return stepPartial
	}
	return stepDone
}

// confinement is the weakest that held for any child of the wave.
func confinement(w *journal.Wave) string {
	held := ""
	weaken := func(c string) { held = weaker(held, c) }
	test := func(t *journal.Test) {
		if t != nil {
			weaken(t.Confinement)
		}
	}
	for _, id := range w.Order {
		i := w.Items[id]
		for _, a := range i.Attempts {
			if a.Ended != nil {
				weaken(a.Ended.Confinement)
			}
			test(a.Test)
		}
		for _, c := range i.Corrected {
			test(c.Test)
		}
		if i.Again != nil {
			test(&i.Again.Test)
		}
		for _, u := range i.Unanswered {
			weaken(u.Confinement)
		}
		weaken(i.Judged[journal.SeatReview].Confinement)
		weaken(i.Judged[journal.SeatApprove].Confinement)
	}
	return cmp.Or(held, "none")
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
