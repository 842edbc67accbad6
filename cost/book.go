package cost

import (
	"slices"
	"sync"
	"time"
)

// Book answers queries over calls in memory: the one place where spending is added up. Ceilings, projections, alerts, panels and
// commands all ask Total and Groups, so that they cannot disagree. Sums that cannot be counted stay at the greatest number.
//
// A Book keeps figures and names and no ids, about 150 bytes a call. Its zero value is empty and ready to use. It is safe for
// concurrent use; one method sees the calls of whole Adds only.
type Book struct {
	mu        sync.RWMutex
	own       table
	base      *Book // what this one was forked from, or nil
	inherited int   // how many of the base's calls this one has
}

// Add takes calls. One whose id the Book has already changes nothing; where its content is another, that is counted as differing,
// and the first one stays. A call with figures that Check refuses is not taken, and counted as refused.
func (b *Book) Add(calls ...Call) Recorded {
	var done Recorded
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range calls {
		if !c.countable() {
			done.Refused++
			continue
		}
		id, content := digest(c.ID), c.fingerprint()
		old, found := b.find(id)
		switch {
		case !found:
			b.own.add(c, id, content)
			done.Added++
		case old.content == content:
			done.Known++
		default:
			done.Differ++
		}
	}
	return done
}

// When is the time of the call with an id, in UTC; false where the Book has none. Whoever repeats a call without knowing when it was takes
// it from here, so that the repeat is the same call.
func (b *Book) When(id string) (at time.Time, found bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	old, found := b.find(digest(id))
	if !found {
		return time.Time{}, false
	}
	return time.Unix(0, old.at).UTC(), true
}

// entry is what find tells of a call.
type entry struct {
	content uint64
	at      int64 // in nanoseconds of Unix time
}

// find looks for the call with an id. The caller holds the lock.
func (b *Book) find(id [2]uint64) (entry, bool) { return b.findWithin(id, b.inherited+b.own.len()) }

// findWithin is find among the first n calls.
func (b *Book) findWithin(id [2]uint64, n int) (entry, bool) {
	if row, ok := b.own.find(id); ok && row+b.inherited < n {
		return entry{b.own.contents[row], b.own.ats[row]}, true
	}
	if b.base == nil {
		return entry{}, false
	}
	b.base.mu.RLock()
	defer b.base.mu.RUnlock()
	return b.base.findWithin(id, min(n, b.inherited))
}

// Len is the number of calls.
func (b *Book) Len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.inherited + b.own.len()
}

// Fork returns a Book of the first n calls that b was given, or of all where it has fewer. It shares their memory. Calls that are
// added to one of the two are not in the other.
func (b *Book) Fork(n int) *Book {
	return &Book{base: b, inherited: max(0, min(n, b.Len()))}
}

// Total adds up the calls that q selects.
func (b *Book) Total(q Query) Total {
	sums := b.sums(q)
	if len(sums.totals) == 0 {
		return Total{}.Add(Total{})
	}
	return sums.totals[0]
}

// Groups adds up the calls that q selects by the dimensions, ordered by their values. The totals of the groups add up to that of
// the query. Without dimensions it is one group, and none where q selects nothing.
func (b *Book) Groups(q Query, by ...Dimension) []Group {
	sums := b.sums(q, by...)
	by = sums.by
	order := make([]int, len(sums.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return slices.Compare(sums.keys[x][:len(by)], sums.keys[y][:len(by)]) })
	groups := make([]Group, 0, len(order))
	for _, i := range order {
		key := make(map[Dimension]string, len(by))
		for n, d := range by {
			key[d] = sums.keys[i][n]
		}
		groups = append(groups, Group{Key: key, Total: sums.totals[i]})
	}
	return groups
}

// sums is Groups without the order.
func (b *Book) sums(q Query, by ...Dimension) *sums {
	all := newSums(by)
	b.tables(-1, func(t *table, n int) {
		all.more()
		t.sum(q, n, all)
	})
	return all
}

// tables visits the tables that have the first n calls, or all where n is negative, the oldest first, each with how many of its rows count.
func (b *Book) tables(n int, visit func(t *table, n int)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	within := n
	if n < 0 {
		n, within = b.inherited+b.own.len(), b.inherited
	}
	if b.base != nil {
		b.base.tables(min(within, b.inherited), visit)
	}
	if own := n - b.inherited; own > 0 {
		visit(&b.own, own)
	}
}
