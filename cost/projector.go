package cost

import (
	"fmt"
	"slices"
	"time"
)

// Projector tells where spending is going. What was spent comes from the same query that ceilings and panels use; the rest is
// either the work that is still open, judged by what finished items cost, or time that is left, judged by the rate of late.
type Projector struct {
	Book *Book
	Now  time.Time // of the clock that made the windows
}

// Aim says what to project.
type Aim struct {
	// Query selects what counts as spent: the calls of a wave, of a day.
	Query Query
	// Open names the items of Query that are not finished, also those that have not begun. Each will cost what finished items do,
	// less what was spent on it. Empty and not nil: nothing is left to do. Nil: the rest is the rate until Until.
	Open []string
	// Until is when spending by the rate ends. Zero: at Query.Window.To.
	Until time.Time
	// Like selects calls of other finished items to judge the open ones by: those of the same model and backend. The finished items
	// of Query always count, those that are open never do.
	Like *Query
	// Recent is how far back the rate looks. 0: half an hour.
	Recent time.Duration
	// Ceiling is what ToCeilingMs is told of; a measure that is 0 has none.
	Ceiling Amount
}

// State is how far a projection can be relied on.
type State string

// The states.
const (
	ProjectionOK State = "ok"
	Thin         State = "thin"         // the figures rest on fewer than MinSamples samples
	Insufficient State = "insufficient" // there are no figures
)

// MinSamples is how many finished items, or calls of late, make a projection more than thin.
const MinSamples = 5

// Projection is where spending is going. A measure is nil, and never 0, where nothing can be told of it.
type Projection struct {
	State   State            `json:"state"`
	Reason  string           `json:"reason,omitempty"` // of a state that is not ok, and what the figures leave out
	Spent   Total            `json:"spent"`
	Samples int              `json:"samples"` // items or calls that the rest is judged by
	Tokens  *Forecast[int64] `json:"tokens"`
	Money   *Forecast[Money] `json:"usd"`
	// Unpriced and Unmetered count the calls, of those spent and those that the rest is judged by, of which the money or the tokens are
	// not known in full. Where they are not 0 the figures are too low, but for what was estimated.
	Unpriced  int `json:"unpriced"`
	Unmetered int `json:"unmetered"`
}

// Forecast is one measure at the end: what is spent by now and the rest.
type Forecast[N int64 | Money] struct {
	Low    N `json:"low"`
	Middle N `json:"middle"` // by the mean, which sums of many follow
	High   N `json:"high"`
	// PerHour is the rate of late; nil where no call is recent.
	PerHour *N `json:"perHour"`
	// ToCeilingMs is when, at that rate, the ceiling is reached: 0 at or past it, nil without a ceiling or a rate.
	ToCeilingMs *int64 `json:"toCeilingMs"`
}

// until is when spending by the rate ends, or zero.
func (a Aim) until() time.Time {
	if a.Until.IsZero() {
		return a.Query.Window.To
	}
	return a.Until
}

// ProjectedGroup is the projection of a group.
type ProjectedGroup struct {
	Key        map[Dimension]string `json:"key"`
	Projection Projection           `json:"projection"`
}

// Project projects all that the aim selects.
func (p Projector) Project(aim Aim) Projection {
	all := p.plan(aim, nil)
	return all.project(aim, all.at(key{}))
}

// Groups projects by dimensions other than ByDay, ordered by their values. The spent totals add up to that of Project; a ceiling is
// that of each group. Open items that have not begun are in the groups that finished ones were in.
func (p Projector) Groups(aim Aim, by ...Dimension) []ProjectedGroup {
	all := by
	by = nil
	for _, d := range all {
		if d.place() >= 0 && !slices.Contains(by, d) {
			by = append(by, d)
		}
	}
	groups := p.plan(aim, by)
	keys := groups.keys()
	out := make([]ProjectedGroup, 0, len(keys))
	for _, k := range keys {
		names := make(map[Dimension]string, len(by))
		for n, d := range by {
			names[d] = k[n]
		}
		out = append(out, ProjectedGroup{Key: names, Projection: groups.project(aim, groups.at(k))})
	}
	return out
}

// project makes the projection of a group.
func (p plan) project(aim Aim, b *basis) Projection {
	out := Projection{Spent: b.spent, Samples: b.samples, Unpriced: b.spent.Unpriced + b.judged.Unpriced,
		Unmetered: b.spent.Unmetered + b.judged.Unmetered}
	out.State, out.Reason = p.state(aim, b)
	if out.State == Insufficient {
		return out
	}
	spent, known := b.spent.Charge(), b.spent.told().and(b.restOf)
	if known.tokens {
		out.Tokens = forecast(spent.Tokens, b.rest, func(a Amount) int64 { return a.Tokens }, aim.Ceiling.Tokens)
		if b.rate != nil && b.rateOf.tokens {
			out.Tokens.burn(spent.Tokens, b.rate.Tokens, p.over, aim.Ceiling.Tokens)
		}
	}
	if known.money {
		out.Money = forecast(spent.Money, b.rest, func(a Amount) Money { return a.Money }, aim.Ceiling.Money)
		if b.rate != nil && b.rateOf.money {
			out.Money.burn(spent.Money, b.rate.Money, p.over, aim.Ceiling.Money)
		}
	}
	out.Reason = join(out.Reason, gaps(b.spent.Add(b.judged)))
	return out
}

// gaps says what the figures leave out.
func gaps(known Total) string {
	text := ""
	if known.Unpriced > 0 {
		text = fmt.Sprintf("%d of %d calls have no price", known.Unpriced, known.Calls)
	}
	if known.Unmetered > 0 {
		text = join(text, fmt.Sprintf("%d of %d calls are not metered in full", known.Unmetered, known.Calls))
	}
	return text
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// forecast puts one measure together.
func forecast[N int64 | Money](spent N, rest spread, of func(Amount) N, ceiling N) *Forecast[N] {
	plus := func(more Amount) N { return N(addUp(int64(spent), int64(of(more)))) }
	out := &Forecast[N]{Low: plus(rest.low), Middle: plus(rest.middle), High: plus(rest.high)}
	if ceiling > 0 && spent >= ceiling {
		out.ToCeilingMs = new(int64)
	}
	return out
}

// burn adds what the rate of late says.
func (f *Forecast[N]) burn(spent, burnt N, over time.Duration, ceiling N) {
	hour := N(scale(int64(burnt), int64(time.Hour), int64(over)))
	f.PerHour = &hour
	if ceiling > spent && burnt > 0 {
		ms := scale(int64(ceiling-spent), over.Milliseconds(), int64(burnt))
		f.ToCeilingMs = &ms
	}
}

// Unnamed are so many items for Aim.Open that no call was made for: the names are none that a call can have.
func Unnamed(n int) []string {
	open := make([]string, n)
	for i := range open {
		open[i] = fmt.Sprintf("\x00%d", i)
	}
	return open
}
