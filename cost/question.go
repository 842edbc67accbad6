package cost

import "time"

// Period is a span that people ask about. The zero Period is all there is.
type Period string

// The periods.
const (
	WavePeriod  Period = "wave"  // one wave
	DailyPeriod Period = "daily" // the UTC day
)

// Question is a Query as people put it. Summaries, projections and ceilings that are asked the same mean the same calls.
type Question struct {
	Query         // the names; its window is not looked at
	Period Period // with WavePeriod and no name of a wave it is the newest one
	// Last is how far back calls count, in place of the period's own span; 0 is that span.
	Last time.Duration
	Now  time.Time
}

// Select is the query that a question means, of a book with the calls. A wave that is asked for and not there is "", and no call counts.
func (q Question) Select(book *Book) (selected Query, found bool) {
	selected = q.Query
	selected.Window = q.window()
	if q.Period == WavePeriod && selected.Wave == "" {
		selected.Wave = book.Newest(Query{}, ByWave)
		return selected, selected.Wave != ""
	}
	return selected, true
}

// window is the span of a question. The days of limits and those of a question begin at the same moment.
func (q Question) window() Window {
	switch {
	case q.Last > 0:
		return Last(q.Now, q.Last)
	case q.Period == DailyPeriod:
		return Day(q.Now)
	}
	return Window{}
}

// Selects says whether q selects a call.
func (q Query) Selects(c Call) bool {
	for i, name := range q.names() {
		if name != "" && name != c.names()[i] {
			return false
		}
	}
	return q.Window.Contains(c.At)
}
