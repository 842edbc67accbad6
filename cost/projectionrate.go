package cost

import (
	"cmp"
	"math"
	"math/bits"
	"time"
)

// slots is into how many parts the recent time is cut, to see how a rate varies. A rate is over two of them at least: a single call
// that has just ended says nothing about a minute.
const (
	slots    = 8
	minSlots = 2
)

const defaultRecent = 30 * time.Minute

// recent is what was spent of late, by slot and group.
type recent struct {
	step   time.Duration
	totals [slots]map[key]Total
	sum    map[key]Total // of all slots
	began  int           // the first slot that counts: before it nothing was ever spent
}

// recent looks at the slots before now.
func (p Projector) recent(aim Aim, by []Dimension) recent {
	out := recent{step: max(cmp.Or(aim.Recent, defaultRecent)/slots, time.Millisecond), sum: map[key]Total{}, began: slots}
	from := p.Now.Add(-slots * out.step)
	before := aim.Query
	before.Window = meet(before.Window, Window{To: from})
	if p.Book.Total(before).Calls > 0 {
		out.began = 0 // where it was quiet since, that is a part of the rate
	}
	for n := range slots {
		out.totals[n] = map[key]Total{}
		q := aim.Query
		q.Window = meet(q.Window, Window{from.Add(time.Duration(n) * out.step), from.Add(time.Duration(n+1) * out.step)})
		if !q.Window.From.Before(q.Window.To) {
			continue // outside the window of the query
		}
		sums := p.Book.sums(q, by...)
		for i, k := range sums.keys {
			out.totals[n][k] = sums.totals[i]
			out.sum[k] = out.sum[k].Add(sums.totals[i])
			out.began = min(out.began, n)
		}
	}
	out.began = min(out.began, slots-minSlots)
	return out
}

// rates finds the rate of each group, and by it the rest of the window where no work is named.
func (p Projector) rates(aim Aim, out *plan) {
	late := p.recent(aim, out.by)
	out.over, out.short = time.Duration(slots-late.began)*late.step, late.began == slots-minSlots
	left := max(0, aim.until().Sub(p.Now))
	for k, sum := range late.sum {
		b, charge := out.at(k), sum.Charge()
		b.rate, b.rateOf = &charge, sum.told()
		if aim.Open != nil {
			continue
		}
		var tokens, money []int64 // if all time left were as one slot
		for _, totals := range late.totals[late.began:] {
			a := totals[k].Charge()
			tokens = append(tokens, scale(a.Tokens, int64(left), int64(late.step)))
			money = append(money, scale(int64(a.Money), int64(left), int64(late.step)))
		}
		b.samples, b.rest, b.restOf = sum.Calls, around(tokens, money), b.rateOf
	}
}

// meet is the time that both windows have.
func meet(a, b Window) Window {
	if a.From.IsZero() || b.From.After(a.From) {
		a.From = b.From
	}
	if a.To.IsZero() || !b.To.IsZero() && b.To.Before(a.To) {
		a.To = b.To
	}
	return a
}

// scale is v*by/of of numbers that are not negative, of which the last is not 0, and the greatest number where that is more.
func scale(v, by, of int64) int64 {
	high, low := bits.Mul64(uint64(v), uint64(by))
	if high >= uint64(of) {
		return math.MaxInt64
	}
	out, _ := bits.Div64(high, low, uint64(of))
	return int64(min(out, math.MaxInt64))
}
