package journal

import (
	"errors"
	"fmt"
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

// Apply folds one event. An event about an item that the wave does not have is an error.
func (w *Wave) Apply(at time.Time, event Event) error {
	switch e := event.(type) {
	case Planned:
		w.plan(at, e)
	case Dropped:
		return w.drop(e)
	case Claimed:
		return w.each(e.Items, func(i *ItemState) { i.Claimed, i.Recorded = true, e.Recorded[i.ID] })
	case Settled:
		return w.settle(e)
	case GateChecked:
		w.gate(e)
	case Stopped:
		w.Stop, w.EndedAt = &e, at
		for _, name := range e.Compared { // what changes from here on is people's, and so is what they were told of and resume with
			if r := w.Repositories[name]; r != nil {
				r.Guarded = ""
			}
		}
	case TakenOver:
		w.Stop, w.End, w.EndedAt = nil, nil, time.Time{}
		w.Driver, w.Tier = e.Driver, e.Tier
		w.Review, w.Approve = w.Review || e.Review, w.Approve || e.Approve
		w.Survivors = append(w.Survivors, e.Survivors...)
		for _, r := range w.Repositories {
			r.Failed = nil
		}
		for _, i := range w.Select((*ItemState).Open) {
			i.Stale = true // the process knows other secrets than the one before
		}
	case Resumed:
		return w.resume(e)
	case Budgeted:
		w.Budget = &e
	case Alerted:
		w.alert(e)
	case Ended:
		w.End, w.EndedAt = &e, at
		for _, r := range w.Repositories { // no agent works after the end, and it was compared there
			r.Guarded = ""
		}
	default:
		if known, err := w.applyRepository(event); known {
			return err
		}
		return w.applyItem(at, event)
	}
	return nil
}

// applyItem folds the events that are about one item.
func (w *Wave) applyItem(at time.Time, event Event) error {
	switch e := event.(type) {
	case ItemBaseTested:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.item(e.Item, func(i *ItemState) { i.BaseTest = &e.Test })
	case AttemptStarted:
		return w.item(e.Item, func(i *ItemState) {
			i.Attempts = append(i.Attempts, Attempt{ID: e.Attempt, Round: e.Round, Driver: e.Driver, Tier: e.Tier, Model: e.Model, StartedAt: at})
		})
	case AttemptEnded:
		w.Survivors = append(w.Survivors, e.Survivors...)
		return w.attempt(e.Item, e.Attempt, func(i *ItemState, a *Attempt) {
			a.Ended = &e
			i.BuildTime += time.Duration(e.DurationMs) * time.Millisecond
		})
	case Verified:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.attempt(e.Item, e.Attempt, func(i *ItemState, a *Attempt) {
			a.Test = &e.Test
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
			if e.Test.Passed {
				i.Verified = e.Commit
			}
		})
	case Asked:
		return w.item(e.Item, func(i *ItemState) { i.Asked, i.AskedAt = &e, at })
	case Corrected:
		return w.correct(e)
	case Rebased:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.item(e.Item, func(i *ItemState) {
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
			if e.Test.Passed {
				i.Verified, i.Rebased = e.Commit, &e
			}
		})
	case SpotChecked:
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
		return w.item(e.Item, func(i *ItemState) {
			i.Again = &e
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
		})
	case Scanned:
		return w.item(e.Item, func(i *ItemState) { i.Scanned, i.Stale = &e, false })
	case Judged:
		w.Survivors = append(w.Survivors, e.Survivors...)
		return w.item(e.Item, func(i *ItemState) {
			if i.Judged == nil {
				i.Judged = map[string]Judged{}
			}
			i.Judged[e.Seat] = e
		})
	case Unanswered:
		w.Survivors = append(w.Survivors, e.Survivors...)
		return w.item(e.Item, func(i *ItemState) { i.Unanswered = append(i.Unanswered, e) })
	case ItemEnded:
		return w.item(e.Item, func(i *ItemState) { i.End = &e })
	case Adopted:
		return w.item(e.Item, func(i *ItemState) { i.Adopted, i.Commit = &e, e.Commit })
	}
	return fmt.Errorf("event %s has no place in the fold", event.Type())
}

func (w *Wave) correct(e Corrected) error {
	if e.Test != nil {
		w.Survivors = append(w.Survivors, e.Test.Survivors...)
	}
	return w.item(e.Item, func(i *ItemState) {
		i.Corrected = append(i.Corrected, e)
		if e.Test != nil {
			i.TestTime += time.Duration(e.Test.DurationMs) * time.Millisecond
		}
		if e.Passed() {
			i.Verified = e.Commit
		}
	})
}

func (w *Wave) plan(at time.Time, e Planned) {
	w.StartedAt, w.Plan, w.Skipped = at, e, slices.Clone(e.Skipped)
	w.Driver, w.Tier, w.Review, w.Approve = e.Driver, e.Tier, e.Review, e.Approve
	for _, r := range e.Repositories {
		w.Repositories[r.Name] = &RepositoryState{Repository: r}
	}
	for _, item := range e.Items {
		w.Items[item.ID] = &ItemState{Item: item}
		w.Order = append(w.Order, item.ID)
	}
}

func (w *Wave) drop(e Dropped) error {
	item, ok := w.Items[e.Item]
	if !ok {
		return unknownItem(e.Item)
	}
	delete(w.Items, e.Item)
	w.Order = slices.DeleteFunc(w.Order, func(id string) bool { return id == e.Item })
	w.Beaten = true
	w.Skipped = append(w.Skipped, Skipped{ID: item.ID, Slug: item.Slug, Reason: e.Reason, Detail: e.Detail})
	return nil
}

func (w *Wave) ship(e Shipped) error {
	ids := slices.Sorted(maps.Keys(e.Items))
	return w.each(ids, func(i *ItemState) {
		i.Commit = e.Items[i.ID]
		i.ShipTime = time.Duration(e.DurationMs) * time.Millisecond
	})
}

// alert keeps one row an alert; one that fired stays so.
func (w *Wave) alert(e Alerted) {
	for _, a := range e.Alerts {
		at := slices.IndexFunc(w.Alerts, a.Same)
		switch {
		case at < 0:
			w.Alerts = append(w.Alerts, a)
		case w.Alerts[at].State == "failed":
			w.Alerts[at] = a
		}
	}
}

// gate keeps one row a gate and point; a later answer replaces an earlier one.
func (w *Wave) gate(e GateChecked) {
	for i, g := range w.Gates {
		if g.Name == e.Name && g.At == e.At {
			w.Gates[i] = e
			return
		}
	}
	w.Gates = append(w.Gates, e)
}

func (w *Wave) settle(e Settled) error {
	return errors.Join(
		w.each(e.Items, func(i *ItemState) { i.Settled = true }),
		w.each(e.Changed, func(i *ItemState) { i.Changed = true }),
		w.each(e.Lost, func(i *ItemState) { i.Lost = true }))
}

func (w *Wave) resume(e Resumed) error {
	for id, claim := range e.Claims {
		if err := w.item(id, func(i *ItemState) { i.Claim, i.Claimed, i.Recorded = claim, true, e.Recorded[id] }); err != nil {
			return err
		}
	}
	for name, digest := range e.Guarded {
		if err := w.repository(name, func(r *RepositoryState) { r.Guarded = digest }); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wave) each(ids []string, change func(*ItemState)) error {
	for _, id := range ids {
		if err := w.item(id, change); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wave) item(id string, change func(*ItemState)) error {
	item, ok := w.Items[id]
	if !ok {
		return unknownItem(id)
	}
	change(item)
	return nil
}

func (w *Wave) attempt(id, attempt string, change func(*ItemState, *Attempt)) error {
	item, ok := w.Items[id]
	if !ok {
		return unknownItem(id)
	}
	for i := range item.Attempts {
		if item.Attempts[i].ID == attempt {
			change(item, &item.Attempts[i])
			return nil
		}
	}
	return fmt.Errorf("attempt %s of item %s is not known", attempt, id)
}

func unknownItem(id string) error { return fmt.Errorf("item %s is not part of the wave", id) }

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
