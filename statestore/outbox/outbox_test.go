package outbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aesop/statestore"
	"aesop/statestore/outbox"
)

func memory(t *testing.T) *statestore.Memory {
	store := statestore.NewMemory(statestore.MemoryConfig{})
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestTheSameTransitionHasTheSameID(t *testing.T) {
	const want = "8d3b52e8033f36400e52336b07ce89a0a77cc787fad85eb1361cab583c171f11" // of the parts with zero bytes between them
	id := outbox.ID("job/w1/greet", 3, "job.complete")
	if id != want {
		t.Errorf("the id is %q", id)
	}
	others := []string{outbox.ID("job/w1/greet", 4, "job.complete"), outbox.ID("job/w1/greet", 3, "job.fail"), outbox.ID("job/w1/gree", 3, "job.complete"),
		outbox.ID("job/w1/greet3", 3, "job.complete")}
	if slices.Contains(others, id) {
		t.Errorf("ids: %q and %q", id, others)
	}
}

func TestAnIntentIsOwedToWhoWantsItsKind(t *testing.T) {
	store := memory(t)
	subscribe(t, store, outbox.Subscription{Name: "all"}, outbox.Subscription{Name: "exact", Kinds: []string{"job.complete"}},
		outbox.Subscription{Name: "jobs", Kinds: []string{"wave.", "job."}}, outbox.Subscription{Name: "waves", Kinds: []string{"wave."}})
	for n, kind := range []string{"job.complete", "job.completely", "wave.ended", "jobs.x"} {
		must(t, happen(t.Context(), store, "s", n+1, kind))
	}
	same(t, "all", pending(t, store, "all"), "s:1", "s:2", "s:3", "s:4")
	same(t, "exact", pending(t, store, "exact"), "s:1")
	same(t, "jobs", pending(t, store, "jobs"), "s:1", "s:2", "s:3")
	same(t, "waves", pending(t, store, "waves"), "s:3")
}

func TestWhatNobodyWantsNeedsNoNews(t *testing.T) {
	store := memory(t)
	wanted := func(kind string) (wanted bool) {
		t.Helper()
		must(t, store.View(t.Context(), func(r statestore.Reader) (err error) { wanted, err = outbox.Wanted(r, kind); return err }))
		return wanted
	}
	if wanted("job.complete") {
		t.Error("nobody is subscribed, and it is wanted")
	}
	subscribe(t, store, outbox.Subscription{Name: "a", Kinds: []string{"wave."}}, outbox.Subscription{Name: "b", Kinds: []string{"job.complete"}})
	if !wanted("job.complete") || !wanted("wave.ended") || wanted("job.fail") {
		t.Error("what is wanted is not what the sinks say")
	}
}

func TestASinkGetsWhatIsCommittedAfterItSubscribed(t *testing.T) {
	store := memory(t)
	must(t, happen(t.Context(), store, "s", 1, "k"))
	subscribe(t, store, outbox.Subscription{Name: "a"})
	must(t, happen(t.Context(), store, "s", 2, "k"))
	subscribe(t, store, outbox.Subscription{Name: "a", Kinds: []string{"other"}})
	must(t, happen(t.Context(), store, "s", 3, "k"))
	same(t, "a", pending(t, store, "a"), "s:2")
}

func TestAnIntentCommitsWithItsEventOrNotAtAll(t *testing.T) {
	store := memory(t)
	subscribe(t, store, outbox.Subscription{Name: "a"})
	undone := errors.New("undone")
	err := store.Update(t.Context(), func(tx statestore.Tx) error {
		at, err := tx.Append("s", statestore.AnyVersion, statestore.Entry{Type: "k"})
		if err != nil {
			return err
		}
		if owed, err := outbox.Add(tx, at, news("s", 1, "k")); err != nil || !owed {
			t.Errorf("owed is %t, %v", owed, err)
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	same(t, "after it was undone", pending(t, store, "a"))
}

func TestAddSaysWhatItIsOwed(t *testing.T) {
	store := memory(t)
	add := func(want bool, i outbox.Intent) {
		t.Helper()
		must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
			owed, err := outbox.Add(tx, 1, i)
			if owed != want {
				t.Errorf("owed is %t", owed)
			}
			return err
		}))
	}
	add(false, news("s", 1, "k"))
	subscribe(t, store, outbox.Subscription{Name: "a"}, outbox.Subscription{Name: "b", Kinds: []string{"other"}})
	add(true, news("s", 2, "k"))
	add(true, news("s", 2, "k")) // once
	same(t, "a", pending(t, store, "a"), "s:2")
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		owed, err := outbox.Owing(r, outbox.ID("s", 2, "k"))
		if len(owed) != 1 || owed[0].Sink != "a" || owed[0].Event != 1 || owed[0].Intent.At.IsZero() || string(owed[0].Intent.Data) != `{"seq":2}` {
			t.Errorf("owed: %+v", owed)
		}
		none, errNone := outbox.Owing(r, outbox.ID("s", 1, "k"))
		if len(none) != 0 {
			t.Errorf("owed: %+v", none)
		}
		return errors.Join(err, errNone)
	}))
}

func TestIntentsThatAreNoneAreRefused(t *testing.T) {
	store := memory(t)
	subscribe(t, store, outbox.Subscription{Name: "a"})
	large := news("s", 1, "k")
	large.Data = fmt.Appendf(nil, "%q", strings.Repeat("x", outbox.MaxSize))
	bad, wrong := news("s", 1, "k"), news("s", 1, "k")
	bad.Data, wrong.ID = []byte("{"), outbox.ID("s", 2, "k")
	for _, i := range []outbox.Intent{news("", 1, "k"), news("s", 0, "k"), news("s\x00", 1, "k"), news("s\xff", 1, "k"), news("s", 1, ""), news("s", 1, "a..b"),
		news("s", 1, "a/b"), news("s", 1, "a#"), news("s", 1, "k\n"), large, bad, wrong} {
		err := store.Update(t.Context(), func(tx statestore.Tx) error {
			_, err := outbox.Add(tx, 1, i)
			return err
		})
		if err == nil || errors.Is(err, outbox.ErrTooLarge) != (len(i.Data) > outbox.MaxSize) {
			t.Errorf("%.100v: error is %v", i, err)
		}
	}
	err := store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := outbox.Add(tx, 0, news("s", 1, "k"))
		return err
	})
	if err == nil {
		t.Error("an intent without an event was taken")
	}
	for _, s := range []outbox.Subscription{{}, {Name: "A"}, {Name: "a/b"}, {Name: strings.Repeat("a", 65)}, {Name: "a", Kinds: []string{""}},
		{Name: "a", Kinds: []string{"."}}, {Name: "a", Kinds: []string{"a.."}}} {
		if err := store.Update(t.Context(), func(tx statestore.Tx) error { return outbox.Subscribe(tx, s) }); err == nil {
			t.Errorf("%+v was subscribed", s)
		}
	}
}

// TestUnsubscribeOwesNothingMore: what only that sink was owed is settled, what another is owed too stays.
func TestUnsubscribeOwesNothingMore(t *testing.T) {
	store := memory(t)
	subscribe(t, store, outbox.Subscription{Name: "a"}, outbox.Subscription{Name: "b", Kinds: []string{"shared"}})
	must(t, happen(t.Context(), store, "s", 1, "own"))
	must(t, happen(t.Context(), store, "s", 2, "shared"))
	must(t, happen(t.Context(), store, "s", 3, "own"))
	damage(t, store, "outbox/intent/"+statestore.Key(outbox.ID("s", 3, "own")))
	var settled []string
	for want := 3; want >= 0; want -= 3 {
		must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
			dropped, err := outbox.Unsubscribe(tx, "a", func(_ statestore.Tx, i outbox.Intent) error {
				settled = append(settled, short(i))
				return nil
			})
			if dropped != want {
				t.Errorf("dropped %d, want %d", dropped, want)
			}
			return err
		}))
	}
	same(t, "settled", settled, "s:1")
	must(t, happen(t.Context(), store, "s", 4, "shared"))
	same(t, "a", pending(t, store, "a"))
	same(t, "b", pending(t, store, "b"), "s:2", "s:4")
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		for s, err := range outbox.Subscriptions(r) {
			if err != nil || s.Name != "b" {
				t.Errorf("%+v, %v is subscribed", s, err)
			}
		}
		return nil
	}))
}

// damage makes a record unreadable.
func damage(t *testing.T, store statestore.Store, key statestore.Key) {
	t.Helper()
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		if _, err := tx.Get(key); err != nil {
			return err
		}
		_, err := tx.Put(key, []byte("{"), statestore.Any)
		return err
	}))
}

func TestADamagedSubscriptionStopsAdd(t *testing.T) {
	store := memory(t)
	subscribe(t, store, outbox.Subscription{Name: "a"}, outbox.Subscription{Name: "b"})
	damage(t, store, "outbox/sink/a")
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		var all []string
		for s, err := range outbox.Subscriptions(r) {
			all = append(all, fmt.Sprintf("%s %t", s.Name, err != nil))
		}
		same(t, "subscribed", all, "a true", "b false")
		return nil
	}))
	err := happen(t.Context(), store, "s", 1, "k")
	if damaged := (*statestore.DamagedError)(nil); !errors.As(err, &damaged) || damaged.What != "record outbox/sink/a" {
		t.Errorf("error is %v", err)
	}
}

func TestEachIDIsFirstOnce(t *testing.T) {
	store := memory(t)
	seen := func(tx statestore.Tx, receiver string, n int) bool {
		first, err := outbox.Seen(tx, receiver, fmt.Sprint(n))
		must(t, err)
		return first
	}
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		for n := range outbox.SeenLimit {
			if !seen(tx, "r", n) {
				t.Fatalf("id %d was seen before it came", n)
			}
		}
		return nil
	}))
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		if seen(tx, "r", 0) || !seen(tx, "other", 0) {
			t.Error("the oldest is forgotten too early, or receivers share what they saw")
		}
		if !seen(tx, "r", outbox.SeenLimit) || seen(tx, "r", 1) || !seen(tx, "r", 0) {
			t.Error("not exactly the oldest is forgotten")
		}
		records := 0
		for _, err := range tx.Scan(statestore.Range{Prefix: "outbox/seen/r/"}) {
			must(t, err)
			records++
		}
		if records != 2*outbox.SeenLimit {
			t.Errorf("%d records are kept", records)
		}
		return nil
	}))
	for _, bad := range [][2]string{{"", "x"}, {"R", "x"}, {"r", ""}} {
		err := store.Update(t.Context(), func(tx statestore.Tx) error {
			_, err := outbox.Seen(tx, bad[0], bad[1])
			return err
		})
		if err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// TestAnIntentMayHaveMaxSize to the byte.
func TestAnIntentMayHaveMaxSize(t *testing.T) {
	store := memory(t)
	subscribe(t, store, outbox.Subscription{Name: "a"})
	add := func(seq, size int) error {
		i := news("s", seq, "k")
		i.Data = fmt.Appendf(nil, "%q", strings.Repeat("x", size))
		return store.Update(t.Context(), func(tx statestore.Tx) error { _, err := outbox.Add(tx, 1, i); return err })
	}
	err := add(1, outbox.MaxSize)
	var has int
	if _, wrong := fmt.Sscanf(err.Error(), "owe k of s: %d bytes", &has); wrong != nil {
		t.Fatalf("error is %v: %v", err, wrong)
	}
	fits := outbox.MaxSize - (has - outbox.MaxSize)
	must(t, add(1, fits))
	if err := add(2, fits+1); !errors.Is(err, outbox.ErrTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
}
