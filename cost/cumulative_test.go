package cost_test

import (
	"math/rand/v2"
	"testing"

	"aesop/cost"
)

func TestCumulative(t *testing.T) {
	total := func(input, read, output, reasoning int64) cost.Usage {
		return cost.Usage{Model: "m", Input: input, CacheRead: read, Output: output, Reasoning: reasoning, Metered: true}
	}
	var c cost.Cumulative
	for n, step := range []struct {
		total cost.Usage
		want  cost.Increment
	}{
		{cost.Usage{Model: "m"}, cost.Increment{Usage: cost.Usage{Model: "m"}}}, // not known
		{total(100, 50, 10, 5), cost.Increment{Usage: total(100, 50, 10, 5)}},
		{total(100, 50, 10, 5), cost.Increment{Usage: total(0, 0, 0, 0), Duplicate: true}},
		{total(120, 90, 11, 5), cost.Increment{Usage: total(20, 40, 1, 0)}},
		{cost.Usage{}, cost.Increment{}}, // not known: the next one tells of it too
		{total(130, 90, 30, 6), cost.Increment{Usage: total(10, 0, 19, 1)}},
		{total(200, 10, 40, 6), cost.Increment{Usage: total(200, 10, 40, 6), Reset: true}}, // one class is enough
		{total(200, 10, 41, 9), cost.Increment{Usage: total(0, 0, 1, 1)}},                  // output that became reasoning
		{total(200, 10, 41, 2), cost.Increment{Usage: total(200, 10, 41, 2), Reset: true}},
	} {
		if got := c.Next(step.total); got != step.want {
			t.Errorf("step %d: got %+v, want %+v", n, got, step.want)
		}
	}
	for _, fell := range []func(*cost.Usage){func(u *cost.Usage) { u.Input-- }, func(u *cost.Usage) { u.CacheRead-- }, func(u *cost.Usage) { u.CacheWrite5m-- },
		func(u *cost.Usage) { u.CacheWrite1h-- }, func(u *cost.Usage) { u.Output-- }, func(u *cost.Usage) { u.Reasoning-- }} {
		before := cost.Usage{Input: 9, CacheRead: 9, CacheWrite5m: 9, CacheWrite1h: 9, Output: 9, Reasoning: 9, Metered: true}
		went, now := cost.Cumulative{Total: before}, before
		fell(&now)
		if got := went.Next(now); !got.Reset || got.Usage != now || got.Duplicate {
			t.Errorf("from %+v to %+v: got %+v", before, now, got)
		}
	}
	went := cost.Cumulative{Total: total(5, 0, 5, 0)}
	if got := went.Next(total(7, 0, 5, 0)); got.Usage != total(2, 0, 0, 0) {
		t.Errorf("from a total: got %+v", got)
	}
}

// TestIncrementsAddUp: what was used is the last total of each count, however often the totals are told.
func TestIncrementsAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var c cost.Cumulative
		var told, used, want cost.Usage
		for range 30 {
			switch random.IntN(5) {
			case 0: // the same again
			case 1: // anew, with less than before
				if told.Input < 1 {
					continue
				}
				want.Input, want.Output = want.Input+told.Input-1, want.Output+told.Output
				told = cost.Usage{Input: told.Input - 1, Output: told.Output, Metered: true}
			default:
				in, out := random.Int64N(100), random.Int64N(100)
				told = cost.Usage{Input: told.Input + in, Output: told.Output + out, Metered: true}
				want.Input, want.Output = want.Input+in, want.Output+out
			}
			used = used.Add(c.Next(told).Usage)
		}
		if used.Input != want.Input || used.Output != want.Output {
			t.Fatalf("got %+v, want %+v", used, want)
		}
	}
}
