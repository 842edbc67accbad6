// Package journal is the memory of a wave: its events, and the one fold that gives resume, report and live progress.
//
// What is in no event did not happen. Events are appended in the transaction that makes them true where they belong to the
// store, and as an intent before the effect where they belong to somebody else.
package journal

import (
	"fmt"
	"strings"

	"aesop/cost"
)

// Event is something that happened in a wave.
type Event interface {
	// Type is the stable name under which the event is stored.
	Type() string
}

// Planned begins a wave.
type Planned struct {
	Driver       string       `json:"driver"`
	Tier         int          `json:"tier"`
	Repairs      int          `json:"repairs"`     // rounds after the first dispatch
	SpotCheck    float64      `json:"spotCheck"`   // share of the verified items that is verified once more
	ReviewShare  float64      `json:"reviewShare"` // share of them that is reviewed, where there is a reviewer
	Prompt       string       `json:"prompt"`      // version and hash of the template
	RedBase      bool         `json:"redBase"`     // a base whose own test fails is allowed
	Repositories []Repository `json:"repositories"`
	Items        []Item       `json:"items"`
	Skipped      []Skipped    `json:"skipped"`
	Resumed      []Resume     `json:"resumed,omitempty"`
	Review       bool         `json:"review"`            // a reviewer is configured
	Approve      bool         `json:"approve"`           // an approver is configured
	Limited      bool         `json:"limited,omitempty"` // something is limited
	Place        string       `json:"place,omitempty"`   // Config.Place; "" in waves of older versions
}

// Repository is one of the repositories that a wave works on, as it was when the wave was planned.
type Repository struct {
	Name    string   `json:"name"`   // as the backlog's items have it, "." where they have none
	Path    string   `json:"path"`   // of its work tree
	Origin  string   `json:"origin"` // git remote that the base came from
	Remote  string   `json:"remote"` // where work ships to
	Branch  string   `json:"branch"` // of the remote that the base is the tip of
	Base    string   `json:"base"`
	Who     string   `json:"who"` // identity of the commits
	Email   string   `json:"email"`
	Dirty   []string `json:"dirty,omitempty"`
	Weak    bool     `json:"weak,omitempty"`    // it takes no refs of items, so that signed trailers must do
	Verify  Command  `json:"verify"`            // test of the whole repository; no words where there is none
	Guarded string   `json:"guarded,omitempty"` // digest of its git configuration and hooks, before any agent worked
	// Prepare are the lines that make a fresh tree ready, Carry the paths that are copied into it.
	Prepare []string `json:"prepare,omitempty"`
	Carry   []string `json:"carry,omitempty"`
	Carried string   `json:"carried,omitempty"` // digest of what Carry named when the wave began
}

// Command is a command as it runs, and as people wrote it.
type Command struct {
	Argv []string `json:"argv,omitempty"`
	Text string   `json:"text,omitempty"`
}

// Resume is a wave that the same run finished first.
type Resume struct {
	Wave    string   `json:"wave"`
	Outcome Outcome  `json:"outcome"`
	Branch  string   `json:"branch"`  // that was pushed; "" where none was
	Shipped []string `json:"shipped"` // ids of its items
}

// Item is one selected item, for people to read. What is run and prompted is the tracker's text, which is not redacted; the
// fingerprint says whether it is still the same.
type Item struct {
	ID          string   `json:"id"`
	Slug        string   `json:"slug"`
	Title       string   `json:"title"`
	Fingerprint string   `json:"fingerprint"`
	Repo        string   `json:"repo"`           // name of its repository
	Owns        []string `json:"owns,omitempty"` // patterns of its paths
	TestText    string   `json:"testText"`       // as people wrote it
	Model       string   `json:"model,omitempty"`
	Claim       string   `json:"claim"` // attempt id of the claim's token
	Attempts    int      `json:"attempts"`
}

// Skipped is an item that was not selected.
type Skipped struct {
	ID     string `json:"id"`
	Slug   string `json:"slug"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// Claimed says that the tracker granted the claims. Recorded are the shipments that the claimed rows had, by item: the item
// refs must be there, or absent.
type Claimed struct {
	Items    []string          `json:"items"`
	Recorded map[string]string `json:"recorded,omitempty"`
}

// Dropped takes an item out of the wave before any work: somebody else has it.
type Dropped struct {
	Item   string `json:"item"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// BaseTested is the run of the configured verify command on the base of a repository.
type BaseTested struct {
	Repo    string `json:"repo"`
	Command string `json:"command"`
	Test    Test   `json:"test"`
}

// Test is how a test command went.
type Test struct {
	Passed      bool   `json:"passed"`
	Exit        *int   `json:"exit"`
	TimedOut    bool   `json:"timedOut,omitempty"`
	Stdout      string `json:"stdout,omitempty"` // tails
	Stderr      string `json:"stderr,omitempty"`
	DurationMs  int64  `json:"durationMs"`
	Confinement string `json:"confinement"`
	Reason      string `json:"reason,omitempty"` // why it counts as failed, where exit code and output do not say it
	Tests       *int   `json:"tests,omitempty"`  // that were executed; nil: not known
	Runner      string `json:"runner,omitempty"` // that was seen in the output, or ""

	Survivors []string `json:"survivors,omitempty"` // processes that a kill did not end
}

// ItemBaseTested is the run of an item's test on the base, before its first dispatch.
type ItemBaseTested struct {
	Item string `json:"item"`
	Test Test   `json:"test"`
}

// AttemptStarted is a dispatch.
type AttemptStarted struct {
	Item    string `json:"item"`
	Attempt string `json:"attempt"`
	Round   int    `json:"round"`
	Driver  string `json:"driver"`
	Tier    int    `json:"tier"`
	Model   string `json:"model,omitempty"`
}

// Outcomes of an attempt.
const (
	OutcomeBuilt       = "built"    // there is a commit; the test decides
	OutcomeVerified    = "verified" // of the attempt whose commit passed
	OutcomeNotVerified = "not_verified"
	OutcomeNoChanges   = "no_changes"
	OutcomeFence       = "fence_violation"
	OutcomeDriver      = "driver_failed"
	OutcomeSecret      = "secret_found" // no agent was given the tree: a known secret is in it
	OutcomeCeiling     = "ceiling"      // the agent was ended since a limit had no room for more
	OutcomeSetup       = "setup_failed"
	OutcomeCancelled   = "cancelled"
)

// Said is what an agent left in the folder of its attempt. It is a hint: tests decide.
type Said struct {
	Status string `json:"status,omitempty"` // completed, failed or cancelled; "": it did not say
	Reason string `json:"reason,omitempty"`
	Report string `json:"report,omitempty"` // finalised, below the state directory
	Fault  string `json:"fault,omitempty"`  // why something of it does not count
}

// AttemptEnded is what came of a dispatch.
type AttemptEnded struct {
	Item        string     `json:"item"`
	Attempt     string     `json:"attempt"`
	Outcome     string     `json:"outcome"`
	Class       string     `json:"class,omitempty"` // of a driver failure
	Reason      string     `json:"reason,omitempty"`
	Usage       cost.Usage `json:"usage"`
	Charge      *Charge    `json:"charge,omitempty"` // nil: no agent was started, so nothing was spent
	DurationMs  int64      `json:"durationMs"`
	Commit      string     `json:"commit,omitempty"`
	Tree        string     `json:"tree,omitempty"`
	Tail        string     `json:"tail,omitempty"` // of the agent's output, where it failed
	Exit        *int       `json:"exit,omitempty"` // of the agent's program
	Session     string     `json:"session,omitempty"`
	Resumed     bool       `json:"resumed,omitempty"` // it went on with the session of the attempt before
	Confinement string     `json:"confinement,omitempty"`
	Parked      string     `json:"parked,omitempty"`    // folder below the state directory that keeps the agent's tree
	Said        *Said      `json:"said,omitempty"`      // nil: nothing
	Survivors   []string   `json:"survivors,omitempty"` // processes that a kill did not end
}

// Verified is the test of an attempt's commit in a clean tree.
type Verified struct {
	Item    string `json:"item"`
	Attempt string `json:"attempt"`
	Commit  string `json:"commit"`
	Test    Test   `json:"test"`
}

// SpotChecked is a second test of a commit that has passed one.
type SpotChecked struct {
	Item   string `json:"item"`
	Commit string `json:"commit"`
	Test   Test   `json:"test"`
}

// Scanned says that a commit that could ship was scanned for secrets. Where it has one that is not allowed, the item's end comes with it.
type Scanned struct {
	Item     string   `json:"item"`
	Commit   string   `json:"commit"`
	Allowed  []string `json:"allowed,omitempty"` // what was found and is allowed, and by what
	Warnings []string `json:"warnings,omitempty"`
}

// Seats that judge a verified commit.
const (
	SeatReview  = "review"
	SeatApprove = "approve"
)

// Asked says that an approver is asked about a verified commit, from when on it waits for the answer. Corrections is how many there
// were before: an answer is about this commit as it was shown then.
type Asked struct {
	Item        string `json:"item"`
	Commit      string `json:"commit"`
	Corrections int    `json:"corrections"`
}

// Corrected is what a person changed in a verified commit, and what came of that. It takes the commit's place only if its own test
// passes.
type Corrected struct {
	Item    string   `json:"item"`
	Attempt string   `json:"attempt"` // names the correction, as other attempts' ids name dispatches
	Of      string   `json:"of"`      // commit that was corrected
	By      string   `json:"by"`
	Reason  string   `json:"reason"`
	Files   []string `json:"files"`            // written or removed
	Commit  string   `json:"commit,omitempty"` // "" where there could be none
	Tree    string   `json:"tree,omitempty"`
	Refused string   `json:"refused,omitempty"` // why there could be none
	Test    *Test    `json:"test,omitempty"`    // of Commit
}

// Passed says that the correction took the commit's place.
func (c Corrected) Passed() bool { return c.Test != nil && c.Test.Passed }

// Why says why the correction did not take the commit's place, with the end of its test's output; "" where it did.
func (c Corrected) Why() string {
	switch {
	case c.Passed():
		return ""
	case c.Test == nil:
		return c.Refused
	}
	lines := []string{"its test fails"}
	if c.Test.Exit != nil {
		lines[0] = fmt.Sprintf("its test fails, exit %d", *c.Test.Exit)
	}
	for _, text := range []string{c.Test.Stdout, c.Test.Stderr, c.Test.Reason} {
		if text = strings.TrimRight(text, "\n"); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// Judged is the word of a reviewer or an approver on a verified commit.
type Judged struct {
	Item   string `json:"item"`
	Seat   string `json:"seat"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason"`
	By     string `json:"by,omitempty"` // the person; "" where it was none
	// Usage is of the agents that were asked; nil: none was.
	Usage       *cost.Usage `json:"usage,omitempty"`
	Charge      *Charge     `json:"charge,omitempty"`      // of the agents that the wave started for it
	Confinement string      `json:"confinement,omitempty"` // the weakest that held them
	Survivors   []string    `json:"survivors,omitempty"`   // processes that a kill did not end
}

// Unanswered says that a seat was asked about a verified commit and gave no judgement, though agents were at work for it.
type Unanswered struct {
	Item        string      `json:"item"`
	Seat        string      `json:"seat"`
	Reason      string      `json:"reason"`
	Usage       *cost.Usage `json:"usage,omitempty"` // of those agents; nil: not told
	Charge      *Charge     `json:"charge,omitempty"`
	Confinement string      `json:"confinement,omitempty"`
	Survivors   []string    `json:"survivors,omitempty"` // processes that a kill did not end
}

// BaseMoved says that the base branch of a repository has gone on, and that its items follow.
type BaseMoved struct {
	Repo string `json:"repo"`
	From string `json:"from"`
	Base string `json:"base"`
}

// Rebased is an item's verified change on a newer base, and the test of that commit. It takes the old one's place if it passed.
type Rebased struct {
	Item   string `json:"item"`
	Of     string `json:"of"` // the commit on the older base
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
	Test   Test   `json:"test"`
}

// Integrated is the union of what is to ship from a repository.
type Integrated struct {
	Repo     string   `json:"repo"`
	Tip      string   `json:"tip"`
	Items    []string `json:"items"`
	Verified bool     `json:"verified"` // a command ran on the union and passed, beyond the items' own
}

// ItemEnded is the end of an item in this wave, unless it shipped.
type ItemEnded struct {
	Item    string   `json:"item"`
	State   State    `json:"state"`
	Reason  string   `json:"reason"`
	Counted bool     `json:"counted"`           // against the item's attempts, where its status leaves that open
	Ceiling bool     `json:"ceiling,omitempty"` // a limit had no room for it
	Failure *Failure `json:"failure"`
}

// Failure is the evidence behind an item that did not ship.
type Failure struct {
	Step    string `json:"step"`
	Command string `json:"command"`
	Exit    *int   `json:"exit"`
	Tail    string `json:"tail"`
}

// PushIntent is written before a push: what would be moved, and from where.
type PushIntent struct {
	Repo    string   `json:"repo"`
	Branch  string   `json:"branch"`
	Tip     string   `json:"tip"`
	Items   []string `json:"items"`
	Updates []Update `json:"updates"`        // the branch first
	Weak    bool     `json:"weak,omitempty"` // without refs of items
}

// Update moves one ref of the remote from Old, "" where it must be absent, to New, "" to remove it.
type Update struct {
	Ref string `json:"ref"`
	Old string `json:"old"`
	New string `json:"new"`
}

// Shipped says that the remote of a repository holds the wave's branch and item refs.
type Shipped struct {
	Repo       string            `json:"repo"`
	Branch     string            `json:"branch"`
	Tip        string            `json:"tip"`
	Items      map[string]string `json:"items"`          // commit by item
	Weak       bool              `json:"weak,omitempty"` // without refs of items
	DurationMs int64             `json:"durationMs"`
}

// Adopted says that an item had been shipped already.
type Adopted struct {
	Item   string `json:"item"`
	Commit string `json:"commit"`
	Branch string `json:"branch"`
	Wave   string `json:"wave"` // that shipped it
}

// PushFailed says that the remote took nothing.
type PushFailed struct {
	Repo   string `json:"repo"`
	Error  string `json:"error"`
	Detail string `json:"detail"`
}

// RepositoryFailed says that a repository could not be worked on. The other repositories of the wave go on.
type RepositoryFailed struct {
	Repo   string `json:"repo"`
	Error  string `json:"error"`  // a stable word
	Detail string `json:"detail"` // what git said, where it was git
}

// Settled says that the tracker knows the end of the items.
//
// Changed are those whose text people changed meanwhile: what shipped is the text that was planned. Lost are those whose claim the
// tracker no longer has: it was not told.
type Settled struct {
	Items   []string `json:"items"`
	Changed []string `json:"changed,omitempty"`
	Lost    []string `json:"lost,omitempty"`
}

// GateChecked is one answer of a gate.
type GateChecked struct {
	Name    string `json:"name"`
	At      string `json:"at"`
	Verdict string `json:"verdict"` // go, stop, unavailable
	Reason  string `json:"reason"`
}

// Stopped says that the wave stopped before its end; it can be resumed.
type Stopped struct {
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason"`
	Error   *Fault  `json:"error,omitempty"` // of the engine, or of what it stands on
	// Compared are the repositories whose configuration and hooks were looked at when no agent worked any more. Where they were not as
	// before agents worked, the reason says so.
	Compared []string `json:"compared,omitempty"`
}

// Fault is an error as reports show it.
type Fault struct {
	Code    string `json:"code"` // a stable word
	Message string `json:"message"`
	File    string `json:"file"`
	Line    int    `json:"line"` // 1-based; 0: none
	Field   string `json:"field"`
	Hint    string `json:"hint"` // what to do next
}

// Resumed says that a later run took the wave over. Claims are the new attempt ids by item, Recorded as in Claimed, Guarded by repository as in
// Repository.
type Resumed struct {
	Claims   map[string]string `json:"claims"`
	Recorded map[string]string `json:"recorded,omitempty"`
	Guarded  map[string]string `json:"guarded,omitempty"`
}

// TakenOver says, first of all, who goes on with a wave that was left, and which of its processes could not be ended. A seat that is
// configured now is asked from here on, also where none was when the wave was planned. What has not shipped is scanned anew.
type TakenOver struct {
	Driver    string   `json:"driver"`
	Tier      int      `json:"tier"`
	Review    bool     `json:"review,omitempty"`
	Approve   bool     `json:"approve,omitempty"`
	Survivors []string `json:"survivors,omitempty"`
}

// Ended is the end of the wave.
type Ended struct {
	Outcome Outcome `json:"outcome"`
}
