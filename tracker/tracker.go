// Package tracker is the backlog: items, what may be asked of them, who owns which paths, and the claims that keep two workers
// from taking one item.
//
// A worker reads a Backlog, lets Intake choose items that do not stand in each other's way, and claims them:
//
//	backlog, err := file.Backlog(ctx)
//	selection := tracker.Intake(backlog, tracker.IntakeOptions{Now: time.Now(), Max: 5, InBase: inBase})
//	claims, err := file.Claim(ctx, tracker.Holder{Wave: wave, Owner: "ann"}, 15*time.Minute, wants(selection)...)
//
// A claim is a token and a lease. The token is the holder's secret, and the only proof of holding: names are for people. While
// the worker works, it renews; in the end it settles. What a lapsed claim's holder may still do, and what everybody else may,
// is a table (Decide).
//
// File keeps all of it in a JSON file that people edit beside it. Other trackers prove themselves with package trackertest.
package tracker

import (
	"context"
	"fmt"
	"time"

	"aesop/internal/document"
)

// Tracker is a shared backlog. It is safe across goroutines and processes; a nil error means that the change is durable.
type Tracker interface {
	// Backlog reads all items in file order. A missing or damaged backlog is an error (*FileError for files), never empty.
	Backlog(ctx context.Context) (Backlog, error)
	// Claim takes all wanted items or none. It fails with *ConflictError where an item is not claimable, is held by somebody
	// else, or changed since its fingerprint was taken. A lapsed claim can be taken by anyone.
	Claim(ctx context.Context, by Holder, lease time.Duration, want ...Want) ([]Claim, error)
	// Renew moves the end of the leases. A lapsed claim that nobody took is still its holder's. *LostError names those that
	// are lost; the others are renewed all the same.
	Renew(ctx context.Context, lease time.Duration, held ...Claim) error
	// Settle ends claims by their token, each by one of Complete, Fail, Block, Release, in one write. *LostError names those
	// whose token holds nothing; the others are settled all the same. A Complete that was already made with the same wave and
	// commit is no error. Other settlements leave no trace to be told by: repeated, they may be lost.
	Settle(ctx context.Context, ends ...Settlement) error
}

// Operator is what people may ask of items that nobody holds. Implementations of Tracker offer it where they can.
type Operator interface {
	// Operate carries out orders of Reopen, Block or Finalize, all or none; *ConflictError where an item is held.
	Operate(ctx context.Context, orders ...Order) error
}

// FileError is a defect of a backlog file: it names file, line and field.
type FileError = document.Error

// Status of an item.
type Status string

// The statuses. Anything else in a backlog makes a skip, never an error.
const (
	Todo       Status = "todo"
	InProgress Status = "in_progress"
	Done       Status = "done"
	Failed     Status = "failed"
	Blocked    Status = "blocked"
)

// Item is one piece of work of a backlog.
type Item struct {
	ID                 string
	Slug               string
	Title              string
	Status             Status // absent reads as Todo
	StatusReason       string
	Priority           string    // P0 to P3; absent reads as P3
	CreatedAt          time.Time // zero: absent, sorts last
	OwnsFiles          []string
	Prompt             string
	TestCmd            Command
	WorkDir            string // relative to the repository's root; "" is the root
	Repo               string // relative to the backlog file; "" where the backlog names none
	DependsOn          []string
	AcceptanceCriteria []string
	Model              string
	Notes              string
	Attempts           int // claims that ended neither shipped nor uncounted
	Epoch              int // of the newest claim
	Claim              *ClaimState
	Shipped            *Shipped
	Line               int // in the file, 0 where there is none
}

// ClaimState is a claim as everybody may see it: the attempt id, not the token.
type ClaimState struct {
	Wave       string
	Owner      string
	Attempt    string
	LeaseUntil time.Time
}

// Live says whether the lease still runs. A lapsed claim can be taken by anyone, and until then is still its holder's.
func (c *ClaimState) Live(now time.Time) bool { return c != nil && now.Before(c.LeaseUntil) }

// Shipped says where an item's work is.
type Shipped struct {
	Wave   string
	Branch string
	Commit string
}

// Backlog is what was read at one moment.
type Backlog struct {
	Items    []Item
	Source   string // where it was read, for messages
	Revision string // differs whenever the content does
}

// Holder says for whom a claim is made. It names; only the token proves.
type Holder struct {
	Wave  string
	Owner string
}

// Want asks for one item.
type Want struct {
	ID          string
	Fingerprint string // Item.Fingerprint when the decision was made; "" is not compared
	Token       string // secret to claim with; "": one is made
	MinEpoch    int    // the claim's epoch is the greater of this and the item's epoch plus one
	// Reclaim is the attempt id of a claim to take over although its lease runs. Only who has proof that its holder is dead
	// may ask for it.
	Reclaim string
}

// Claim is a held item.
type Claim struct {
	ID         string
	Token      string // secret of the holder
	Attempt    string // AttemptID(Token)
	Epoch      int
	LeaseUntil time.Time
	Shipped    *Shipped // the item's recorded shipment when it was claimed, or nil
}

// Settlement ends one claim.
type Settlement struct {
	ID      string
	Token   string
	Request Request // Complete, Fail, Block or Release
	Reason  string  // becomes the item's statusReason
	Counted bool    // whether attempts grows by one; Complete never counts, Fail always does
	Shipped *Shipped
}

// Order asks something of an item that nobody holds.
type Order struct {
	ID      string
	Request Request // Reopen, Block or Finalize
	Reason  string
	Status  Status // Finalize only: Done, Failed or Blocked
}

// ConflictError says which wanted items could not be had; nothing was changed.
type ConflictError struct {
	Conflicts []Conflict
}

// Conflict is one refused item.
type Conflict struct {
	ID     string
	Reason ConflictReason
	Owner  string // of the claim in the way
	Until  time.Time
}

// ConflictReason is a stable word for why an item could not be had.
type ConflictReason string

// The reasons of conflicts.
const (
	ConflictHeld         ConflictReason = "held"          // a live claim is in the way
	ConflictChanged      ConflictReason = "changed"       // its fingerprint, or the claim to take over, is not what was expected
	ConflictNotClaimable ConflictReason = "not_claimable" // its status or a defect forbids what was asked
	ConflictMissing      ConflictReason = "missing"       // no item has the id
	ConflictExists       ConflictReason = "exists"        // an item has the id or slug already
)

func (e *ConflictError) Error() string {
	c := e.Conflicts[0]
	text := fmt.Sprintf("item %s: %s", c.ID, c.Reason)
	if c.Owner != "" {
		text += fmt.Sprintf(" by %s until %s", c.Owner, c.Until.UTC().Format(time.RFC3339))
	}
	if more := len(e.Conflicts) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// LostError names the claims that their holder no longer has.
type LostError struct {
	IDs []string
}

func (e *LostError) Error() string { return fmt.Sprintf("claims lost: %v", e.IDs) }
