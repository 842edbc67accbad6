package cost

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// table holds calls in columns. Rows are only ever appended.
//
// Calls that agree in all names are of one kind, whose total is kept beside them. A window that takes a kind whole, or not at all,
// needs no look at its rows; only kinds that a border of the window cuts are added up row by row.
type table struct {
	names dictionary[string]
	kinds dictionary[kind]
	spans []extent // of each kind, and its total
	whole []Total

	ats      []int64 // in nanoseconds of Unix time
	kindOf   []uint32
	tries    []uint32 // the attempt's name, in attempts
	counts   [][6]int64
	costs    []int64 // unpriced: below zero
	flags    []uint8
	blocks   []extent // the times of each blockRows rows
	attempts dictionary[string]
	// estimates are those of the rows flagged so, in their order.
	estimates []estimate

	ids      [][2]uint64
	contents []uint64
	index    []uint32 // by id: the row plus one, or 0; at most three quarters are used
}

const (
	metered = 1 << iota // flags of a row
	estimated
)

const blockRows = 4096

// kind is the names of a call in the order of Call.names, as numbers.
type kind [7]uint32

func (q Query) names() [7]string {
	return [7]string{q.Wave, q.Item, q.Model, q.Backend, q.Agent, q.Phase, string(q.Verdict)}
}

func (c Call) names() [7]string {
	return [7]string{c.Wave, c.Item, c.Usage.Model, c.Backend, c.Agent, c.Phase, string(c.Verdict)}
}

// extent is the first and the last time of rows.
type extent struct{ first, last int64 }

func (e extent) with(at int64) extent { return extent{min(e.first, at), max(e.last, at)} }

func nowhere() extent { return extent{math.MaxInt64, math.MinInt64} }

type estimate struct {
	row    int
	amount Amount
}

func (t *table) len() int { return len(t.ats) }

// add appends a call that is countable and whose id the table does not have.
func (t *table) add(c Call, id [2]uint64, content uint64) {
	row := t.len()
	at := c.At.UnixNano()
	var k kind
	for i, name := range c.names() {
		k[i] = t.names.code(name)
	}
	code := t.kinds.code(k)
	if int(code) == len(t.whole) {
		t.spans, t.whole = append(t.spans, nowhere()), append(t.whole, Total{})
	}
	if row%blockRows == 0 {
		t.blocks = append(t.blocks, nowhere())
	}
	t.blocks[row/blockRows] = t.blocks[row/blockRows].with(at)

	flags, price := uint8(0), int64(-1)
	if c.Usage.Metered {
		flags |= metered
	}
	if c.Cost != nil {
		price = int64(*c.Cost)
	}
	if c.Estimate != nil {
		flags |= estimated
		t.estimates = append(t.estimates, estimate{row, *c.Estimate})
	}
	u := c.Usage
	t.ats = append(t.ats, at)
	t.kindOf = append(t.kindOf, code)
	t.tries = append(t.tries, t.attempts.code(c.Attempt))
	t.counts = append(t.counts, [6]int64{u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning})
	t.costs = append(t.costs, price)
	t.flags = append(t.flags, flags)
	t.ids = append(t.ids, id)
	t.contents = append(t.contents, content)

	t.spans[code] = t.spans[code].with(at)
	t.addRow(&t.whole[code], row, len(t.estimates)-1)
	t.enter(row)
}

// addRow adds a row to a total. Its estimate, where it has one, is the one at that place.
func (t *table) addRow(total *Total, row, estimateAt int) {
	total.Calls++
	u, n := &total.Usage, &t.counts[row]
	u.Metered = true
	u.Input = addUp(u.Input, n[0])
	u.CacheRead = addUp(u.CacheRead, n[1])
	u.CacheWrite5m = addUp(u.CacheWrite5m, n[2])
	u.CacheWrite1h = addUp(u.CacheWrite1h, n[3])
	u.Output = addUp(u.Output, n[4])
	u.Reasoning = addUp(u.Reasoning, n[5])
	var charged Amount
	if t.flags[row]&estimated != 0 {
		charged = t.estimates[estimateAt].amount
		total.EstimatedCalls++
		total.Estimated = total.Estimated.Add(charged)
	}
	if price := t.costs[row]; price < 0 {
		total.Unpriced++
		total.UnknownMoney += one(charged.Money == 0)
	} else {
		total.Cost = Money(addUp(int64(total.Cost), price))
	}
	if t.flags[row]&metered == 0 {
		total.Unmetered++
		total.UnknownTokens += one(charged.Tokens == 0)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// find returns the row with an id.
func (t *table) find(id [2]uint64) (row int, found bool) {
	if len(t.index) == 0 {
		return 0, false
	}
	for i := id[0]; ; i++ {
		switch at := t.index[i&uint64(len(t.index)-1)]; {
		case at == 0:
			return 0, false
		case t.ids[at-1] == id:
			return int(at - 1), true
		}
	}
}

// enter puts the newest row into the index.
func (t *table) enter(row int) {
	if 4*(row+1) > 3*len(t.index) {
		t.index = make([]uint32, max(16, 2*len(t.index)))
		for old := range row {
			t.place(old)
		}
	}
	t.place(row)
}

func (t *table) place(row int) {
	i := t.ids[row][0]
	for t.index[i&uint64(len(t.index)-1)] != 0 {
		i++
	}
	t.index[i&uint64(len(t.index)-1)] = uint32(row + 1)
}

// digest stands for an id. Ids come from files that agents write, so it is one that nobody can make collide.
func digest(id string) [2]uint64 {
	sum := sha256.Sum256([]byte(id))
	return [2]uint64{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])}
}

// countable says whether the figures of a call can be added up. It is what of Check sums depend on.
func (c Call) countable() bool {
	return c.timely() && (c.Cost == nil || *c.Cost >= 0) &&
		(c.Estimate == nil || c.Estimate.Tokens >= 0 && c.Estimate.Money >= 0) && c.Usage.Check() == nil
}

// timely says whether a call can have ended then.
func (c Call) timely() bool {
	year := c.At.UTC().Year()
	return 1970 <= year && year <= 2200
}

// fingerprint tells apart the contents of calls of one id.
func (c Call) fingerprint() uint64 {
	text := make([]byte, 0, 256)
	for _, name := range c.names() {
		text = append(append(text, name...), 0)
	}
	for _, name := range []string{c.Attempt, c.Session, c.Source, c.Service, c.Prices} {
		text = append(append(text, name...), 0)
	}
	price, estimate := int64(-1), Amount{-1, -1}
	if c.Cost != nil {
		price = int64(*c.Cost)
	}
	if c.Estimate != nil {
		estimate = *c.Estimate
	}
	u := c.Usage
	for _, n := range []int64{c.At.UnixNano(), c.DurationMs, u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output, u.Reasoning,
		price, estimate.Tokens, int64(estimate.Money)} {
		text = binary.LittleEndian.AppendUint64(text, uint64(n))
	}
	for _, yes := range []bool{u.Metered, c.Summed} {
		if yes {
			text = append(text, 1)
		} else {
			text = append(text, 0)
		}
	}
	sum := sha256.Sum256(text)
	return binary.LittleEndian.Uint64(sum[:])
}
