package cost

// Cumulative turns totals that grow, as codex tells them of a thread, into what was used since the one before. The zero
// value begins at nothing; one with a Total goes on from there. It is for one goroutine.
type Cumulative struct {
	Total Usage // the last one that was known
}

// Increment is what a total adds to the one before.
type Increment struct {
	Usage     Usage // what was used since; unmetered where the total is
	Duplicate bool  // the total is the one before, told again
	Reset     bool  // a class fell: the count began anew, so that all of the total is new
}

// Next takes the next total. One that is unmetered tells nothing: the next that is known says what was used meanwhile.
func (c *Cumulative) Next(total Usage) Increment {
	if !total.Metered {
		return Increment{Usage: Usage{Model: total.Model}}
	}
	before := c.Total
	c.Total = total
	if !before.Metered {
		return Increment{Usage: total}
	}
	d := Usage{Model: total.Model, Input: total.Input - before.Input, CacheRead: total.CacheRead - before.CacheRead,
		CacheWrite5m: total.CacheWrite5m - before.CacheWrite5m, CacheWrite1h: total.CacheWrite1h - before.CacheWrite1h,
		Output: total.Output - before.Output, Reasoning: total.Reasoning - before.Reasoning, Metered: true}
	if min(d.Input, d.CacheRead, d.CacheWrite5m, d.CacheWrite1h, d.Output, d.Reasoning) < 0 {
		return Increment{Usage: total, Reset: true}
	}
	d.Reasoning = min(d.Reasoning, d.Output) // a total that moved output to reasoning afterwards
	return Increment{Usage: d, Duplicate: d.Tokens() == 0}
}
