package cost

import "time"

// Window is a span of time, half open: From is in it, To is not. A zero end is open. It is made once, from one reading of one clock,
// and handed to all that must agree.
type Window struct {
	From time.Time
	To   time.Time
}

// Last is the window of length d that ends now.
func Last(now time.Time, d time.Duration) Window { return Window{now.Add(-d), now} }

// Day is the UTC day that now is in.
func Day(now time.Time) Window {
	from := now.UTC().Truncate(24 * time.Hour)
	return Window{from, from.Add(24 * time.Hour)}
}

// Contains says whether t is in the window.
func (w Window) Contains(t time.Time) bool {
	return (w.From.IsZero() || !t.Before(w.From)) && (w.To.IsZero() || t.Before(w.To))
}

// Query selects calls: those in the window that have every name given. Window and names are separate filters; "" is any.
type Query struct {
	Window  Window
	Wave    string
	Item    string
	Model   string
	Backend string
	Agent   string
	Phase   string
	Verdict Verdict
}

// Dimension is what calls are grouped by.
type Dimension string

// The dimensions. A day is a UTC date.
const (
	ByWave    Dimension = "wave"
	ByItem    Dimension = "item"
	ByModel   Dimension = "model"
	ByBackend Dimension = "backend"
	ByAgent   Dimension = "agent"
	ByPhase   Dimension = "phase"
	ByVerdict Dimension = "verdict"
	ByDay     Dimension = "day"
)

// Total is what the calls of a Query add up to.
type Total struct {
	Calls     int   `json:"calls"`
	Usage     Usage `json:"usage"`     // as far as the calls say it, always marked metered: see Unmetered
	Cost      Money `json:"usd"`       // of the calls that are priced
	Unpriced  int   `json:"unpriced"`  // calls without a price: their cost is not in Cost, and not zero
	Unmetered int   `json:"unmetered"` // calls of which the usage is not known, or only in part
	// Estimated is what was charged in place of what is not known, by EstimatedCalls of the calls. It is not in Usage and Cost.
	Estimated      Amount `json:"estimated"`
	EstimatedCalls int    `json:"estimatedCalls"`
	// UnknownTokens and UnknownMoney are calls of which a measure is not known in full, and for which none of it was charged either: a limit
	// of that measure cannot be held against them.
	UnknownTokens int `json:"unknownTokens"`
	UnknownMoney  int `json:"unknownUsd"`
}

// Add sums two totals.
func (t Total) Add(u Total) Total {
	a, b := t.Usage, u.Usage
	return Total{
		Calls: t.Calls + u.Calls,
		Usage: Usage{Input: addUp(a.Input, b.Input), CacheRead: addUp(a.CacheRead, b.CacheRead), CacheWrite5m: addUp(a.CacheWrite5m, b.CacheWrite5m),
			CacheWrite1h: addUp(a.CacheWrite1h, b.CacheWrite1h), Output: addUp(a.Output, b.Output), Reasoning: addUp(a.Reasoning, b.Reasoning), Metered: true},
		Cost:           Money(addUp(int64(t.Cost), int64(u.Cost))),
		Unpriced:       t.Unpriced + u.Unpriced,
		Unmetered:      t.Unmetered + u.Unmetered,
		Estimated:      t.Estimated.Add(u.Estimated),
		EstimatedCalls: t.EstimatedCalls + u.EstimatedCalls,
		UnknownTokens:  t.UnknownTokens + u.UnknownTokens,
		UnknownMoney:   t.UnknownMoney + u.UnknownMoney,
	}
}

// Charge is what the calls count against limits.
func (t Total) Charge() Amount {
	return Amount{Tokens: t.Usage.Tokens(), Money: t.Cost}.Add(t.Estimated)
}

// Group is the total of the calls that agree in the dimensions that were asked for.
type Group struct {
	Key   map[Dimension]string `json:"key"` // "" where the calls do not say
	Total Total                `json:"total"`
}
