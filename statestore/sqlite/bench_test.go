package sqlite_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"aesop/statestore"
	"aesop/statestore/sqlite"
)

// transition is what a job's transition does: read a record, swap it, append an event.
func transition(b *testing.B, store statestore.Store, i int64) {
	k := statestore.Key("job/" + strconv.FormatInt(i%1000, 10))
	value := make([]byte, 256)
	err := store.Update(b.Context(), func(tx statestore.Tx) error {
		var rev statestore.Rev
		if record, err := tx.Get(k); err == nil {
			rev = record.Rev
		}
		if _, err := tx.Put(k, value, rev); err != nil {
			return err
		}
		_, err := tx.Append(string(k), statestore.AnyVersion, statestore.Entry{Type: "job.claim", Data: value})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

func benchOpen(b *testing.B) statestore.Store {
	store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "state.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}

func BenchmarkTransitionSerial(b *testing.B) {
	store := benchOpen(b)
	var i int64
	for b.Loop() {
		i++
		transition(b, store, i)
	}
}

func BenchmarkTransition64Callers(b *testing.B) {
	store := benchOpen(b)
	var i atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for n := i.Add(1); n <= int64(b.N); n = i.Add(1) {
				transition(b, store, n)
			}
		})
	}
	wg.Wait()
}
