package ledger_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"aesop/statestore/ledger"
	"aesop/statestore/sqlite"
)

// childVariable makes the test binary a writer to the store that it names.
const childVariable = "AESOP_TEST_LEDGER_STORE"

func TestMain(m *testing.M) {
	path := os.Getenv(childVariable)
	if path == "" {
		goleak.VerifyTestMain(m)
		os.Exit(0)
	}
	if err := child(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const (
	processes = 8
	writers   = 8
	records   = 5
)

// child records calls from several goroutines, which its siblings record too, and prints each id once it is kept.
func child(path string) error {
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	l := ledger.New(store)
	var group sync.WaitGroup
	failed := make(chan error, writers)
	for w := range writers {
		group.Go(func() {
			for n := range records {
				id := fmt.Sprintf("%d/%d", w%4, n)
				if _, err := l.Record(context.Background(), call(id, 1)); err != nil {
					failed <- err
					return
				}
				fmt.Println(id)
			}
		})
	}
	group.Wait()
	close(failed)
	if err := <-failed; err != nil {
		return err
	}
	return store.Close()
}

func childCommand(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), childVariable+"="+path), os.Stderr
	return cmd
}
