package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/ledgerfile"
	"aesop/statestore"
	"aesop/statestore/ledger"
)

// randomCalls are of a few waves and models over four days in no order, also with parts unknown.
func randomCalls(random *rand.Rand, n int) []cost.Call {
	calls := make([]cost.Call, n)
	for i := range calls {
		c := call(fmt.Sprint("c", i), random.Int64N(1000))
		c.At = c.At.Add(time.Duration(random.Int64N(int64(96 * time.Hour)))).In(time.FixedZone("", 60*random.IntN(60)))
		c.Wave, c.Usage.Model, c.Usage.Metered = fmt.Sprint("w", random.IntN(3)), fmt.Sprint("m", random.IntN(3)), random.IntN(3) > 0
		if random.IntN(3) > 0 {
			price := cost.Money(random.Int64N(1e10))
			c.Cost = &price
		}
		if random.IntN(3) == 0 {
			c.Estimate = &cost.Amount{Tokens: random.Int64N(1000), Money: cost.Money(random.Int64N(1000))}
		}
		calls[i] = c
	}
	return calls
}

// TestAllAgree: a store's ledger, inside a transaction and out of it, and a file's have the same totals as the calls themselves.
func TestAllAgree(t *testing.T) {
	stores(t, func(t *testing.T, store statestore.Store) {
		random := rand.New(rand.NewPCG(1, 2))
		l, file := ledger.New(store), ledgerfile.New(filepath.Join(t.TempDir(), "calls.jsonl"))
		want := new(cost.Book)
		agree := func(what string, book *cost.Book, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			from := noon().Add(time.Duration(random.Int64N(int64(96 * time.Hour))))
			q := cost.Query{Wave: fmt.Sprint("w", random.IntN(4)), Window: cost.Window{From: from, To: from.Add(24 * time.Hour)}}
			if got, want := book.Total(q), want.Total(q); got != want {
				t.Fatalf("%s: %+v:\ngot  %+v\nwant %+v", what, q, got, want)
			}
			if got, want := book.Groups(cost.Query{}, cost.ByModel, cost.ByDay), want.Groups(cost.Query{}, cost.ByModel, cost.ByDay); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s:\ngot  %+v\nwant %+v", what, got, want)
			}
			aim := cost.Aim{Query: cost.Query{Window: cost.Day(from)}}
			got, wanted := cost.Projector{Book: book, Now: from}.Project(aim), cost.Projector{Book: want, Now: from}.Project(aim)
			if !reflect.DeepEqual(got, wanted) || got.Spent != want.Total(aim.Query) {
				t.Fatalf("%s:\nprojected %+v\nwant      %+v", what, got, wanted)
			}
		}
		calls := randomCalls(random, 200)
		for len(calls) > 0 {
			n := min(len(calls), 1+random.IntN(60))
			part := calls[:n]
			calls = calls[n:]
			want.Add(part...)
			undone := errors.New("undone")
			err := store.Update(t.Context(), func(tx statestore.Tx) error {
				if err := ledger.Append(tx, part...); err != nil {
					return err
				}
				book, err := l.In(tx)
				agree("in a transaction that is undone", book, err)
				return undone
			})
			if !errors.Is(err, undone) {
				t.Fatal(err)
			}
			for _, into := range []cost.Ledger{l, file} {
				record(t, into, cost.Recorded{Added: n}, part...)
				book, err := into.Book(t.Context())
				agree(fmt.Sprintf("%T", into), book, err)
			}
		}
		book, err := ledger.New(store).Book(t.Context())
		agree("read anew", book, err)
		exported := new(cost.Book)
		err = store.View(t.Context(), func(r statestore.Reader) error {
			for c, err := range ledger.Calls(r) {
				if err != nil {
					return err
				}
				exported.Add(c)
			}
			return nil
		})
		agree("exported", exported, err)
	})
}
