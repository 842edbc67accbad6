package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aesop/statestore"
	"aesop/statestore/sqlite"
)

// What Update has acknowledged is there when the database is opened again.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	config := sqlite.Config{Path: filepath.Join(dir, "state.db")}

	for range 2 {
		store, err := sqlite.Open(ctx, config)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = store.Update(ctx, func(tx statestore.Tx) error {
			seq, err := tx.Append("visits", statestore.AnyVersion, statestore.Entry{Type: "visit"})
			fmt.Println("visit", seq)
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
		if err := store.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// visit 1
	// visit 2
}
