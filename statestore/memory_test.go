package statestore_test

import (
	"testing"

	"go.uber.org/goleak"

	"aesop/statestore"
	"aesop/statestore/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) statestore.Store { return statestore.NewMemory(statestore.MemoryConfig{}) })
}
