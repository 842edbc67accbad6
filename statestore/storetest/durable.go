package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aesop/statestore"
)

// RunDurable runs what a store promises that outlives the process and can be open several times, beside Run. The function open
// returns a handle of the store that dir names, which is new and empty with a directory that it has not seen; it fails the test
// where it cannot. The handles of one dir may have clocks that differ by hours; a backend whose clock is its server's ignores
// them.
func RunDurable(t *testing.T, open func(t *testing.T, dir string, clock func() time.Time) statestore.Store) {
	for _, test := range durableTests() {
		t.Run("Durable/"+test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			test.run(&durable{T: t, open: open, dir: t.TempDir(), ctx: ctx})
		})
	}
}

type durableTest struct {
	name string
	run  func(d *durable)
}

// durable is one store of which several handles are open.
type durable struct {
	*testing.T
	open func(*testing.T, string, func() time.Time) statestore.Store
	dir  string
	ctx  context.Context
}

// handle opens one more handle; nil: with the real clock. It is closed with the test, at the latest.
func (d *durable) handle(clock func() time.Time) *fixture {
	d.Helper()
	if clock == nil {
		clock = time.Now
	}
	f := &fixture{T: d.T, store: d.open(d.T, d.dir, clock), ctx: d.ctx}
	d.Cleanup(f.close)
	return f
}

func (f *fixture) close() {
	f.Helper()
	if err := f.store.Close(); err != nil {
		f.Errorf("close: %v", err)
	}
}

func durableTests() []durableTest {
	return []durableTest{
		{"what was acknowledged is there when the store is opened again", reopenKeeps},
		{"what was compared before is compared after opening again", reopenCompares},
		{"two handles lose no increment", handlesRace},
		{"clocks that differ by hours make one line of time", skewedClocks},
		{"a lease is judged alike by clocks that differ", skewedLease},
		{"Changed hears of other handles, also of those opened later", changedAcross},
		{"Changed hears after opening again of what was written meanwhile", changedAfterReopening},
	}
}

// all is all that a reader sees, as text.
func (f *fixture) all() (lines []string) {
	f.Helper()
	f.view(func(r statestore.Reader) {
		for _, k := range f.keys(r, statestore.Range{}) {
			record := f.get(r, k)
			lines = append(lines, fmt.Sprintf("%s %q %d", record.Key, record.Value, record.Rev))
		}
		for _, e := range f.events(r, statestore.EventQuery{}) {
			lines = append(lines, fmt.Sprintf("%d %s %d %s %s %q %v", e.Seq, e.Stream, e.Version, e.ID, e.Type, e.Data, e.At))
		}
	})
	return lines
}

func reopenKeeps(d *durable) {
	f := d.handle(nil)
	for i := range 300 {
		f.update(func(tx statestore.Tx) {
			f.put(tx, statestore.Key(fmt.Sprintf("k/%d", i%70)), strconv.Itoa(i), statestore.Any)
			f.append(tx, fmt.Sprintf("s/%d", i%3), statestore.AnyVersion, entry(strconv.Itoa(i%250), "e"), entry("", "e"))
		})
	}
	f.update(func(tx statestore.Tx) {
		f.put(tx, "empty", "", 0)
		f.append(tx, "s", 0, statestore.Entry{Type: "test.empty"})
	})
	before := f.all()
	f.close()
	if after := d.handle(nil).all(); !slices.Equal(before, after) {
		d.Errorf("before:\n%q\nafter:\n%q", before, after)
	}
}

func reopenCompares(d *durable) {
	f := d.handle(nil)
	var rev, deleted statestore.Rev
	var seq statestore.Seq
	f.update(func(tx statestore.Tx) {
		rev = f.put(tx, "kept", "1", 0)
		f.put(tx, "deleted", "1", 0)
		deleted = f.put(tx, "deleted", "2", statestore.Any)
		seq = f.append(tx, "s", 0, entry("id", "e1"))
	})
	f.update(func(tx statestore.Tx) {
		if err := tx.Delete("deleted", deleted); err != nil {
			f.Error(err)
		}
	})
	f.close()
	f = d.handle(nil)
	f.update(func(tx statestore.Tx) {
		_, err := tx.Put("kept", nil, rev+1)
		f.conflict(err, "kept", uint64(rev)+1, uint64(rev))
		if again := f.put(tx, "deleted", "3", 0); again <= deleted {
			f.Errorf("a record made anew has revision %d, which it had before", again)
		}
		if again := f.append(tx, "s", 1, entry("id", "again")); again != seq {
			f.Errorf("the same ID again is %d, want %d", again, seq)
		}
		if next := f.append(tx, "s", 1, entry("", "e2")); next <= seq {
			f.Errorf("event %d follows %d", next, seq)
		}
	})
}

func handlesRace(d *durable) {
	handles := []*fixture{d.handle(nil), d.handle(nil)}
	handles[0].update(func(tx statestore.Tx) { handles[0].put(tx, "sum", "0", 0) })
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range rounds {
				f := handles[w%2]
				f.update(func(tx statestore.Tx) {
					old := f.get(tx, "sum")
					n, err := strconv.Atoi(string(old.Value))
					if err != nil {
						f.Error(err)
					}
					f.put(tx, "sum", strconv.Itoa(n+1), old.Rev)
					f.append(tx, "s", statestore.Version(n), entry(strconv.Itoa(n), "e"))
				})
			}
		})
	}
	wg.Wait()
	for _, f := range handles {
		f.view(func(r statestore.Reader) {
			if got := string(f.get(r, "sum").Value); got != strconv.Itoa(writers*rounds) {
				f.Errorf("the sum is %s, want %d", got, writers*rounds)
			}
			if n := len(f.events(r, statestore.EventQuery{Stream: "s"})); n != writers*rounds {
				f.Errorf("%d events, want %d", n, writers*rounds)
			}
		})
	}
}

// hand is a clock that is set by hand.
type hand struct{ now atomic.Int64 }

func newHand(at time.Time) *hand {
	h := &hand{}
	h.now.Store(at.UnixMicro())
	return h
}

func (h *hand) clock() time.Time         { return time.UnixMicro(h.now.Load()) }
func (h *hand) advance(d time.Duration)  { h.now.Add(d.Microseconds()) }
func skewed(base time.Time) (a, b *hand) { return newHand(base.Add(3 * time.Hour)), newHand(base) }
func (f *fixture) now() (now time.Time) {
	f.view(func(r statestore.Reader) { now = r.Now() })
	return now
}
func (f *fixture) mark() (now time.Time) {
	f.update(func(tx statestore.Tx) {
		now = tx.Now()
		f.append(tx, "s", statestore.AnyVersion, entry("", "e"))
	})
	return now
}

func skewedClocks(d *durable) {
	early, late := skewed(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	a, b := d.handle(early.clock), d.handle(late.clock)
	var last time.Time
	for i := range 12 {
		f := []*fixture{a, b, b, a, b}[i%5]
		early.advance(time.Second)
		late.advance(time.Duration(i-6) * time.Minute) // it is also set back
		if now := f.mark(); now.Before(last) {
			d.Fatalf("commit %d is of %v, the one before of %v", i, now, last)
		} else {
			last = now
		}
		for _, f := range []*fixture{a, b, d.handle(late.clock)} {
			if now := f.now(); now.Before(last) {
				d.Fatalf("after an event of %v a reader's time is %v", last, now)
			}
		}
	}
	a.view(func(r statestore.Reader) {
		events := a.events(r, statestore.EventQuery{})
		for i := 1; i < len(events); i++ {
			if events[i].At.Before(events[i-1].At) {
				d.Errorf("event %d is of %v, the one before of %v", events[i].Seq, events[i].At, events[i-1].At)
			}
		}
	})
}

// skewedLease has leases that are granted with an event, as every claim is.
func skewedLease(d *durable) {
	const lease = 15 * time.Minute
	early, late := skewed(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	a, b := d.handle(early.clock), d.handle(late.clock)
	judge := func(until time.Time, lapsed bool) {
		d.Helper()
		for name, f := range map[string]*fixture{"that is ahead": a, "that is behind": b} {
			if now := f.now(); now.Before(until) == lapsed {
				d.Errorf("the clock %s says %v of a lease until %v", name, now, until)
			}
		}
	}
	judge(a.mark().Add(lease), false)
	until := b.mark().Add(lease) // by the clock that is behind, which the other's event has put right
	judge(until, false)
	early.advance(lease + time.Minute)
	late.advance(lease + time.Minute)
	a.mark() // what judges a lease as lapsed says so in an event
	judge(until, true)
}

func changedAcross(d *durable) {
	f := d.handle(nil)
	for i := range 3 {
		woken := make(chan error, 1)
		go func() { woken <- f.store.Changed(f.ctx, statestore.Seq(i)) }()
		other := d.handle(nil)
		other.mark()
		if err := <-woken; err != nil {
			d.Fatal(err)
		}
		f.view(func(r statestore.Reader) {
			if n := len(f.events(r, statestore.EventQuery{})); n != i+1 {
				d.Errorf("after %d wake-ups there are %d events", i+1, n)
			}
		})
		other.close()
	}
}

func changedAfterReopening(d *durable) {
	f, other := d.handle(nil), d.handle(nil)
	f.mark()
	f.close()
	other.mark()
	f = d.handle(nil)
	if err := f.store.Changed(f.ctx, 1); err != nil {
		d.Error(err)
	}
	woken := make(chan error, 1)
	go func() { woken <- f.store.Changed(f.ctx, 2) }()
	other.mark()
	if err := <-woken; err != nil {
		d.Error(err)
	}
}
