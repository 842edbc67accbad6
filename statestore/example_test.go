package statestore_test

import (
	"context"
	"errors"
	"fmt"

	"aesop/statestore"
)

// A record is read with its revision and swapped only if it still has it; the event of the change commits with it.
func Example() {
	ctx := context.Background()
	store := statestore.NewMemory(statestore.MemoryConfig{})
	defer store.Close()

	var rev statestore.Rev
	err := store.Update(ctx, func(tx statestore.Tx) (err error) {
		rev, err = tx.Put("greeting", []byte("hello"), 0) // 0: it must be new
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	change := func(tx statestore.Tx) error {
		if _, err := tx.Put("greeting", []byte("good day"), rev); err != nil {
			return err
		}
		_, err := tx.Append("greetings", statestore.AnyVersion, statestore.Entry{Type: "changed", Data: []byte(`{}`)})
		return err
	}
	fmt.Println("first:", store.Update(ctx, change))
	fmt.Println("again:", errors.Is(store.Update(ctx, change), statestore.ErrConflict))

	err = store.View(ctx, func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{Prefix: "greet"}) {
			if err != nil {
				return err
			}
			fmt.Printf("%s is %s\n", record.Key, record.Value)
		}
		for event, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			fmt.Println("event", event.Seq, event.Stream, event.Version, event.Type)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// first: <nil>
	// again: true
	// greeting is good day
	// event 1 greetings 1 changed
}
