package cost

import "math"

// Newest is the value that a dimension other than ByDay has in the latest of the calls that q selects and that have one; "" where there
// is none. Of two at the same time it is the greater.
func (b *Book) Newest(q Query, of Dimension) string {
	if of.place() < 0 {
		return ""
	}
	newest := latest{at: math.MinInt64}
	b.tables(-1, func(t *table, n int) { t.newest(q, of, n, &newest) })
	return newest.value
}

// latest is a value and when it was seen last.
type latest struct {
	value string
	at    int64
}

// newest is Newest among the first n rows.
func (t *table) newest(q Query, of Dimension, n int, into *latest) {
	from, to := q.Window.nanos()
	groups, first := t.group(q, from, to, []Dimension{of})
	values := make([]string, len(first))
	for group, code := range first {
		values[group] = t.key(code, []Dimension{of})[0]
	}
	t.each(groups, from, to, n, func(group int32, row, _ int) {
		value, at := values[group], t.ats[row]
		if value != "" && (at > into.at || at == into.at && value > into.value) {
			*into = latest{value, at}
		}
	})
}
