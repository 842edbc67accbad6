package cost

import (
	"fmt"
	"slices"
	"time"
)

// basis is what one group of a projection is made from.
type basis struct {
	spent   Total
	judged  Total // the calls elsewhere that the rest is judged by
	samples int
	rest    spread
	restOf  measures // of which the rest is known
	rate    *Amount  // spent in plan.over
	rateOf  measures
}

// measures are those that something is known of.
type measures struct{ tokens, money bool }

// told is the measures of which calls tell at least a part. That of no calls is known: nothing.
func (t Total) told() measures {
	return measures{t.Calls == 0 || t.Calls > t.Unmetered || t.Estimated.Tokens > 0, t.Calls == 0 || t.Calls > t.Unpriced || t.Estimated.Money > 0}
}

// full is the measures of which calls tell all, or that were estimated.
func (t Total) full() measures {
	return measures{t.Unmetered == 0 || t.Estimated.Tokens > 0, t.Unpriced == 0 || t.Estimated.Money > 0}
}

func (m measures) and(n measures) measures { return measures{m.tokens && n.tokens, m.money && n.money} }

// spread is a low, a middle and a high amount, each measure by itself.
type spread struct{ low, middle, high Amount }

func (s spread) add(t spread) spread {
	return spread{s.low.Add(t.low), s.middle.Add(t.middle), s.high.Add(t.high)}
}

// plan is the bases of all groups.
type plan struct {
	by    []Dimension
	bases map[key]*basis
	over  time.Duration // that rates are of
	short bool          // over is the shortest that there is
}

func (p plan) at(k key) *basis {
	b := p.bases[k]
	if b == nil {
		b = &basis{spent: Total{}.Add(Total{}), restOf: measures{true, true}}
		p.bases[k] = b
	}
	return b
}

func (p plan) keys() []key {
	keys := make([]key, 0, len(p.bases))
	for k := range p.bases {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int { return slices.Compare(a[:], b[:]) })
	return keys
}

// plan gathers what the projections of groups are made from.
func (p Projector) plan(aim Aim, by []Dimension) plan {
	out := plan{by: by, bases: map[key]*basis{}}
	spent := p.Book.sums(aim.Query, by...)
	for n, k := range spent.keys {
		out.at(k).spent = spent.totals[n]
	}
	p.rates(aim, &out)
	if aim.Open != nil {
		p.work(aim, &out)
	}
	return out
}

// state says how far a group can be relied on.
func (p plan) state(aim Aim, b *basis) (State, string) {
	switch {
	case aim.Open != nil && len(aim.Open) == 0:
		return ProjectionOK, ""
	case aim.Open == nil && aim.until().IsZero():
		return Insufficient, "neither open items nor an end are given"
	case b.samples == 0 && aim.Open == nil:
		return Insufficient, "there is no call of late"
	case b.samples == 0:
		return Insufficient, "there is no finished item to judge the open ones by"
	case b.samples < MinSamples:
		return Thin, fmt.Sprintf("there is %d of the %d samples that would be enough", b.samples, MinSamples)
	case aim.Open == nil && p.short:
		return Thin, fmt.Sprintf("the rate is of the last %s only", p.over)
	}
	return ProjectionOK, ""
}
