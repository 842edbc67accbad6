package wave

import (
	"time"

	"aesop/cost"
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
	Policy        *PolicyReport      `json:"policy"` // null where nothing was planned
	Steps         StepsReport        `json:"steps"`
	CostUSD       *string            `json:"costUsd"` // of all items; null where some of it is not known
	Budget        *BudgetReport      `json:"budget"`  // null where nothing is limited
	Confinement   string             `json:"confinement"`
	Survivors     []string           `json:"survivors"` // processes that a kill did not end
	Resumed       []journal.Resume   `json:"resumed"`
	HaltReason    *string            `json:"haltReason"`
	CeilingReason *string            `json:"ceilingReason"`
	Error         *ReportError       `json:"error"`
}

// ItemReport is one selected item.
type ItemReport struct {
	ID          string             `json:"id"`
	Slug        string             `json:"slug"`
	Repo        string             `json:"repo"` // its row in repositories
	State       journal.State      `json:"state"`
	Reason      string             `json:"reason"`
	Backend     string             `json:"backend"`
	Model       *string            `json:"model"`
	Tier        int                `json:"tier"`
	Verified    bool               `json:"verified"`
	Proof       *string            `json:"proof"` // exit_only, counter_proved
	TestCmd     string             `json:"testCmd"`
	TestExit    *int               `json:"testExit"`
	TestOnBase  *string            `json:"testOnBase"`  // passed or failed before any change; null where it was not run
	TestsRun    *int               `json:"testsRun"`    // executed by the newest test of a commit
	SpotCheck   *string            `json:"spotCheck"`   // passed or failed, the second time; null where it was not chosen for one
	TestsOnBase *int               `json:"testsOnBase"` // executed before any change
	TreeSHA     *string            `json:"treeSha"`
	Attempts    []AttemptReport    `json:"attempts"`
	Usage       cost.Usage         `json:"usage"`
	CostUSD     *string            `json:"costUsd"`
	Branch      *string            `json:"branch"`
	Commit      *string            `json:"commit"`
	Pushed      bool               `json:"pushed"`
	Failure     *journal.Failure   `json:"failure"`
	Scan        *ScanReport        `json:"scan"`    // null where no commit of it was scanned
	Waiting     *WaitingReport     `json:"waiting"` // null where nobody is asked about it now
	Judgements  []JudgementReport  `json:"judgements"`
	Unanswered  []UnansweredReport `json:"unanswered"`  // times that a seat gave no judgement
	Corrections []string           `json:"corrections"` // those that took a commit's place, in words
	Corrected   []CorrectionReport `json:"corrected"`   // every one that was tried
	Log         string             `json:"log"`         // below the state directory
	Durations   DurationsReport    `json:"durations"`
}

// ScanReport is what a scan of an item's commit found that does not keep it from shipping, a line each; what does is its failure.
type ScanReport struct {
	Commit   string   `json:"commit"`
	Allowed  []string `json:"allowed"`  // with what allows it
	Warnings []string `json:"warnings"` // such as a name that files with secrets have
}

// WaitingReport is a question that a person has not answered yet.
type WaitingReport struct {
	Commit string    `json:"commit"`
	Since  time.Time `json:"since"`
}

// JudgementReport is the word of one seat.
type JudgementReport struct {
	Seat   string      `json:"seat"`
	OK     bool        `json:"ok"`
	By     string      `json:"by"`
	Reason string      `json:"reason"`
	Usage  *cost.Usage `json:"usage"` // of the agents that were asked; null where none was
}

// UnansweredReport is a time that a seat gave no judgement, though agents were at work for it.
type UnansweredReport struct {
	Seat   string      `json:"seat"`
	Reason string      `json:"reason"`
	Usage  *cost.Usage `json:"usage"` // of those agents; null where the seat does not tell
}

// CorrectionReport is what a person changed by hand, and what came of it.
type CorrectionReport struct {
	By       string   `json:"by"`
	Reason   string   `json:"reason"`
	Files    []string `json:"files"`
	Of       string   `json:"of"`     // the commit that was corrected
	Commit   *string  `json:"commit"` // null where there could be none
	Verified bool     `json:"verified"`
	TestExit *int     `json:"testExit"`
	Detail   string   `json:"detail"` // why it did not take the commit's place
}

// AttemptReport is one dispatch.
type AttemptReport struct {
	Attempt    string      `json:"attempt"`
	Outcome    string      `json:"outcome"`
	DurationMs int64       `json:"durationMs"`
	Usage      cost.Usage  `json:"usage"`
	Resumed    bool        `json:"resumed"` // it went on with the session of the attempt before
	Parked     *string     `json:"parked"`  // folder below the state directory that keeps the agent's tree
	Said       *SaidReport `json:"said"`    // null where the agent left nothing to be heard
}

// SaidReport is what an agent said of its attempt. It decides nothing.
type SaidReport struct {
	Status *string `json:"status"` // completed, failed, cancelled
	Reason *string `json:"reason"`
	Report *string `json:"report"` // that it finalised, below the state directory
	Fault  *string `json:"fault"`  // why something of it does not count
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
	Base        string   `json:"base"` // branch
	BaseCommit  *string  `json:"baseCommit"`
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

// PolicyReport is how much proof the wave asked for.
type PolicyReport struct {
	SpotCheck float64 `json:"spotCheck"` // share of the verified items that is verified once more
	Repairs   int     `json:"repairs"`   // rounds after the first dispatch
	Review    float64 `json:"review"`    // share of the verified items that is reviewed, where there is a reviewer
}

// StepsReport says of each step: done, partial or not_configured.
type StepsReport struct {
	Verify    string `json:"verify"`
	SpotCheck string `json:"spotCheck"`
	Review    string `json:"review"`
	Approve   string `json:"approve"`
	Scan      string `json:"scan"`
	Budget    string `json:"budget"`
}

// BudgetReport is how the limits stand, and what made them shout.
type BudgetReport struct {
	Limits    []journal.LimitState `json:"limits"`
	Unpriced  cost.Policy          `json:"unpriced"`  // what becomes of work without a price: refuse, estimate or allow
	Unmetered cost.Policy          `json:"unmetered"` // and of agents that do not say what they use
	Prices    string               `json:"prices"`    // date of the price table
	Warnings  []string             `json:"warnings"`
	Alerts    []journal.AlertState `json:"alerts"`
}

// ReportError is what kept a wave from running.
type ReportError = journal.Fault
