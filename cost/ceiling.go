package cost

import (
	"fmt"
	"slices"
)

// Ceiling is how a limit stands for a subject, and whether that can be told.
type Ceiling struct {
	Standing
	Subject Subject
	Doubt   string // why the limit cannot be evaluated; "": it can
}

// Stops says that the limit is hard and used up. That is certain also where there is a doubt: what is not known is only more.
func (c Ceiling) Stops() bool { return !c.Limit.Soft && c.Reached() }

// Ceilings is how the budget's limits stand that a question asks about: with WavePeriod those of waves, with DailyPeriod those of days and of
// models, else all, items being those of the wave. Question.Last counts in place of each limit's own span. corrupt is how many rows of the
// ledger cannot be read: then no limit can be evaluated.
func (j Judge) Ceilings(q Question, b Budget, corrupt int) []Ceiling {
	j.Limits, j.Now = b.Limits, q.Now
	if q.Last > 0 {
		j.Spending = within{j.Spending, Last(q.Now, q.Last)}
	}
	subjects := []Subject{{Wave: q.Wave, Model: q.Model}}
	if q.Period == "" && q.Wave != "" {
		for _, g := range j.Spending.Groups(Query{Wave: q.Wave}, ByItem) {
			if item := g.Key[ByItem]; item != "" {
				subjects = append(subjects, Subject{Item: item})
			}
		}
	}
	var all []Ceiling
	for _, who := range subjects {
		for _, s := range j.Standings(who) {
			if !q.Period.has(s.Limit.Scope) || who.Item != "" && s.Limit.Scope != PerItem {
				continue
			}
			all = append(all, Ceiling{s, who, b.doubt(s, corrupt)})
		}
	}
	slices.SortStableFunc(all, func(x, y Ceiling) int { return rank(x) - rank(y) })
	return all
}

// rank puts hard limits first.
func rank(c Ceiling) int {
	if c.Limit.Soft {
		return 1
	}
	return 0
}

func (p Period) has(s Scope) bool {
	switch p {
	case WavePeriod:
		return s == PerWave
	case DailyPeriod:
		return s == PerDay || s == PerModel
	}
	return true
}

// doubt says why a limit cannot be evaluated.
func (b Budget) doubt(s Standing, corrupt int) string {
	policy, name, lack := b.Unpriced, "unpriced", "without a price"
	if s.Limit.counts() {
		policy, name, lack = b.Unmetered, "unmetered", "not metered in full"
	}
	switch {
	case corrupt > 0:
		return fmt.Sprintf("rows of the ledger that cannot be read, and whose cost is not known: %d", corrupt)
	case s.Unknown > 0 && policy == Refuse:
		return fmt.Sprintf("calls %s: %d, and limits.%s is refuse", lack, s.Unknown, name)
	}
	return ""
}

// within is spending of which only a window counts.
type within struct {
	Spending
	window Window
}

func (w within) Total(q Query) Total {
	q.Window = w.window
	return w.Spending.Total(q)
}

func (w within) Groups(q Query, by ...Dimension) []Group {
	q.Window = w.window
	return w.Spending.Groups(q, by...)
}

// Gauge is a ceiling for Alerts, with what the rest of the aim will bring it to. Limits of a model have no projection: a model may be
// spelt in several ways.
func (c Ceiling) Gauge(p Projector, wave string, aim Aim) Gauge {
	g := Gauge{At: p.Now, Wave: wave, Limit: c.Limit.Name(), Spent: c.Limit.Amount(c.Spent), Ceiling: c.Limit.Amount(c.Limit.Max())}
	if c.Subject.Item != "" {
		g.Limit += " " + c.Subject.Item
	}
	query, ok := c.Limit.Query(c.Subject, p.Now)
	if !ok || c.Limit.Scope == PerModel {
		return g
	}
	if aim.Query.Window != (Window{}) {
		query.Window = aim.Query.Window
	}
	if end := query.Window.To; end.After(p.Now) && aim.until().After(end) {
		aim.Until = end // what comes later counts on another day
	}
	aim.Query, aim.Ceiling = query, g.Ceiling
	if c.Limit.Scope == PerItem {
		aim.Open = c.open(aim.Open)
	}
	projected := p.Project(aim)
	g.Projection = &projected
	return g
}

// open is what is open of the one item of a limit.
func (c Ceiling) open(all []string) []string {
	if all == nil {
		return nil
	}
	if slices.Contains(all, c.Subject.Item) {
		return []string{c.Subject.Item}
	}
	return []string{}
}
