package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"aesop/statestore"
	"aesop/statestore/sqlite"
	"aesop/statestore/storetest"
)

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) statestore.Store { return open(t, filepath.Join(t.TempDir(), "state.db")) })
}

func TestDurable(t *testing.T) {
	storetest.RunDurable(t, func(t *testing.T, dir string, clock func() time.Time) statestore.Store {
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "state.db"), Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}
