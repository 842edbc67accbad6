package cost

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Scope says which calls count against a limit.
type Scope string

// The scopes.
const (
	PerWave  Scope = "wave"  // the calls of one wave
	PerDay   Scope = "day"   // all calls of a UTC day
	PerItem  Scope = "item"  // the calls for one item, in whatever wave
	PerModel Scope = "model" // the calls of one model in a UTC day
)

// Limit bounds tokens or money of a scope.
type Limit struct {
	Scope  Scope  `json:"scope"`
	Model  string `json:"model,omitempty"` // of PerModel
	Tokens int64  `json:"tokens,omitempty"`
	Money  Money  `json:"usd,omitempty"` // where Tokens is 0; one of the two is set
	Soft   bool   `json:"soft"`          // passing it is told, and stops nothing
}

// Name is the limit's key in a configuration: waveUsd, dayTokens, models.NAME.dayUsd, soft.waveUsd.
func (l Limit) Name() string {
	unit := "Usd"
	if l.counts() {
		unit = "Tokens"
	}
	name := string(l.Scope) + unit
	if l.Scope == PerModel {
		name = "models." + l.Model + ".day" + unit
	}
	if l.Soft {
		name = "soft." + name
	}
	return name
}

// Check refuses a limit that bounds nothing: without a scope, or without a number of tokens or an amount of money.
func (l Limit) Check() error {
	switch {
	case l.Scope != PerWave && l.Scope != PerDay && l.Scope != PerItem && l.Scope != PerModel:
		return fmt.Errorf("limit: %q is no scope", l.Scope)
	case l.Scope == PerModel && l.Model == "":
		return errors.New("limit: it names no model")
	case l.Tokens < 0 || l.Money < 0 || (l.Tokens > 0) == (l.Money > 0):
		return fmt.Errorf("limit %s: it has %d tokens and $%s, must have one of the two", l.Scope, l.Tokens, l.Money)
	}
	return nil
}

// counts says that the limit is one of tokens.
func (l Limit) counts() bool { return l.Tokens > 0 }

// Max is the bound in the limit's unit: tokens or nano-dollars.
func (l Limit) Max() int64 { return l.of(Amount{l.Tokens, l.Money}) }

// of is what of an amount counts against the limit, in its unit.
func (l Limit) of(a Amount) int64 {
	if l.counts() {
		return a.Tokens
	}
	return int64(a.Money)
}

// Amount is a figure of the limit as an amount, whose other measure is 0.
func (l Limit) Amount(figure int64) Amount {
	if l.counts() {
		return Amount{Tokens: figure}
	}
	return Amount{Money: Money(figure)}
}

// Show is a figure in the limit's unit, as people read it.
func (l Limit) Show(figure int64) string {
	if l.counts() {
		return fmt.Sprintf("%d tokens", figure)
	}
	return "$" + Money(figure).String()
}

// Subject is whose spending is judged. Names that are not known are empty.
type Subject struct {
	Wave, Item, Model string
}

// Query selects the calls that count against the limit for a subject, by a clock's reading; of PerModel those of all models. It is
// false where the limit does not concern the subject.
func (l Limit) Query(s Subject, now time.Time) (Query, bool) {
	switch l.Scope {
	case PerWave:
		return Query{Wave: s.Wave}, s.Wave != ""
	case PerItem:
		return Query{Item: s.Item}, s.Item != ""
	}
	return Query{Window: Day(now)}, true
}

// Reservation is an amount that an attempt may still use.
type Reservation struct {
	Subject
	Amount
	// Stale says that whoever holds it should have ended: it counts like what was spent, and nobody waits for it.
	Stale bool
}

// Spending answers what calls add up to. A Book does, and a ledger as a transaction sees it.
type Spending interface {
	Total(Query) Total
	Groups(Query, ...Dimension) []Group
}

// Judge compares spending and reservations with limits, at one reading of a clock. All that says how near a limit is asks it.
type Judge struct {
	Limits   []Limit
	Spending Spending
	Held     []Reservation
	Now      time.Time
	// Same is the name under which a model's limits are; nil: the model's own.
	Same func(model string) string
}

// Standing is how one limit stands for a subject, in the limit's unit: tokens or nano-dollars.
type Standing struct {
	Limit     Limit
	Spent     int64
	Estimated int64 // the part of Spent that was charged in place of what is not known
	Reserved  int64 // by attempts that run
	Unknown   int   // calls of which the cost or the usage is not known, and for which nothing was charged
}

// Reached says that the limit is used up: equality counts.
func (s Standing) Reached() bool { return s.Spent >= s.Limit.Max() }

// Passed says that more was spent than the limit allows.
func (s Standing) Passed() bool { return s.Spent > s.Limit.Max() }

// Left is what may still be reserved.
func (s Standing) Left() int64 { return max(0, s.Limit.Max()-addUp(s.Spent, s.Reserved)) }

func (s Standing) String() string {
	text := fmt.Sprintf("%s is %s, %s spent", s.Limit.Name(), s.Limit.Show(s.Limit.Max()), s.Limit.Show(s.Spent))
	if s.Estimated > 0 {
		text += fmt.Sprintf(" (%s of that charged for what is not known)", s.Limit.Show(s.Estimated))
	}
	if s.Reserved > 0 {
		text += fmt.Sprintf(", %s reserved by agents that run", s.Limit.Show(s.Reserved))
	}
	return text
}

// Standings are all limits that concern a subject, hard ones first.
func (j Judge) Standings(who Subject) []Standing {
	var all []Standing
	for _, l := range j.Limits {
		if s, ok := j.standing(l, who); ok {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Standing) int {
		switch {
		case a.Limit.Soft == b.Limit.Soft:
			return 0
		case b.Limit.Soft:
			return -1
		}
		return 1
	})
	return all
}

func (j Judge) standing(l Limit, who Subject) (Standing, bool) {
	q, ok := l.Query(who, j.Now)
	if !ok || l.Scope == PerModel && who.Model != "" && !j.same(l.Model, who.Model) {
		return Standing{}, false
	}
	total := j.total(l, q)
	s := Standing{Limit: l, Spent: l.of(total.Charge()), Estimated: l.of(total.Estimated)}
	s.Unknown = total.UnknownMoney
	if l.counts() {
		s.Unknown = total.UnknownTokens
	}
	for _, r := range j.Held {
		switch {
		case !j.concerns(l, who, r):
		case r.Stale:
			s.Spent = addUp(s.Spent, l.of(r.Amount))
		default:
			s.Reserved = addUp(s.Reserved, l.of(r.Amount))
		}
	}
	return s, true
}

// total sums the calls of a query, of PerModel those of the limit's model under any of its names, and those of an unknown one.
func (j Judge) total(l Limit, q Query) Total {
	if l.Scope != PerModel {
		return j.Spending.Total(q)
	}
	sum := Total{Usage: Usage{Metered: true}}
	for _, g := range j.Spending.Groups(q, ByModel) {
		if model := g.Key[ByModel]; model == "" || j.same(l.Model, model) {
			sum = sum.Add(g.Total)
		}
	}
	return sum
}

// concerns says whether a reservation counts against the limit for a subject. One of an unknown model may be of any.
func (j Judge) concerns(l Limit, who Subject, r Reservation) bool {
	switch l.Scope {
	case PerWave:
		return r.Wave == who.Wave
	case PerItem:
		return r.Item == who.Item
	case PerModel:
		return r.Model == "" || j.same(l.Model, r.Model)
	}
	return true
}

func (j Judge) same(a, b string) bool {
	return a == b || j.Same != nil && j.Same(a) == j.Same(b)
}
