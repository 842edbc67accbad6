package redact

import (
	"cmp"
	"slices"
	"sort"
)

// Finding is a match. It never holds the value.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Start    int      `json:"start"` // offset of its first byte
	End      int      `json:"end"`   // offset after its last
	// Checked says that the value has a checksum, and that it is right, so that its vendor has issued it. Most values have none.
	Checked bool `json:"checked"`
}

// Explain says what would be taken out of a text, in the order of its place. Where one match holds others, such as a password that is a
// token, it gives those.
func (r *Redactor) Explain(text []byte) []Finding {
	var all []Finding
	var before []edits // of the passes so far
	b := text
	for _, p := range r.passes() {
		var made edits
		state := &reading{text: textOf(b)}
		b = p.read(state, nil, func(m match, marker int) {
			if m.rule == nil { // the tail of the last
				made[len(made)-1].end = m.end
				return
			}
			made = append(made, edit{m.start, m.end, marker, len(m.rule.marker), m.rule})
		})
		sure := all // of the passes before: none of them reaches into another, and none of this one cuts one in two
		for _, e := range made {
			f := Finding{Rule: e.rule.ID, Severity: e.rule.Severity, Start: e.start, End: e.end}
			for _, earlier := range slices.Backward(before) {
				f.Start, f.End = earlier.start(f.Start), earlier.end(f.End)
			}
			f.Checked = e.rule.check != nil && e.rule.check(text[f.Start:f.End])
			inner, _ := slices.BinarySearchFunc(sure, f.Start, func(s Finding, start int) int { return cmp.Compare(s.Start, start) })
			if inner == len(sure) || sure[inner].End > f.End {
				all = append(all, f)
			}
		}
		slices.SortFunc(all, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
		before = append(before, made)
	}
	return all
}

// edit is a match of a pass: its place in what the pass read, and that of its marker in what it wrote.
type edit struct {
	start, end  int
	out, length int
	rule        *rule
}

// edits of one pass, in order.
type edits []edit

// start is the place in what was read of a beginning in what was written.
func (es edits) start(place int) int {
	n := sort.Search(len(es), func(n int) bool { return es[n].out > place })
	if n == 0 {
		return place
	}
	e := es[n-1]
	if place < e.out+e.length {
		return e.start
	}
	return place - (e.out + e.length) + e.end
}

// end is start for what ends at a place.
func (es edits) end(place int) int {
	n := sort.Search(len(es), func(n int) bool { return es[n].out >= place })
	if n == 0 {
		return place
	}
	e := es[n-1]
	if place <= e.out+e.length {
		return e.end
	}
	return place - (e.out + e.length) + e.end
}
