package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"aesop/examples/internal/cli"
)

const racers, raced = 3, 10

// race lets processes claim all at once, each as pick says until it says "", and returns who won each job.
func race(t *testing.T, dir string, pick func(racer, try int) []string) map[string]int {
	t.Helper()
	var mu sync.Mutex
	won := map[string]int{}
	group, ctx := errgroup.WithContext(t.Context())
	for racer := range racers {
		group.Go(func() error {
			for try := 0; ; try++ {
				args := pick(racer, try)
				if args == nil {
					return nil
				}
				got, err := play(ctx, dir, append([]string{"claim"}, args...)...)
				switch {
				case err != nil:
					return err
				case got.code == cli.NotGood && args[0] == "--next":
					return nil
				case got.code == cli.Refused && args[0] != "--next" && strings.Contains(got.stderr, "it is running"):
				case got.code == cli.OK:
					id, _, _ := strings.Cut(got.stdout, " ")
					mu.Lock()
					won[id]++
					mu.Unlock()
				default:
					return fmt.Errorf("%v: %+v", args, got)
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return won
}

func submitted(t *testing.T, dir string) (ids []string) {
	t.Helper()
	for n := range raced {
		ends(t, cli.OK, dir, "submit", fmt.Sprint("i", n))
		ids = append(ids, fmt.Sprint("manual/i", n))
	}
	return ids
}

func once(t *testing.T, ids []string, won map[string]int) {
	t.Helper()
	for _, id := range ids {
		if won[id] != 1 {
			t.Errorf("%s was won %d times", id, won[id])
		}
	}
	if len(won) != len(ids) {
		t.Errorf("won are %v", won)
	}
}

// TestOfTwoPickersOneWins: processes claim the same jobs, in an order in which they meet.
func TestOfTwoPickersOneWins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := submitted(t, dir)
	once(t, ids, race(t, dir, func(_, try int) []string {
		if try == len(ids) {
			return nil
		}
		return []string{ids[try]}
	}))
}

// TestTheNextJobIsNobodyElses: processes take what is next until nothing is.
func TestTheNextJobIsNobodyElses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ids := submitted(t, dir)
	once(t, ids, race(t, dir, func(int, int) []string { return []string{"--next"} }))
	for _, seat := range []string{"", "worker"} {
		if got := ends(t, cli.NotGood, dir, slices.DeleteFunc([]string{"claim", "--next", "--seat=" + seat}, func(a string) bool { return a == "--seat=" })...); got.stdout != "" {
			t.Errorf("nothing is left, and it says %q", got.stdout)
		}
	}
}

// TestADecisionOnWhatWasSeenWinsOnce: operators that saw the same transition, at once.
func TestADecisionOnWhatWasSeenWinsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ends(t, cli.OK, dir, "submit", "a")
	claim(t, dir, "manual/a")
	codes := make([]int, 2)
	group, ctx := errgroup.WithContext(t.Context())
	for n, status := range []string{"failed", "completed"} {
		group.Go(func() error {
			got, err := play(ctx, dir, "status", "manual/a", "--set", status, "--transition", "2")
			codes[n] = got.code
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(codes)
	if !slices.Equal(codes, []int{cli.OK, cli.Refused}) {
		t.Errorf("exit codes %v", codes)
	}
}
