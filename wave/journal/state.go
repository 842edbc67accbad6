package journal

import (
	"maps"
	"slices"
	"time"

	"aesop/cost"
)

// State is how an item ended in a wave.
type State string

// The states of an item.
const (
	StateShipped           State = "shipped"
	StateNoChanges         State = "no_changes"
	StateNotVerified       State = "not_verified"
	StateFenceViolation    State = "fence_violation"
	StateIntegrationFailed State = "integration_failed"
	StateShipFailed        State = "ship_failed"
	StateDriverFailed      State = "driver_failed"
	StateReviewRejected    State = "review_rejected"
	StateSecretFound       State = "secret_found"
	StateSetupFailed       State = "setup_failed"
	StateClaimLost         State = "claim_lost"
	StateCancelled         State = "cancelled"
	StateParked            State = "parked"
)

// Outcome is how a wave ended.
type Outcome string

// The outcomes of a wave.
const (
	Good              Outcome = "good"
	Partial           Outcome = "partial"
	Failed            Outcome = "failed"
	NothingToDo       Outcome = "nothing_to_do"
	NothingSelectable Outcome = "nothing_selectable"
	BaseRed           Outcome = "base_red"
	ErrorOutcome      Outcome = "error"
	GateUnavailable   Outcome = "gate_unavailable"
	Halted            Outcome = "halted"
	Ceiling           Outcome = "ceiling"
	Interrupted       Outcome = "interrupted"
	ConflictOutcome   Outcome = "conflict"
)

// Wave is the fold of a wave's events.
type Wave struct {
	ID        string
	StartedAt time.Time
	EndedAt   time.Time // or stopped; zero while it runs
	Plan      Planned
	Driver    string // who works on the wave now
	Tier      int
	Review    bool // a reviewer is asked; once that is so, it stays so
	Approve   bool // an approver is asked; likewise
	// Repositories of the wave by name; Plan has their order.
	Repositories map[string]*RepositoryState
	Items        map[string]*ItemState
	Order        []string // of Items
	Skipped      []Skipped
	Beaten       bool // others were faster at an item that was selected
	Gates        []GateChecked
	Stop         *Stopped     // nil while it runs, and again after a resume
	Survivors    []string     // processes that a kill did not end
	Budget       *Budgeted    // the newest; nil: none
	Alerts       []AlertState // newest word on each
	End          *Ended
}

// ItemState is one item in the fold.
type ItemState struct {
	Item
	Claimed  bool
	Recorded string // shipment of the claimed row: what the item ref must be at; "" is absent
	BaseTest *Test
	Attempts []Attempt
	Judged   map[string]Judged // by seat
	// Unanswered are the times that a seat gave no judgement, oldest first.
	Unanswered []Unanswered
	Verified   string // commit that passed; "" before
	Asked      *Asked // the newest question to an approver
	AskedAt    time.Time
	Rebased    *Rebased     // the newest that took the commit's place
	Corrected  []Corrected  // oldest first, also those that came to nothing
	Again      *SpotChecked // its second test; nil: none
	Scanned    *Scanned     // the newest; nil: none
	Stale      bool         // Scanned is of another process than the one that is to push
	End        *ItemEnded
	Commit     string // on the remote, "" before
	Adopted    *Adopted
	Settled    bool
	Changed    bool // people changed the item's text while the wave ran
	Lost       bool // the tracker could not be told
	BuildTime  time.Duration
	TestTime   time.Duration
	ShipTime   time.Duration
}

// Waits says that the item waits for the approver's answer to Asked.
func (i *ItemState) Waits() bool {
	return i.Shippable() && i.Judged[SeatApprove].Seat == "" && i.Asked != nil && i.Asked.Commit == i.Verified && i.Asked.Corrections == len(i.Corrected)
}

// Attempt is one dispatch in the fold.
type Attempt struct {
	ID        string
	Round     int
	Driver    string
	Tier      int
	Model     string
	StartedAt time.Time
	Ended     *AttemptEnded // nil while it runs
	Test      *Test         // of its commit
}

// Last is the newest attempt, or nil.
func (i *ItemState) Last() *Attempt {
	if len(i.Attempts) == 0 {
		return nil
	}
	return &i.Attempts[len(i.Attempts)-1]
}

// Usage sums the attempts. It is unmetered where one of them is, or still runs.
func (i *ItemState) Usage() cost.Usage {
	var all []cost.Usage
	for _, a := range i.Attempts {
		if a.Ended == nil {
			all = append(all, cost.Usage{})
			continue
		}
		all = append(all, a.Ended.Usage)
	}
	return cost.Sum(all...)
}

// Charge sums what the agents cost that were started for the item; nil: none was.
func (i *ItemState) Charge() *Charge {
	var sum *Charge
	for _, a := range i.Attempts {
		if a.Ended == nil {
			sum = sum.Add(&Charge{}) // it is not known yet
			continue
		}
		sum = sum.Add(a.Ended.charge())
	}
	for _, j := range i.Judged {
		sum = sum.Add(j.Charge)
	}
	for _, u := range i.Unanswered {
		sum = sum.Add(u.Charge)
	}
	return sum
}

// Open says that the item can still go on: neither ended nor shipped.
func (i *ItemState) Open() bool { return i.End == nil && i.Commit == "" }

// Built says that a commit of the item passed its test, whatever came after.
func (i *ItemState) Built() bool { return i.Verified != "" }

// Proof is the test that the verified commit rests on, or nil.
func (i *ItemState) Proof() *Test {
	if !i.Built() {
		return nil
	}
	if i.Rebased != nil {
		return &i.Rebased.Test
	}
	for _, c := range slices.Backward(i.Corrected) {
		if c.Passed() {
			return c.Test
		}
	}
	return i.Last().Test
}

// Clean says that the verified commit was scanned, and may be pushed.
func (i *ItemState) Clean() bool { return i.WasScanned() && !i.Stale }

// WasScanned says that the verified commit was scanned, by whichever process.
func (i *ItemState) WasScanned() bool { return i.Scanned != nil && i.Scanned.Commit == i.Verified }

// SpotChecked says that what the agent made was tested a second time.
func (i *ItemState) SpotChecked() bool { return i.Again != nil }

// Refuted says that the second test failed.
func (i *ItemState) Refuted() bool { return i.SpotChecked() && !i.Again.Test.Passed }

// Shippable says that the item's commit passed and is not shipped yet.
func (i *ItemState) Shippable() bool { return i.Open() && i.Verified != "" }

// New is the fold of no events.
func New(id string) *Wave {
	return &Wave{ID: id, Repositories: map[string]*RepositoryState{}, Items: map[string]*ItemState{}}
}

// Clone is a copy that shares nothing with w that Apply changes.
func (w *Wave) Clone() *Wave {
	c := *w
	c.Items = make(map[string]*ItemState, len(w.Items))
	for id, item := range w.Items {
		i := *item
		i.Attempts, i.Judged, i.Corrected = slices.Clone(item.Attempts), maps.Clone(item.Judged), slices.Clone(item.Corrected)
		i.Unanswered = slices.Clone(item.Unanswered)
		c.Items[id] = &i
	}
	c.Repositories = make(map[string]*RepositoryState, len(w.Repositories))
	for name, repository := range w.Repositories {
		r := *repository
		r.TipItems, r.Tips = slices.Clone(repository.TipItems), slices.Clone(repository.Tips)
		c.Repositories[name] = &r
	}
	c.Order, c.Skipped, c.Gates = slices.Clone(w.Order), slices.Clone(w.Skipped), slices.Clone(w.Gates)
	c.Survivors, c.Alerts = slices.Clone(w.Survivors), slices.Clone(w.Alerts)
	return &c
}

// Select yields the items, in order, for which keep is true.
func (w *Wave) Select(keep func(*ItemState) bool) []*ItemState {
	var items []*ItemState
	for _, id := range w.Order {
		if item := w.Items[id]; keep(item) {
			items = append(items, item)
		}
	}
	return items
}

// Outcome says how the wave went by what its items are now: good if all that were selected shipped and no repository failed. Why nothing was selected
// is not in the items; that outcome is given when the wave ends.
func (w *Wave) Outcome() Outcome {
	shipped := len(w.Select(func(i *ItemState) bool { return i.Commit != "" }))
	switch {
	case w.RedBase():
		return BaseRed
	case len(w.Order) == 0:
		return NothingSelectable
	case w.Refused() != "":
		return Ceiling
	case shipped == 0:
		return Failed
	case shipped < len(w.Order), slices.ContainsFunc(w.In(), func(r *RepositoryState) bool { return r.Failed != nil }):
		return Partial
	}
	return Good
}

// Refused says why a limit had no room for an item of the wave, "" where there was none.
func (w *Wave) Refused() string {
	for _, i := range w.Select(func(i *ItemState) bool { return i.End != nil && i.End.Ceiling }) {
		return i.End.Reason
	}
	return ""
}

// Unfinished are the items that are left for a resume: those that the remote refused, and those of a repository that failed.
func (w *Wave) Unfinished() []*ItemState {
	return w.Select(func(i *ItemState) bool {
		r := w.Of(i)
		return i.Open() && (r.Failed != nil || r.PushError != nil && i.Shippable())
	})
}
