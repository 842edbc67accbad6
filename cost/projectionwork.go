package cost

import "slices"

// item names an item: those of one name in two waves are two.
type item struct{ wave, name string }

// charged is what an item was charged, and which measures of that are all of it.
type charged struct {
	charge Amount
	full   measures
}

// finished is what the work of finished items was made of.
type finished struct {
	shape []Dimension  // in which work is told apart: those of the groups that mean the same in another wave
	own   map[key]bool // those of the aim's own query, by shape, wave and item
	items int
	parts map[item]bool // the items that were counted, where one can be in several shapes
	made  map[key]*made // by shape
}

// made is what finished items have of a shape.
type made struct {
	items  []charged
	judged Total // of the calls of elsewhere
}

// take adds the items that q selects and that are not open.
func (f *finished) take(p Projector, aim Aim, q Query, elsewhere bool) {
	all := p.Book.sums(q, append(slices.Clone(f.shape), ByWave, ByItem)...)
	var last key // most items have the shape of the one before
	var of *made
	for n, k := range all.keys {
		it := item{k[len(f.shape)], k[len(f.shape)+1]}
		own := !elsewhere || aim.Query.Wave == "" || aim.Query.Wave == it.wave
		if it.name == "" || own && slices.Contains(aim.Open, it.name) || len(f.own) > 0 && f.own[k] {
			continue
		}
		if !elsewhere {
			f.own[k] = true
		}
		f.count(it)
		k[len(f.shape)], k[len(f.shape)+1] = "", ""
		if of == nil || k != last {
			if f.made[k] == nil {
				f.made[k] = &made{judged: Total{}.Add(Total{})}
			}
			last, of = k, f.made[k]
		}
		of.items = append(of.items, charged{all.totals[n].Charge(), all.totals[n].full()})
		if elsewhere {
			of.judged = of.judged.Add(all.totals[n])
		}
	}
}

// count counts an item once.
func (f *finished) count(it item) {
	if len(f.shape) == 0 { // then it comes once
		f.items++
		return
	}
	f.parts[it] = true
	f.items = len(f.parts)
}

// work finds what open items will cost, by what finished ones did.
func (p Projector) work(aim Aim, out *plan) {
	f := finished{own: map[key]bool{}, parts: map[item]bool{}, made: map[key]*made{}}
	for _, d := range out.by {
		if d != ByWave && d != ByItem {
			f.shape = append(f.shape, d)
		}
	}
	f.take(p, aim, aim.Query, false)
	if aim.Like != nil {
		f.take(p, aim, *aim.Like, true)
	}
	spent := map[key]Amount{} // by shape and item
	all := p.Book.sums(aim.Query, append(slices.Clone(f.shape), ByItem)...)
	for n, k := range all.keys {
		spent[k] = all.totals[n].Charge()
	}
	for k := range f.made {
		typical, of := f.typical(k)
		for _, name := range aim.Open {
			begun := k
			begun[len(f.shape)] = name
			b := out.at(out.placed(k, f.shape, aim.Query.Wave, name))
			b.rest, b.restOf = b.rest.add(typical.less(spent[begun])), b.restOf.and(of)
		}
	}
	for k, b := range out.bases {
		b.samples = f.items
		for of, made := range f.made {
			if out.sameShape(k, of, f.shape) {
				b.judged = b.judged.Add(made.judged)
			}
		}
	}
}

// typical is what an item has of a shape, by the items of which a measure is known. Those that had nothing of it count as 0.
func (f *finished) typical(k key) (spread, measures) {
	others := f.items - len(f.made[k].items)
	tokens, money := make([]int64, others, f.items), make([]int64, others, f.items)
	var of measures
	for _, done := range f.made[k].items {
		charge, full := done.charge, done.full
		if full.tokens {
			tokens, of.tokens = append(tokens, charge.Tokens), true
		}
		if full.money {
			money, of.money = append(money, int64(charge.Money)), true
		}
	}
	return around(tokens, money), of
}

// placed is the group of an item's part of a shape.
func (p plan) placed(of key, shape []Dimension, wave, item string) key {
	var k key
	for n, d := range p.by {
		switch d {
		case ByWave:
			k[n] = wave
		case ByItem:
			k[n] = item
		default:
			k[n] = of[slices.Index(shape, d)]
		}
	}
	return k
}

// sameShape says whether a group is of a shape.
func (p plan) sameShape(k, of key, shape []Dimension) bool {
	for n, d := range p.by {
		if i := slices.Index(shape, d); i >= 0 && k[n] != of[i] {
			return false
		}
	}
	return true
}

// around is the lower quarter, the mean and the upper quarter of amounts; the quarters are never on the wrong side of the mean.
func around(tokens, money []int64) spread {
	t, m := quarters(tokens), quarters(money)
	return spread{Amount{t[0], Money(m[0])}, Amount{t[1], Money(m[1])}, Amount{t[2], Money(m[2])}}
}

func quarters(all []int64) [3]int64 {
	if len(all) == 0 {
		return [3]int64{}
	}
	slices.Sort(all)
	n, sum := int64(len(all)), int64(0)
	var rest int64
	for _, v := range all { // by parts, so that it cannot be too much to count
		sum, rest = sum+v/n, rest+v%n
	}
	mean := addUp(sum, rest/n)
	return [3]int64{min(mean, all[(n-1)/4]), mean, max(mean, all[n-1-(n-1)/4])}
}

// less is what is left of a spread when some is spent.
func (s spread) less(spent Amount) spread {
	of := func(a Amount) Amount { return Amount{max(0, a.Tokens-spent.Tokens), max(0, a.Money-spent.Money)} }
	return spread{of(s.low), of(s.middle), of(s.high)}
}
