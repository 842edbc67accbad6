package price_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aesop/cost"
	"aesop/cost/price"
)

func TestCounterfactual(t *testing.T) {
	table := price.Default()
	call := func(model, service string, usage cost.Usage) cost.Call {
		usage.Model, usage.Metered = model, true
		c := cost.Call{At: checked(), Usage: usage, Service: service}
		_ = table.Charge(&c)
		return c
	}
	unmetered := cost.Call{At: checked(), Usage: cost.Usage{Model: "claude-haiku-5-5", Output: 5}}
	free := call("our-own", "", cost.Usage{Input: 1000})
	free.Cost = new(cost.Money)
	got, err := table.Counterfactual("opus", checked(), slices.Values([]cost.Call{
		call("claude-haiku-5-5", "", cost.Usage{Input: 100_000, Output: 1000}), // 0.0105; 0.42 on opus
		call("claude-haiku-5-5", "", cost.Usage{Input: 100_001, Output: 1000}), // 0.0525005; 0.420004: sizes are of calls, not of sums
		call("claude-fable-5-2", "batch", cost.Usage{CacheRead: 1000, CacheWrite1h: 100, Output: 10}),
		call("claude-fable-5-2", "", cost.Usage{Output: 1000}), // 0.04; 0.02
		call("unheard-of", "", cost.Usage{Input: 7, Output: 3}),
		unmetered, free,
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"claude-fable-5-2 2 0.0411 0.0206 -0.0205 0 0", "claude-haiku-5-5 3 0.0630005 0.840004 0.7770035 1 5", "our-own 1 0.00 0.004 0.004 0 0",
		"unheard-of 1 0.00 0.00 0.00 1 10", " 7 0.1041005 0.864604 0.7605035 2 15"}
	for i, m := range append(got.Models, got.Total) {
		text := fmt.Sprint(m.Model, " ", m.Calls, " ", m.Actual, " ", m.Baseline, " ", m.Savings, " ", m.Unpriced, " ", m.UnpricedTokens)
		if text != want[i] {
			t.Errorf("got  %s\nwant %s", text, want[i])
		}
	}
	if got.Baseline != "claude-opus-5-5" || got.Prices != "2026-11-30" {
		t.Errorf("got %+v", got)
	}
	// A class that the baseline does not sell: the call is in neither sum.
	got, err = table.Counterfactual("gpt-5.5", checked(), slices.Values([]cost.Call{call("claude-opus-5-5", "", cost.Usage{Input: 1, CacheWrite5m: 9})}))
	if err != nil || got.Total.Unpriced != 1 || got.Total.UnpricedTokens != 10 || got.Total.Actual != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := table.Counterfactual("unheard-of", checked(), slices.Values([]cost.Call{})); !errors.Is(err, price.ErrUnpriced) {
		t.Errorf("got %v", err)
	}
	if got, err := table.Counterfactual("opus", checked(), slices.Values([]cost.Call{})); err != nil || got.Models == nil || got.Total.Calls != 0 {
		t.Errorf("of no calls: %+v, %v", got, err)
	}
}

func TestCompare(t *testing.T) {
	table := price.Default()
	used := func(model string, usage cost.Usage) cost.Usage {
		usage.Model, usage.Metered = model, true
		return usage
	}
	flat := price.Side{Name: "flat", Calls: []cost.Usage{used("claude-haiku-4-5", cost.Usage{Output: 16_803})}}
	tree := price.Side{Name: "hierarchy", Calls: []cost.Usage{used("claude-sonnet-4-6", cost.Usage{Output: 21_635}), used("claude-haiku-4-5", cost.Usage{Output: 7_781})}}
	got, err := table.Compare("claude-haiku-4-5", checked(), tree, flat, 1, "one fixture", "output tokens only")
	const want = "hierarchy against flat: raw 29416 to 16803 tokens (1.75x), weighted by price relative to claude-haiku-4-5, prices of 2026-11-30, " +
		"72686 to 16803 (4.33x); n=1; but: one fixture; output tokens only"
	if err != nil || got.String() != want || fmt.Sprintf("%v", got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	// Each class by its own price, and what is rounded is rounded half up: 10/1 of a read, 15/5 of output, 7.5/… of a write.
	mixed := price.Side{Name: "mixed", Calls: []cost.Usage{used("claude-opus-4-5", cost.Usage{Input: 1, CacheRead: 3, CacheWrite5m: 5, CacheWrite1h: 7, Output: 9})}}
	if got, err := table.Compare("claude-haiku-4-5", checked(), mixed, flat, 2, "x"); err != nil || !strings.Contains(got.String(), "125 to 16803") {
		t.Errorf("got %s, %v", got, err)
	}
	long := price.Side{Name: "long", Calls: []cost.Usage{used("claude-haiku-5-5", cost.Usage{Input: 100_001, Output: 1})}} // dear on the base too
	if got, err := table.Compare("haiku", checked(), long, flat, 2, "x"); err != nil || !strings.Contains(got.String(), ", 100002 to ") {
		t.Errorf("got %s, %v", got, err)
	}
	none := price.Side{Name: "none"}
	unmetered := price.Side{Name: "unmetered", Calls: []cost.Usage{{Model: "claude-haiku-4-5", Output: 1}}}
	unknown := price.Side{Name: "unknown", Calls: []cost.Usage{used("x", cost.Usage{Output: 1})}}
	writes := price.Side{Name: "writes", Calls: []cost.Usage{used("claude-haiku-4-5", cost.Usage{CacheWrite5m: 1})}}
	for says, compare := range map[string]func() (price.Comparison, error){
		"the number of trials is 0":     func() (price.Comparison, error) { return table.Compare("haiku", checked(), tree, flat, 0, "x") },
		"the caveats are missing":       func() (price.Comparison, error) { return table.Compare("haiku", checked(), tree, flat, 1) },
		"a caveat is empty":             func() (price.Comparison, error) { return table.Compare("haiku", checked(), tree, flat, 1, "x", " ") },
		"a side has no name":            func() (price.Comparison, error) { return table.Compare("haiku", checked(), tree, price.Side{}, 1, "x") },
		`no price of "base" is known`:   func() (price.Comparison, error) { return table.Compare("base", checked(), tree, flat, 1, "x") },
		"none: its tokens cannot be":    func() (price.Comparison, error) { return table.Compare("haiku", checked(), none, flat, 1, "x") },
		"unmetered: claude-haiku-4-5":   func() (price.Comparison, error) { return table.Compare("haiku", checked(), flat, unmetered, 1, "x") },
		`unknown: no price of "x" is`:   func() (price.Comparison, error) { return table.Compare("haiku", checked(), unknown, flat, 1, "x") },
		"as a base it needs a price of": func() (price.Comparison, error) { return table.Compare("gpt-5.5", checked(), writes, flat, 1, "x") },
	} {
		got, err := compare()
		if err == nil || !strings.Contains(err.Error(), says) || got.String() != "no comparison" {
			t.Errorf("%s: got %s, %v", says, got, err)
		}
	}
}
