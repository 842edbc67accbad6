package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// limit is far above what any search here needs, and low enough that one which grows fails in seconds.
const limit = 1_000_000

func explore(t *testing.T, c Config) Result {
	t.Helper()
	c.MaxStates = limit
	result, err := Explore(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v: %d states, %d ends, %d pushes landed after their sender", c, result.States, result.Ends, result.Orphans)
	return result
}

func (v Violation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "violated: %s", v.Property)
	for _, m := range v.Trace {
		fmt.Fprintf(&text, "\n    %v", m)
	}
	return text.String()
}

func TestProtocolHolds(t *testing.T) {
	for _, test := range []struct {
		Config
		floor int // of states
	}{
		{Config{Rules: AllRules(), Items: 1, Crashes: 3}, 80_000},
		{Config{Rules: AllRules(), Items: 1, Crashes: 3, Reopenings: 1}, 95_000},
		{Config{Rules: AllRules(), Items: 2, Crashes: 1, Reopenings: 1}, 250_000},
	} {
		t.Run(fmt.Sprintf("%d items, %d crashes, %d reopenings", test.Items, test.Crashes, test.Reopenings), func(t *testing.T) {
			result := explore(t, test.Config)
			for _, v := range result.Violations {
				t.Error(v)
			}
			if result.States < test.floor {
				t.Errorf("%d states, and there were more than %d: the search has lost some", result.States, test.floor)
			}
			if result.Ends == 0 || result.Orphans == 0 {
				t.Error("no wave came to its end, or no push outlived its sender")
			}
			for move := Plan; move <= Reopen; move++ {
				if result.Moves[move] == 0 && move != Ended && (move != Reopen || test.Reopenings > 0) {
					t.Errorf("never happened: %v", move)
				}
			}
			for step := ClaimJob; step <= Report; step++ {
				if result.Crashes[step] == 0 {
					t.Errorf("no crash before %v", step)
				}
			}
			for step := Resume; step <= Settle; step++ { // after it, there is no claim that could lapse
				if result.Lapses[step] == 0 {
					t.Errorf("no lease lapsed before %v", step)
				}
			}
		})
	}
}

func TestEachRuleIsNeeded(t *testing.T) {
	without := func(change func(*Rules)) Rules {
		r := AllRules()
		change(&r)
		return r
	}
	for _, test := range []struct {
		rule   string
		rules  Rules
		breaks []Property
	}{
		{"item ref", without(func(r *Rules) { r.ItemRef = false }), []Property{OneShipment, NothingLost, Agreement}},
		{"adopt", without(func(r *Rules) { r.Adopt = false }), []Property{OneShipment, NothingLost, Agreement}},
		{"record under claim", without(func(r *Rules) { r.RecordUnderClaim = false }), []Property{NothingLost}},
		{"yield pushed", without(func(r *Rules) { r.YieldPushed = false }), []Property{NothingLost}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			result := explore(t, Config{Rules: test.rules, Items: 1, Crashes: 1, Reopenings: 1})
			var broken []Property
			for _, v := range result.Violations {
				broken = append(broken, v.Property)
				t.Log(v)
			}
			if !slices.Equal(broken, test.breaks) {
				t.Errorf("breaks %q, want %q", broken, test.breaks)
			}
		})
	}
}

func TestSearchIsNeverCutShort(t *testing.T) {
	if _, err := Explore(Config{Rules: AllRules(), Items: 1, MaxStates: 100}); err == nil {
		t.Error("a search that met its limit passed for an exhaustive one")
	}
	for _, items := range []int{0, maxItems + 1} {
		if _, err := Explore(Config{Items: items, MaxStates: limit}); err == nil {
			t.Errorf("explored %d items", items)
		}
	}
}
