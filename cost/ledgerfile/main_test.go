package ledgerfile_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"aesop/cost"
	"aesop/cost/ledgerfile"
)

// childVariable makes the test binary a writer to the ledger that it names.
const childVariable = "AESOP_TEST_LEDGER"

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
	writers = 4
	records = 12
)

// child records the same pairs of calls as its siblings, from several goroutines, and prints the number of each once it is kept.
func child(path string) error {
	ledger := ledgerfile.New(path)
	var group sync.WaitGroup
	failed := make(chan error, writers)
	for range writers {
		group.Go(func() {
			for n := range records {
				if _, err := ledger.Record(context.Background(), pair(n)...); err != nil {
					failed <- err
					return
				}
				fmt.Println(n)
			}
		})
	}
	group.Wait()
	close(failed)
	return <-failed
}

// pair is a record: whoever sees one of its calls sees both.
func pair(n int) []cost.Call {
	return []cost.Call{call(fmt.Sprint(n, "/left"), 1), call(fmt.Sprint(n, "/right"), 1)}
}

func childCommand(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), childVariable+"="+path), os.Stderr
	return cmd
}
