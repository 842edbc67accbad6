package sqlite_test

import (
	"path/filepath"
	"testing"

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
