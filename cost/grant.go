package cost

import (
	"errors"
	"fmt"
)

// ErrCeiling is the error of what a hard limit forbids.
var ErrCeiling = errors.New("ceiling")

// Refusal is an ErrCeiling: a reservation that a limit has no room for.
type Refusal struct {
	Standing
	Need int64 // in the limit's unit
	// Waits says that there may be room once attempts that run have ended, since they may use less than they reserved.
	Waits bool
}

func (e *Refusal) Error() string {
	if e.Need <= 1 { // it is not known what it needs
		return fmt.Sprintf("%s: nothing is left", e.Standing)
	}
	return fmt.Sprintf("%s, and this needs %s", e.Standing, e.Limit.Show(e.Need))
}

// Is makes a Refusal an ErrCeiling.
func (e *Refusal) Is(target error) bool { return target == ErrCeiling }

// Ask is what an attempt wants to reserve before it begins, or while it runs.
type Ask struct {
	Subject
	// Most is what it can use. A field that is 0 is not known: such an attempt reserves all that is left.
	Most Amount
	// Least is what it will use at least, as far as that can be foreseen; it is not begun where there is less.
	Least Amount
}

// Grant is how much an attempt may use, so that spent and reserved together never pass a hard limit, or a *Refusal. A field of the
// amount that no limit bounds, and Ask.Most leaves open, is 0: it may use any. The caller reserves it in the transaction in which it
// looked at what is spent and held.
func (j Judge) Grant(ask Ask) (Amount, error) {
	granted := ask.Most
	for _, s := range j.Standings(ask.Subject) {
		l := s.Limit
		if l.Soft {
			continue
		}
		most := l.of(ask.Most)
		need := most
		if most == 0 {
			need = max(1, l.of(ask.Least))
		}
		if addUp(s.Spent, need) > l.Max() {
			return Amount{}, &Refusal{Standing: s, Need: need}
		}
		if need > s.Left() {
			return Amount{}, &Refusal{Standing: s, Need: need, Waits: true}
		}
		if most > 0 {
			continue
		}
		if l.counts() {
			granted.Tokens = least(granted.Tokens, s.Left())
		} else {
			granted.Money = Money(least(int64(granted.Money), s.Left()))
		}
	}
	return granted, nil
}

// least is the smaller of two bounds, of which 0 is none.
func least(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// Policy says what becomes of work that limits cannot be held against, since its price or its usage is not known.
type Policy string

// The policies.
const (
	Refuse   Policy = "refuse"   // it is not begun
	Estimate Policy = "estimate" // it is charged with the most it can have cost
	Allow    Policy = "allow"    // it is not charged, and the report says how much of it there was
)

// Budget is what a configuration says about money.
type Budget struct {
	Limits  []Limit
	Attempt Amount // what one attempt may use; a field that is 0 is not bounded
	// Unpriced is about models without a price, where money is limited, Unmetered about agents that do not say what they use; "" is Estimate.
	Unpriced  Policy
	Unmetered Policy
}

// Check refuses limits that bound nothing, and an attempt that none of them could ever let begin.
func (b Budget) Check() error {
	for _, l := range b.Limits {
		if err := l.Check(); err != nil {
			return err
		}
		if most := l.of(b.Attempt); !l.Soft && most > l.Max() {
			return fmt.Errorf("limit %s is %s, and one attempt may use %s: none could ever begin", l.Name(), l.Show(l.Max()), l.Show(most))
		}
	}
	return nil
}

// Limited says whether there is anything to hold work against.
func (b Budget) Limited() bool { return len(b.Limits) > 0 || b.Attempt != (Amount{}) }

// LimitsMoney says whether any limit is one of money.
func (b Budget) LimitsMoney() bool {
	for _, l := range b.Limits {
		if !l.counts() {
			return true
		}
	}
	return b.Attempt.Money > 0
}
