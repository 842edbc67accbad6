package wave

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2/maybe"

	"aesop/cost"
	"aesop/tracker"
	"aesop/wave/journal"
)

// SchemaVersion is the version of every document that a wave writes.
const SchemaVersion = 1

// Report says what happened in a wave. It is a fold of the wave's events; see docs/REPORT-CONTRACT.md for every field.
type Report struct {
	SchemaVersion int                `json:"schemaVersion"`
	Wave          string             `json:"wave"`
	Outcome       journal.Outcome    `json:"outcome"`
	Merged        bool               `json:"merged"` // always false
	StartedAt     time.Time          `json:"startedAt"`
	EndedAt       *time.Time         `json:"endedAt"`
	Base          *string            `json:"base"`
	Driver        string             `json:"driver"`
	Prompt        string             `json:"prompt"` // version and hash of the template
	Items         []ItemReport       `json:"items"`
	Skipped       []journal.Skipped  `json:"skipped"`
	Repositories  []RepositoryReport `json:"repositories"`
	Gates         []GateReport       `json:"gates"`
	Steps         StepsReport        `json:"steps"`
	Confinement   string             `json:"confinement"`
	Resumed       []journal.Resume   `json:"resumed"`
	HaltReason    *string            `json:"haltReason"`
	CeilingReason *string            `json:"ceilingReason"`
	Error         *ReportError       `json:"error"`
}

// ItemReport is one selected item.
type ItemReport struct {
	ID          string           `json:"id"`
	Slug        string           `json:"slug"`
	State       journal.State    `json:"state"`
	Reason      string           `json:"reason"`
	Backend     string           `json:"backend"`
	Model       *string          `json:"model"`
	Tier        int              `json:"tier"`
	Verified    bool             `json:"verified"`
	Proof       *string          `json:"proof"` // exit_only, counter_proved
	TestCmd     string           `json:"testCmd"`
	TestExit    *int             `json:"testExit"`
	TestsRun    *int             `json:"testsRun"`
	TreeSHA     *string          `json:"treeSha"`
	Attempts    []AttemptReport  `json:"attempts"`
	Usage       cost.Usage       `json:"usage"`
	CostUSD     *string          `json:"costUsd"`
	Branch      *string          `json:"branch"`
	Commit      *string          `json:"commit"`
	Pushed      bool             `json:"pushed"`
	Failure     *journal.Failure `json:"failure"`
	Corrections []string         `json:"corrections"`
	Log         string           `json:"log"` // below the state directory
	Durations   DurationsReport  `json:"durations"`
}

// AttemptReport is one dispatch.
type AttemptReport struct {
	Attempt    string     `json:"attempt"`
	Outcome    string     `json:"outcome"`
	DurationMs int64      `json:"durationMs"`
	Usage      cost.Usage `json:"usage"`
	Parked     *string    `json:"parked"` // folder below the state directory that keeps the agent's tree
}

// DurationsReport are sums over an item's attempts.
type DurationsReport struct {
	BuildMs  int64 `json:"buildMs"`
	VerifyMs int64 `json:"verifyMs"`
	ShipMs   int64 `json:"shipMs"`
}

// RepositoryReport is a repository that the wave worked on.
type RepositoryReport struct {
	Repo        string   `json:"repo"`
	Remote      string   `json:"remote"`
	Base        string   `json:"base"`
	Branch      *string  `json:"branch"`
	SHA         *string  `json:"sha"`
	Pushed      bool     `json:"pushed"`
	Fence       string   `json:"fence"`
	Error       *string  `json:"error"`
	ErrorDetail *string  `json:"errorDetail"`
	Dirty       []string `json:"dirty"` // changed paths of the user's work tree, which the wave did not see
}

// GateReport is the newest answer of a gate at a point.
type GateReport struct {
	Name    string `json:"name"`
	At      string `json:"at"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// StepsReport says of each step: done, partial or not_configured.
type StepsReport struct {
	Verify  string `json:"verify"`
	Review  string `json:"review"`
	Approve string `json:"approve"`
	Scan    string `json:"scan"`
	Budget  string `json:"budget"`
}

// ReportError is what kept a wave from running.
type ReportError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Field   string `json:"field"`
	Hint    string `json:"hint"`
}

const (
	stepDone          = "done"
	stepPartial       = "partial"
	stepNotConfigured = "not_configured"
)

// NewReport is the report of a wave as its events have it now.
func NewReport(w *journal.Wave) Report {
	report := Report{SchemaVersion: SchemaVersion, Wave: w.ID, Outcome: w.Outcome(), StartedAt: w.StartedAt.UTC(), Driver: w.Plan.Driver, Prompt: w.Plan.Prompt,
		Base: orNull(w.Plan.Base), Items: []ItemReport{}, Skipped: append([]journal.Skipped{}, w.Skipped...), Gates: []GateReport{},
		Repositories: []RepositoryReport{}, Confinement: confinement(w), Resumed: append([]journal.Resume{}, w.Plan.Resumed...)}
	if !w.EndedAt.IsZero() {
		ended := w.EndedAt.UTC()
		report.EndedAt = &ended
	}
	for _, id := range w.Order {
		report.Items = append(report.Items, itemReport(w, w.Items[id]))
	}
	if w.Plan.Base != "" {
		report.Repositories = append(report.Repositories, repositoryReport(w))
	}
	for _, g := range w.Gates {
		report.Gates = append(report.Gates, GateReport(g))
	}
	report.Steps = steps(w)
	report.addEnd(w)
	return report
}

// addEnd fills in why a wave is not simply over.
func (r *Report) addEnd(w *journal.Wave) {
	if w.End != nil {
		r.Outcome = w.End.Outcome
	}
	if w.Stop != nil {
		r.Outcome = w.Stop.Outcome
		switch w.Stop.Outcome {
		case journal.Ceiling:
			r.CeilingReason = &w.Stop.Reason
		default:
			r.HaltReason = &w.Stop.Reason
		}
	}
	if w.RedBase() {
		tail := w.Base.Test
		r.Error = &ReportError{Code: "base_red", Message: fmt.Sprintf("%s fails on the base: %s", w.Base.Command, lastLine(tail.Stdout, tail.Stderr, tail.Reason)),
			Hint: "repair the base, or allow it with --allow-red-base"}
	}
}

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
	row := ItemReport{ID: i.ID, Slug: i.Slug, Backend: w.Plan.Driver, Model: orNull(i.Model), Tier: w.Plan.Tier, TestCmd: i.TestText,
		Attempts: []AttemptReport{}, Usage: i.Usage(), Corrections: []string{}, Log: filepath.ToSlash(logName(w.ID, i.ID)),
		Durations: DurationsReport{BuildMs: i.BuildTime.Milliseconds(), VerifyMs: i.TestTime.Milliseconds(), ShipMs: i.ShipTime.Milliseconds()}}
	row.State, row.Reason, row.Failure = itemEnd(w, i)
	for _, a := range i.Attempts {
		row.Attempts = append(row.Attempts, attemptReport(a))
		if a.Ended != nil && a.Test != nil {
			row.TestExit, row.TreeSHA = a.Test.Exit, orNull(a.Ended.Tree)
		}
	}
	if i.Verified != "" && i.Adopted == nil {
		proof := "exit_only"
		row.Verified, row.Proof = true, &proof
	}
	if i.Commit != "" {
		row.Pushed, row.Commit = true, &i.Commit
		branch := ""
		if i.Adopted != nil {
			branch = i.Adopted.Branch
		} else {
			branch = w.Shipped.Branch
		}
		row.Branch = &branch
	}
	return row
}

// itemEnd is how the item stands: ended, shipped, or held up by what held up the wave.
func itemEnd(w *journal.Wave, i *journal.ItemState) (journal.State, string, *journal.Failure) {
	switch {
	case i.Adopted != nil:
		return journal.StateShipped, "adopted: shipped by wave " + i.Adopted.Wave, nil
	case i.Commit != "":
		return journal.StateShipped, "", nil
	case i.End != nil:
		return i.End.State, i.End.Reason, i.End.Failure
	case w.Stop != nil:
		return journal.StateParked, w.Stop.Reason, nil
	case i.Verified != "" && w.PushError != nil:
		return journal.StateShipFailed, w.PushError.Error, &journal.Failure{Step: "ship", Command: "git push", Tail: w.PushError.Detail}
	}
	return journal.StateParked, "the wave is not finished", nil
}

func attemptReport(a journal.Attempt) AttemptReport {
	row := AttemptReport{Attempt: a.ID, Outcome: "running"}
	if a.Ended == nil {
		return row
	}
	row.Outcome, row.DurationMs, row.Usage, row.Parked = a.Ended.Outcome, a.Ended.DurationMs, a.Ended.Usage, orNull(a.Ended.Parked)
	if a.Test != nil {
		row.Outcome = journal.OutcomeNotVerified
		if a.Test.Passed {
			row.Outcome = journal.OutcomeVerified
		}
	}
	return row
}

func repositoryReport(w *journal.Wave) RepositoryReport {
	row := RepositoryReport{Repo: ".", Remote: w.Plan.Remote, Base: w.Plan.Branch, Fence: "item_refs", Dirty: append([]string{}, w.Plan.Dirty...)}
	if w.Shipped != nil {
		row.Branch, row.SHA, row.Pushed = &w.Shipped.Branch, &w.Shipped.Tip, true
	}
	if w.PushError != nil && w.Shipped == nil {
		row.Error, row.ErrorDetail = &w.PushError.Error, &w.PushError.Detail
	}
	return row
}

func steps(w *journal.Wave) StepsReport {
	s := StepsReport{Verify: stepDone, Review: stepNotConfigured, Approve: stepNotConfigured, Scan: stepNotConfigured, Budget: stepNotConfigured}
	judged := func(seat string) string {
		for _, id := range w.Order {
			if i := w.Items[id]; i.Verified != "" && i.Judged[seat].Seat == "" {
				return stepPartial
			}
		}
		return stepDone
	}
	if len(w.Order) == 0 {
		s.Verify = stepPartial
	}
	for _, id := range w.Order {
		if last := w.Items[id].Last(); last == nil || last.Test == nil {
			s.Verify = stepPartial
		}
	}
	if w.Plan.Review {
		s.Review = judged(journal.SeatReview)
	}
	if w.Plan.Approve {
		s.Approve = judged(journal.SeatApprove)
	}
	return s
}

// confinement is the weakest that held for any child of the wave.
func confinement(w *journal.Wave) string {
	held := ""
	weaken := func(c string) {
		if held == "" || c == "none" {
			held = c
		}
	}
	for _, id := range w.Order {
		for _, a := range w.Items[id].Attempts {
			if a.Ended != nil && a.Ended.Confinement != "" {
				weaken(a.Ended.Confinement)
			}
			if a.Test != nil && a.Test.Confinement != "" {
				weaken(a.Test.Confinement)
			}
		}
	}
	if held == "" {
		return "none"
	}
	return held
}

// failedReport is the report of a wave that could not even be planned.
func failedReport(id string, s *Scheduler, err error) Report {
	report := NewReport(journal.New(id))
	report.StartedAt, report.Driver = s.config.Clock().UTC(), s.config.Driver.Info().Name
	report.Outcome, report.Error = journal.ErrorOutcome, Explain(err)
	return report
}

// Explain turns an error into its form in documents.
func Explain(err error) *ReportError {
	if file, ok := errors.AsType[*tracker.FileError](err); ok {
		return &ReportError{Code: file.Code, Message: file.Message, File: file.File, Line: file.Line, Field: file.Field, Hint: file.Hint}
	}
	if setup, ok := errors.AsType[*SetupError](err); ok {
		return &ReportError{Code: setup.Code, Message: setup.Message, Hint: setup.Hint}
	}
	if alive, ok := errors.AsType[*AliveError](err); ok {
		return &ReportError{Code: "alive", Message: alive.Error(), Hint: "wait for it, or stop that process"}
	}
	return &ReportError{Code: "internal", Message: err.Error()}
}

// ReportPath is where the report of a wave is, below a state directory.
func ReportPath(state, wave string) string { return filepath.Join(state, "waves", wave, "report.json") }

func (r *run) writeReport(report Report) error {
	data, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if redactor := r.s.config.Redactor; redactor != nil {
		data = redactor.Bytes(data)
	}
	path := ReportPath(r.s.config.State, r.id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := maybe.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fail("report")
	return nil
}

// cleanUp removes the trees of a finished wave that are not parked.
func (r *run) cleanUp() {
	wave := r.journal.Wave()
	parked := false
	for _, id := range wave.Order {
		for _, a := range wave.Items[id].Attempts {
			parked = parked || a.Ended != nil && a.Ended.Parked != ""
		}
	}
	r.discard(filepath.Join(r.s.config.State, "trees", r.id, "caches"))
	if !parked {
		r.discard(filepath.Join(r.s.config.State, "trees", r.id))
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
