package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/ledger"
)

// A transaction records what a call used and decides on what the ledger has with it: all of it commits, or none.
func Example() {
	ctx := context.Background()
	store := statestore.NewMemory(statestore.MemoryConfig{})
	defer store.Close()
	calls := ledger.New(store)

	tooMuch := errors.New("that would be too much")
	for _, id := range []string{"first", "second", "third"} {
		err := store.Update(ctx, func(tx statestore.Tx) error {
			at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
			c := cost.Call{ID: id, At: at, Wave: "w1", Usage: cost.Usage{Input: 400, Metered: true}}
			if err := ledger.Append(tx, c); err != nil {
				return err
			}
			book, err := calls.In(tx)
			if err != nil {
				return err
			}
			if book.Total(cost.Query{Wave: "w1"}).Charge().Tokens > 1000 {
				return tooMuch
			}
			return nil
		})
		fmt.Println(id, err)
	}
	book, err := calls.Book(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(book.Total(cost.Query{}).Charge().Tokens, "tokens")
	// Output:
	// first <nil>
	// second <nil>
	// third that would be too much
	// 800 tokens
}
