package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"aesop/statestore"
)

// childVariable makes the test binary a writer to the database that AESOP_TEST_PATH names.
const (
	childVariable = "AESOP_TEST_CHILD"
	pathVariable  = "AESOP_TEST_PATH"
)

// built is a folder for what several tests use.
var built string

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(childVariable) {
	case "":
		if built, err = os.MkdirTemp("", "aesop-sqlite-test-"); err != nil {
			break
		}
		goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
			if err := os.RemoveAll(built); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
			os.Exit(code)
		}))
	case "increment":
		err = childIncrement(os.Getenv(pathVariable))
	case "crash":
		err = childCrash(os.Getenv(pathVariable))
	case "descriptors":
		err = childDescriptors(os.Getenv(pathVariable))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

const childIncrements = 60

// childIncrement waits for its standard input to close and then increments a record by compare-and-swap.
func childIncrement(path string) error {
	ctx := context.Background()
	store, err := Open(ctx, Config{Path: path})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	for range childIncrements {
		if err := increment(ctx, store); err != nil {
			return err
		}
	}
	return store.Close()
}

// increment reads in one transaction and swaps in another, until it succeeds.
func increment(ctx context.Context, store statestore.Store) error {
	for {
		var old statestore.Record
		err := store.View(ctx, func(r statestore.Reader) (err error) {
			if old, err = r.Get("sum"); errors.Is(err, statestore.ErrNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(old.Value))
		err = store.Update(ctx, func(tx statestore.Tx) error {
			if _, err := tx.Append("increments", statestore.AnyVersion, statestore.Entry{Type: "increment"}); err != nil {
				return err
			}
			_, err := tx.Put("sum", []byte(strconv.Itoa(n+1)), old.Rev)
			return err
		})
		if !errors.Is(err, statestore.ErrConflict) {
			return err
		}
	}
}

// child returns the command of a child that is not yet started.
func child(t *testing.T, what, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+what, pathVariable+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}
