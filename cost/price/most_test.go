package price_test

import (
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/price"
)

func TestMost(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	table := price.Default()
	call := func(model string, u cost.Usage) cost.Call {
		u.Model, u.Metered = model, true
		return cost.Call{At: at, Usage: u, Summed: true}
	}
	for name, tt := range map[string]struct {
		call cost.Call
		want cost.Money
		ok   bool
	}{
		"a sum beyond a tier, at its dearer price":  {call("claude-haiku-5-5", cost.Usage{Input: 200_000}), 200_000 * 500, true},
		"a model that nobody knows, at the dearest": {call("nobody-knows", cost.Usage{Output: 10}), 10 * 50_000, true},
		"what no model has a price for":             {call("nobody-knows", cost.Usage{Input: -1}), 0, false},
	} {
		if got, ok := table.Most(tt.call); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %s, %t", name, got, ok)
		}
	}
	if most, ok := (price.Table{}).Most(call("m", cost.Usage{Input: 1})); ok || most != 0 {
		t.Errorf("an empty table: %s", most)
	}
	if got := table.Checked(); got != "2026-11-30" {
		t.Errorf("checked %s", got)
	}
}
