package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"aesop/examples/internal/cli"
)

// TestTwoWriters: processes record the same calls into one ledger; each call is there once, and each process is told who was first.
func TestTwoWriters(t *testing.T) {
	for name, ledger := range map[string][]string{"store": {}, "file": {"--ledger", "own.jsonl"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := place(t)
			write(t, dir, "tracker.json", "[]")
			const writers, calls = 4, 5
			said := make([][]string, writers)
			var group errgroup.Group
			for w := range writers {
				group.Go(func() error {
					for n := range calls {
						got, err := play(t.Context(), dir, append([]string{"record", "--id", fmt.Sprint(n), "--model", "m", "--input", "7", "--output", "0", "--at", "2026-05-01T12:00:00Z"}, ledger...)...)
						if err != nil || got.code != cli.OK {
							return fmt.Errorf("%+v, %w", got, err)
						}
						said[w] = append(said[w], strings.Fields(got.stdout)[0])
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			for n := range calls {
				first := 0
				for w := range writers {
					if said[w][n] == "recorded" {
						first++
					} else if said[w][n] != "known" {
						t.Errorf("call %d is %q", n, said[w][n])
					}
				}
				if first != 1 {
					t.Errorf("call %d was recorded %d times", n, first)
				}
			}
			var sum summaryDocument
			document(t, &sum, dir, []int{0}, append([]string{"summary"}, ledger...)...)
			if sum.Total.Calls != calls || sum.Charged.Tokens != 7*calls {
				t.Errorf("%+v", sum.Total)
			}
		})
	}
}

// TestUnreadableIsNotEmpty: a ledger that this user cannot read stops what asks about limits, and halts nothing.
func TestUnreadableIsNotEmpty(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("not applicable: root can read everything")
	}
	dir := place(t)
	write(t, dir, "tracker.json", "[]")
	write(t, dir, "aesop.json", `{"limits": {"dayTokens": 1}}`)
	for name, ledger := range map[string][]string{"own.jsonl": {"--ledger", "own.jsonl"}, "state/state.db": {}} {
		if got, err := play(t.Context(), dir, append([]string{"record", "--model", "m", "--input", "7", "--output", "0"}, ledger...)...); err != nil || got.code != cli.OK {
			t.Fatalf("%+v, %v", got, err)
		}
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][]string{{"summary"}, {"project"}, {"ceiling", "--check"}, {"export"}} {
			got, err := play(t.Context(), dir, append(command, ledger...)...)
			if err != nil || got.code != cli.Usage || !strings.Contains(got.stderr, filepath.Base(name)) {
				t.Errorf("%v of %s: %+v, %v", command, name, got, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "state", "HALT")); err == nil {
		t.Error("waves were halted for it")
	}
}
