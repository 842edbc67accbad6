package cost

import (
	"cmp"
	"math"
	"slices"
)

// Sample is what the attempts of a kind were charged, for those who must set aside enough for one more. A measure is nil where no
// attempt tells it.
type Sample struct {
	Attempts int          `json:"attempts"` // also those that tell nothing
	Tokens   *Size[int64] `json:"tokens"`
	Money    *Size[Money] `json:"usd"`
}

// Size is how large the attempts are of which a measure is known in full.
type Size[N int64 | Money] struct {
	Attempts int `json:"attempts"`
	Middle   N   `json:"middle"` // half of them are not larger
	High     N   `json:"high"`   // the greatest of the newest twenty
}

// newest is how many attempts High looks at: old ones tell little of today's agents.
const newest = 20

// Typical tells what single attempts were charged, estimates included. Calls that name no attempt are left out, and of those that
// do only the ones that q selects are counted.
func (b *Book) Typical(q Query) Sample {
	var all attempts
	b.tables(-1, func(t *table, n int) {
		all.more()
		t.attemptsOf(q, n, &all)
	})
	slices.SortFunc(all.list, func(x, y attempt) int {
		if x.last != y.last {
			return cmp.Compare(y.last, x.last)
		}
		return cmp.Or(cmp.Compare(y.charge.Tokens, x.charge.Tokens), cmp.Compare(y.charge.Money, x.charge.Money))
	})
	var tokens []int64
	var money []Money
	for _, a := range all.list {
		if !a.tokensUnknown {
			tokens = append(tokens, a.charge.Tokens)
		}
		if !a.moneyUnknown {
			money = append(money, a.charge.Money)
		}
	}
	return Sample{Attempts: len(all.list), Tokens: size(tokens), Money: size(money)}
}

// size describes amounts, of which the newest come first.
func size[N int64 | Money](all []N) *Size[N] {
	if len(all) == 0 {
		return nil
	}
	high := slices.Max(all[:min(len(all), newest)])
	slices.Sort(all)
	return &Size[N]{Attempts: len(all), Middle: all[(len(all)-1)/2], High: high}
}

// attempt is what the calls of one attempt are charged.
type attempt struct {
	name          string
	charge        Amount
	last          int64 // time of its newest call
	tokensUnknown bool  // a call of it is not metered in full, and nothing was estimated in place of that
	moneyUnknown  bool
}

// attempts collects them by name.
type attempts struct {
	list   []attempt
	places map[string]int // nil while only one table gave its own
}

// more prepares for another table, which may have calls of the same attempts.
func (a *attempts) more() {
	if a.places == nil && len(a.list) > 0 {
		a.places = make(map[string]int, len(a.list))
		for place := range a.list {
			a.places[a.list[place].name] = place
		}
	}
}

// place is where an attempt is that the table has not met before.
func (a *attempts) place(name string) int {
	if place, ok := a.places[name]; ok {
		return place
	}
	if a.places != nil {
		a.places[name] = len(a.list)
	}
	a.list = append(a.list, attempt{name: name, last: math.MinInt64})
	return len(a.list) - 1
}

// attemptsOf adds the first n rows that q selects to their attempts.
func (t *table) attemptsOf(q Query, n int, into *attempts) {
	from, to := q.Window.nanos()
	groups, first := t.group(q, from, to, nil)
	if len(first) == 0 {
		return
	}
	places := make([]int32, len(t.attempts.all)) // plus one
	t.each(groups, from, to, n, func(_ int32, row, estimate int) {
		code := t.tries[row]
		if places[code] == 0 {
			if t.attempts.all[code] == "" {
				return
			}
			places[code] = int32(into.place(t.attempts.all[code]) + 1)
		}
		a := &into.list[places[code]-1]
		var more Amount
		if t.flags[row]&estimated != 0 {
			more = t.estimates[estimate].amount
		}
		u := &t.counts[row]
		a.charge = a.charge.Add(Amount{Tokens: u[0] + u[1] + u[2] + u[3] + u[4], Money: Money(max(0, t.costs[row]))}).Add(more)
		a.last = max(a.last, t.ats[row])
		a.tokensUnknown = a.tokensUnknown || t.flags[row]&metered == 0 && more.Tokens == 0
		a.moneyUnknown = a.moneyUnknown || t.costs[row] < 0 && more.Money == 0
	})
}
