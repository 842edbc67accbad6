package statestore_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/statestore"
	"aesop/statestore/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) statestore.Store { return statestore.NewMemory(statestore.MemoryConfig{}) })
}

func TestMemoryTimeNeverGoesBack(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))
	now := start
	store := statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return now }})
	look := func(want time.Time) {
		t.Helper()
		err := store.View(t.Context(), func(r statestore.Reader) error {
			if !r.Now().Equal(want) || r.Now().Location() != time.UTC {
				t.Errorf("time is %v, want %v in UTC", r.Now(), want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	look(start)
	now = start.Add(-time.Hour)
	look(start)
	now = start.Add(time.Hour)
	look(now)
}
