package cost

import (
	"math"
	"slices"
	"time"
)

// key is the values of dimensions in the order that was asked for.
type key [8]string

// sums collects totals by key.
type sums struct {
	by     []Dimension
	day    int // where in by the day is, or -1
	keys   []key
	totals []Total
	places map[key]int // of the keys; nil while only one table gave its own, each once
}

func newSums(by []Dimension) *sums {
	by = by[:min(len(by), len(key{}))] // there are no more dimensions than that
	return &sums{by: by, day: slices.Index(by, ByDay)}
}

// more prepares for another table, which may have the same keys.
func (s *sums) more() {
	if s.places == nil && len(s.keys) > 0 {
		s.places = make(map[key]int, len(s.keys))
		for place, k := range s.keys {
			s.places[k] = place
		}
	}
}

// add adds a total to that of a key.
func (s *sums) add(k key, total Total) {
	if place, ok := s.places[k]; ok {
		s.totals[place] = s.totals[place].Add(total)
		return
	}
	if s.places != nil {
		s.places[k] = len(s.keys)
	}
	s.keys, s.totals = append(s.keys, k), append(s.totals, total)
}

// day is the date of a time in nanoseconds.
func day(at int64) string { return time.Unix(0, at).UTC().Format(time.DateOnly) }

const nanosADay = int64(24 * time.Hour)

// cells are the totals to be: one of each group, or of each group and day.
type cells struct {
	cells  dictionary[cell]
	totals []Total
	days   bool
	last   cell // that was asked for, with its number: rows of a day come together
	number uint32
}

type cell struct {
	group int32
	day   int64
}

func newCells(groups int, days bool) *cells {
	c := &cells{days: days, last: cell{group: -1}}
	if !days {
		c.totals, c.cells.all = make([]Total, groups), make([]cell, groups)
		for group := range groups {
			c.cells.all[group].group = int32(group)
		}
	}
	return c
}

// total is where calls of a group at a time are added up.
func (c *cells) total(group int32, at int64) *Total {
	if !c.days {
		return &c.totals[group]
	}
	if want := (cell{group, at / nanosADay}); want != c.last {
		c.last, c.number = want, c.cells.code(want)
		if int(c.number) == len(c.totals) {
			c.totals = append(c.totals, Total{})
		}
	}
	return &c.totals[c.number]
}

// sum adds the first n rows that q selects.
func (t *table) sum(q Query, n int, into *sums) {
	from, to := q.Window.nanos()
	groups, first := t.group(q, from, to, into.by)
	if len(first) == 0 {
		return
	}
	cells := newCells(len(first), into.day >= 0)
	cut := false // some kind has rows in the window and others outside
	for code, group := range groups {
		if group < 0 {
			continue
		}
		w := t.spans[code]
		if n < t.len() || w.first < from || w.last >= to || into.day >= 0 && w.first/nanosADay != w.last/nanosADay {
			cut = true
			continue
		}
		sum := cells.total(group, w.first)
		*sum = sum.Add(t.whole[code])
		groups[code] = -1
	}
	if cut {
		t.each(groups, from, to, n, func(group int32, row, estimate int) { t.addRow(cells.total(group, t.ats[row]), row, estimate) })
	}
	into.keys, into.totals = slices.Grow(into.keys, len(cells.totals)), slices.Grow(into.totals, len(cells.totals))
	for code, c := range cells.cells.all {
		if cells.totals[code].Calls == 0 {
			continue
		}
		k := t.key(first[c.group], into.by)
		if into.day >= 0 {
			k[into.day] = day(c.day * nanosADay)
		}
		into.add(k, cells.totals[code])
	}
}

// each calls add for the first n rows that lie in [from, to) and whose kind has a group; groups may be nil, where there are none.
func (t *table) each(groups []int32, from, to int64, n int, add func(group int32, row, estimate int)) {
	if groups == nil {
		return
	}
	estimate := 0
	for block, e := range t.blocks {
		if e.last < from || e.first >= to {
			continue
		}
		for row := block * blockRows; row < min(n, (block+1)*blockRows); row++ {
			group := groups[t.kindOf[row]]
			if at := t.ats[row]; group < 0 || at < from || at >= to {
				continue
			}
			if t.flags[row]&estimated != 0 {
				for t.estimates[estimate].row < row {
					estimate++
				}
			}
			add(group, row, estimate)
		}
	}
}

// group gives each kind that q's names select and that has rows about [from, to) the number of its group, and the others -1; first has
// a kind of each group.
func (t *table) group(q Query, from, to int64, by []Dimension) (groups []int32, first []int) {
	var want kind // the number plus one, or 0 for any
	for i, name := range q.names() {
		if name == "" {
			continue
		}
		code, ok := t.names.codes[name]
		if !ok {
			return nil, nil
		}
		want[i] = code + 1
	}
	var places []int
	for _, d := range by {
		if i := d.place(); i >= 0 {
			places = append(places, i)
		}
	}
	groups = make([]int32, len(t.kinds.all))
	number := t.numbering(places)
	for code, span := range t.spans {
		groups[code] = -1
		if span.last < from || span.first >= to {
			continue
		}
		if k := &t.kinds.all[code]; k.matches(&want) {
			groups[code] = number(k)
			if int(groups[code]) == len(first) {
				first = append(first, code)
			}
		}
	}
	return groups, first
}

// numbering gives kinds that agree at the places the same number, from 0. There are few groups and many kinds, and mostly one place.
func (t *table) numbering(places []int) func(*kind) int32 {
	if len(places) > 1 {
		var numbers dictionary[kind]
		return func(k *kind) int32 {
			var rest kind
			for _, i := range places {
				rest[i] = k[i]
			}
			return int32(numbers.code(rest))
		}
	}
	if len(places) == 0 {
		return func(*kind) int32 { return 0 }
	}
	numbers, next := make([]int32, len(t.names.all)), int32(0) // the number plus one
	return func(k *kind) int32 {
		n := &numbers[k[places[0]]]
		if *n == 0 {
			next++
			*n = next
		}
		return *n - 1
	}
}

func (k *kind) matches(want *kind) bool {
	for i, code := range want {
		if code != 0 && k[i]+1 != code {
			return false
		}
	}
	return true
}

// place is where a kind has the dimension, or -1.
func (d Dimension) place() int {
	return slices.Index([]Dimension{ByWave, ByItem, ByModel, ByBackend, ByAgent, ByPhase, ByVerdict}, d)
}

// key is the values of a kind.
func (t *table) key(code int, by []Dimension) key {
	var out key
	for n, d := range by {
		if i := d.place(); i >= 0 {
			out[n] = t.names.all[t.kinds.all[code][i]]
		}
	}
	return out
}

// nanos is the window in nanoseconds of Unix time, half open.
func (w Window) nanos() (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	if !w.From.IsZero() {
		from = nanos(w.From)
	}
	if !w.To.IsZero() {
		to = nanos(w.To)
	}
	return from, to
}

// nanos is a time in nanoseconds, or the nearest that can be counted.
func nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}
