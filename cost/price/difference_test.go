package price_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost/price"
)

func tableOf(t *testing.T, rows string) price.Table {
	t.Helper()
	table, err := price.Load("p.json", []byte(`{"schemaVersion": 1, "checked": "2026-05-01", "rows": [`+rows+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestDifferences(t *testing.T) {
	ours := tableOf(t, `{"model": "a", "aliases": ["also-a"], "source": "s", "input": "1", "output": "5", "cacheRead": "0.1", "tiers": [{"above": 10, "input": "2", "output": "6"}]},
		{"model": "a", "source": "s", "from": "2026-06-01", "input": "3", "output": "5"}, {"model": "mine", "source": "s", "input": "1", "output": "1"}`)
	theirs := tableOf(t, `{"model": "a", "source": "s", "input": "1", "output": "7", "cacheWrite5m": "4", "tiers": [{"above": 10, "input": "2", "output": "9"}, {"above": 20, "input": "3", "output": "9"}]},
		{"model": "theirs", "source": "s", "input": "1", "output": "1"}`)
	for date, want := range map[string][]string{
		"2026-05-01": {"a: output is $5.00 here and $7.00 there", "a: above 10: output is $6.00 here and $9.00 there"},
		"2026-06-01": {"a: input is $3.00 here and $1.00 there", "a: output is $5.00 here and $7.00 there"},
	} {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		all, common := ours.Differences(theirs, at)
		var got []string
		for _, d := range all {
			got = append(got, d.String())
		}
		if diff := cmp.Diff(want, got); diff != "" || common != 1 {
			t.Errorf("%s: %d models in both, %s", date, common, diff)
		}
		if n := len(ours.Current(at)); n != 2 {
			t.Errorf("%d rows count", n)
		}
	}
	if ours.Name("also-a") != "a" || ours.Name("nobody") != "nobody" {
		t.Errorf("%q and %q", ours.Name("also-a"), ours.Name("nobody"))
	}
}

// TestNoComparisonIsNull: the zero value says nothing, and no ratio.
func TestNoComparisonIsNull(t *testing.T) {
	if text, err := json.Marshal(price.Comparison{}); err != nil || string(text) != "null" {
		t.Errorf("%s, %v", text, err)
	}
}
