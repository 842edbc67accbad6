package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/statestore/sqlite"
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func call(id string, tokens int64) cost.Call {
	return cost.Call{ID: id, At: noon(), Wave: "w1", Usage: cost.Usage{Model: "m", Input: tokens, Metered: true}}
}

// stores runs a test on each store.
func stores(t *testing.T, test func(t *testing.T, store statestore.Store)) {
	t.Run("memory", func(t *testing.T) {
		test(t, statestore.NewMemory(statestore.MemoryConfig{Clock: noon}))
	})
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, filepath.Join(t.TempDir(), "state.db"))) })
}

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func record(t *testing.T, l cost.Ledger, want cost.Recorded, calls ...cost.Call) {
	t.Helper()
	if got, err := l.Record(t.Context(), calls...); err != nil || got != want {
		t.Fatalf("recorded %+v, %v; want %+v", got, err, want)
	}
}

func tokens(t *testing.T, l cost.Ledger) int64 {
	t.Helper()
	book, err := l.Book(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return book.Total(cost.Query{}).Charge().Tokens
}

func TestRecord(t *testing.T) {
	stores(t, func(t *testing.T, store statestore.Store) {
		l, other := ledger.New(store), ledger.New(store)
		if got := tokens(t, l); got != 0 {
			t.Errorf("an empty ledger has %d tokens", got)
		}
		record(t, l, cost.Recorded{Added: 2}, call("a", 1), call("b", 10))
		record(t, other, cost.Recorded{Added: 1, Known: 1, Differ: 1}, call("a", 1), call("b", 999), call("c", 100))
		for range 2 {
			if a, b := tokens(t, l), tokens(t, other); a != 111 || b != 111 {
				t.Errorf("got %d and %d tokens", a, b)
			}
		}
		health, err := other.Health(t.Context())
		if want := (ledger.Health{Rows: 3, Differ: 1}); err != nil || health != want {
			t.Errorf("got %+v, %v; want %+v", health, err, want)
		}
	})
}

// TestRecordIsAllOrNone: one row that cannot be one keeps out all.
func TestRecordIsAllOrNone(t *testing.T) {
	stores(t, func(t *testing.T, store statestore.Store) {
		l := ledger.New(store)
		_, err := l.Record(t.Context(), call("a", 1), call("b", -1))
		if err == nil || !strings.Contains(err.Error(), `"b"`) {
			t.Errorf("error is %v", err)
		}
		if got := tokens(t, l); got != 0 {
			t.Errorf("%d tokens were recorded", got)
		}
	})
}

// TestInSeesTheTransactionAndKeepsNothingOfIt: what a transaction appended counts inside it, and is gone with it.
func TestInSeesTheTransactionAndKeepsNothingOfIt(t *testing.T) {
	stores(t, func(t *testing.T, store statestore.Store) {
		l := ledger.New(store)
		record(t, l, cost.Recorded{Added: 1}, call("a", 1))
		undone := errors.New("undone")
		for range 2 {
			err := store.Update(t.Context(), func(tx statestore.Tx) error {
				if err := ledger.Append(tx, call("b", 10)); err != nil {
					return err
				}
				book, err := l.In(tx)
				if err != nil {
					return err
				}
				if got := book.Total(cost.Query{Wave: "w1"}).Charge().Tokens; got != 11 {
					t.Errorf("inside: %d tokens", got)
				}
				return undone
			})
			if !errors.Is(err, undone) {
				t.Fatal(err)
			}
			if got := tokens(t, l); got != 1 {
				t.Errorf("outside: %d tokens", got)
			}
		}
	})
}

// TestInOfAnOlderReader: a reader that began before others wrote is told what it sees, also when the ledger was read on since.
func TestInOfAnOlderReader(t *testing.T) {
	stores(t, func(t *testing.T, store statestore.Store) {
		l := ledger.New(store)
		record(t, l, cost.Recorded{Added: 1}, call("a", 1))
		err := store.View(t.Context(), func(r statestore.Reader) error {
			r.Now() // sqlite fixes what is seen by the first read, which its View has done
			for n := range 40 {
				id := fmt.Sprint("later", n)
				record(t, l, cost.Recorded{Added: 1}, call(id, 10))
				tokens(t, l)
			}
			book, err := l.In(r)
			if err != nil {
				return err
			}
			if got := book.Total(cost.Query{}).Charge().Tokens; got != 1 || book.Len() != 1 {
				t.Errorf("the older reader sees %d tokens of %d calls", got, book.Len())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := tokens(t, l); got != 401 {
			t.Errorf("now: %d tokens", got)
		}
	})
}

func TestCorruptRowsAreCounted(t *testing.T) {
	stores(t, func(t *testing.T, store statestore.Store) {
		l := ledger.New(store)
		record(t, l, cost.Recorded{Added: 1}, call("a", 1))
		good, _ := json.Marshal(call("late", 7))
		err := store.Update(t.Context(), func(tx statestore.Tx) error {
			for _, entry := range []statestore.Entry{
				{ID: "x1", Type: "ledger.call", Data: []byte(`{"id": "x1"`)},
				{ID: "x2", Type: "ledger.call", Data: []byte(`{"id": "x2"}`)}, // no time
				{ID: "x3", Type: "ledger.call", Data: good},                   // another's
				{ID: "late", Type: "other", Data: good},
				{ID: "", Type: "ledger.call", Data: good},
			} {
				if _, err := tx.Append(ledger.Stream, statestore.AnyVersion, entry); err != nil {
					return err
				}
			}
			future := call("future", 5)
			future.At = time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)
			return ledger.Append(tx, future)
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			health, err := l.Health(t.Context())
			if want := (ledger.Health{Rows: 2, Corrupt: 5, Future: 1}); err != nil || health != want {
				t.Errorf("got %+v, %v; want %+v", health, err, want)
			}
		}
		if got := tokens(t, l); got != 6 {
			t.Errorf("%d tokens", got)
		}
	})
}

func TestAStoreThatCannotBeReadIsAnError(t *testing.T) {
	store := statestore.NewMemory(statestore.MemoryConfig{})
	l := ledger.New(store)
	record(t, l, cost.Recorded{Added: 1}, call("a", 1))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Book(t.Context()); !errors.Is(err, statestore.ErrClosed) {
		t.Errorf("book: %v", err)
	}
	if _, err := l.Record(t.Context(), call("b", 1)); !errors.Is(err, statestore.ErrClosed) {
		t.Errorf("record: %v", err)
	}
	if _, err := l.Health(t.Context()); !errors.Is(err, statestore.ErrClosed) {
		t.Errorf("health: %v", err)
	}
}

// swapped is a store that can be put back to an older copy of itself.
type swapped struct{ statestore.Store }

func TestAStoreThatWasPutBackIsReadAnew(t *testing.T) {
	fill := func(ids ...string) statestore.Store {
		store := statestore.NewMemory(statestore.MemoryConfig{})
		for n, id := range ids {
			amount := int64(n + 1)
			if id > "m" {
				amount *= 10
			}
			err := store.Update(t.Context(), func(tx statestore.Tx) error { return ledger.Append(tx, call(id, amount)) })
			if err != nil {
				t.Fatal(err)
			}
		}
		return store
	}
	store := &swapped{fill("a", "b", "c")}
	l := ledger.New(store)
	if got := tokens(t, l); got != 6 {
		t.Errorf("%d tokens", got)
	}
	for _, test := range []struct {
		copied []string
		want   int64
	}{{[]string{"a"}, 1}, {[]string{"x", "y", "z", "zz"}, 100}, {nil, 0}} {
		store.Store = fill(test.copied...)
		if got := tokens(t, l); got != test.want {
			t.Errorf("%q: %d tokens, want %d", test.copied, got, test.want)
		}
	}
}

// counting counts the events that its readers are given.
type counting struct {
	statestore.Store
	events int
}

type countingReader struct {
	statestore.Reader
	events *int
}

func (c *counting) View(ctx context.Context, fn func(statestore.Reader) error) error {
	return c.Store.View(ctx, func(r statestore.Reader) error { return fn(countingReader{r, &c.events}) })
}

func (r countingReader) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	return func(yield func(statestore.Stored, error) bool) {
		for event, err := range r.Reader.Events(q) {
			*r.events++
			if !yield(event, err) {
				return
			}
		}
	}
}

// TestOnlyNewRowsAreRead: a book costs what was added since the last one, however long the ledger is.
func TestOnlyNewRowsAreRead(t *testing.T) {
	store := &counting{Store: statestore.NewMemory(statestore.MemoryConfig{})}
	l := ledger.New(store)
	for n := range 100 {
		record(t, l, cost.Recorded{Added: 1}, call(fmt.Sprint("c", n), 1))
		store.events = 0
		if got := tokens(t, l); got != int64(n+1) || store.events > 4 { // the new one, and the newest for each look at where it stands
			t.Fatalf("%d tokens of %d events", got, store.events)
		}
	}
}

func TestMarks(t *testing.T) {
	stores(t, func(t *testing.T, store statestore.Store) {
		var marks cost.Marks = ledger.Marks{Store: store}
		for n, want := range []bool{false, true, true} {
			if marked, err := marks.Marked(t.Context(), "w1/tokens/70"); err != nil || marked != want {
				t.Errorf("%d: %v, %v", n, marked, err)
			}
			if err := marks.Mark(t.Context(), "w1/tokens/70", noon()); err != nil {
				t.Error(err)
			}
		}
		if marked, err := marks.Marked(t.Context(), "w1/tokens/90"); err != nil || marked {
			t.Errorf("another: %v, %v", marked, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := marks.Marked(ended, "w1/tokens/90"); err == nil {
			t.Error("a mark that could not be read was told")
		}
	})
}
