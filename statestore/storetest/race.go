package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"aesop/statestore"
)

// The races are short: enough that a lost update or a late commit shows up in a few runs, not a proof.
const (
	writers = 8
	rounds  = 20
)

func raceTests() []test {
	return []test{
		{"compare-and-swap loses no increment", raceIncrements},
		{"the sequence is the order of commits, without gaps that fill later", raceSequence},
	}
}

// raceIncrements has each writer read in a View and swap in an Update, so that only the comparison protects the sum.
func raceIncrements(f *fixture) {
	f.update(func(tx statestore.Tx) { f.put(tx, "sum", "0", 0) })
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for done := 0; done < rounds; {
				var old statestore.Record
				f.view(func(r statestore.Reader) { old, _ = r.Get("sum") })
				n, err := strconv.Atoi(string(old.Value))
				if err != nil {
					f.Error(err)
					return
				}
				err = f.store.Update(f.ctx, func(tx statestore.Tx) error {
					_, err := tx.Put("sum", []byte(strconv.Itoa(n+1)), old.Rev)
					return err
				})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, statestore.ErrConflict):
					f.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	f.view(func(r statestore.Reader) {
		if got := string(f.get(r, "sum").Value); got != strconv.Itoa(writers*rounds) {
			f.Errorf("the sum is %s, want %d", got, writers*rounds)
		}
	})
}

// raceSequence has writers append to a stream of their own, to a common one, and now and then fail, while readers follow. What
// a reader has seen up to a sequence never changes afterwards.
func raceSequence(f *fixture) {
	failed := errors.New("no")
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			own := fmt.Sprintf("own/%d", w)
			for i := range rounds {
				err := f.store.Update(f.ctx, func(tx statestore.Tx) error {
					if _, err := tx.Append("common", statestore.AnyVersion, entry("", "e")); err != nil {
						return err
					}
					if i%5 == 4 {
						return failed
					}
					_, err := tx.Append(own, statestore.AnyVersion, entry(strconv.Itoa(i), "e"), entry(strconv.Itoa(i), "e"))
					return err
				})
				if err != nil && err != failed {
					f.Error(err)
				}
			}
		})
	}
	var over atomic.Bool
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() { follow(f, &over) })
	}
	writing.Wait()
	over.Store(true)
	reading.Wait()
	f.view(func(r statestore.Reader) {
		const good = rounds - rounds/5
		versions := map[string]statestore.Version{}
		for _, e := range f.events(r, statestore.EventQuery{}) {
			if versions[e.Stream]++; e.Version != versions[e.Stream] {
				f.Errorf("%s has version %d after %d", e.Stream, e.Version, versions[e.Stream]-1)
			}
		}
		if versions["common"] != writers*good {
			f.Errorf("the common stream has %d events, want %d", versions["common"], writers*good)
		}
		for w := range writers {
			if got := versions[fmt.Sprintf("own/%d", w)]; got != good {
				f.Errorf("writer %d has %d events, want %d", w, got, good)
			}
		}
	})
}

// follow reads on from the last sequence that it saw, as followers do, and in the end all at once: both must be the same.
func follow(f *fixture, over *atomic.Bool) {
	var seen []statestore.Seq
	var after statestore.Seq
	for last := false; !last; {
		last = over.Load() // one more round after the end
		f.view(func(r statestore.Reader) {
			for _, e := range f.events(r, statestore.EventQuery{After: after}) {
				seen, after = append(seen, e.Seq), e.Seq
			}
		})
	}
	f.view(func(r statestore.Reader) {
		all := f.events(r, statestore.EventQuery{})
		if len(all) != len(seen) {
			f.Errorf("following saw %d events of %d", len(seen), len(all))
			return
		}
		for i, e := range all {
			if e.Seq != seen[i] || i > 0 && e.Seq <= seen[i-1] || i > 0 && e.At.Before(all[i-1].At) {
				f.Errorf("event %d is %d of %v, following saw %d", i, e.Seq, e.At, seen[i])
				return
			}
		}
	})
}
