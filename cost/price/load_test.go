package price_test

import (
	"errors"
	"strings"
	"testing"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/internal/document"
)

// good is a file with everything that one can have.
const good = `{
  // what we agreed
  "schemaVersion": 1,
  "checked": "2026-11-30",
  "rows": [
    {"model": "m", "source": "contract", "aliases": ["n"], "from": "2026-01-01",
     "input": "2", "output": "10", "cacheRead": "0.1", "cacheWrite5m": "2.5", "cacheWrite1h": null, "batch": "0.5", "fast": null,
     "tiers": [{"above": 1000, "input": "4", "output": "15"}, {"above": 2000, "input": "5", "output": "16"}]},
    {"model": "local", "source": "our own machine", "input": "0", "output": "0"},
  ],
}`

func TestLoad(t *testing.T) {
	table, err := price.Load("prices.json", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model string
		usage cost.Usage
		want  cost.Money
	}{
		{"n", cost.Usage{Input: 1000}, 2_000_000},
		{"n", cost.Usage{Input: 1000, Output: 10}, 2_100_000}, // output is no part of the prompt
		{"n", cost.Usage{Input: 1001}, 4_004_000},
		{"n", cost.Usage{Input: 2001}, 10_005_000},
		{"local", cost.Usage{Input: 1000, Output: 1000}, 0},
	} {
		test.usage.Metered = true
		r, ok := table.Price(test.model, checked())
		if got, err := r.Cost(test.usage, ""); !ok || err != nil || got != test.want {
			t.Errorf("%s %+v: %d, %v", test.model, test.usage, got, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct{ was, is, want string }{
		{`"schemaVersion": 1`, `"schemaVersion": 2`, "prices.json:3: schemaVersion: is 2, but only version 1 can be read (take the aesop that the file was written for)"},
		{`"checked": "2026-11-30"`, `"checked": "30.11.2026"`, `prices.json:4: checked: is "30.11.2026", must be a date such as 2026-11-30`},
		{`"checked": "2026-11-30",`, ``, `prices.json:6: rows[0]: neither the row nor the file has the key "checked", the date on which the prices were read`},
		{`"rows"`, `"row"`, "prices.json:1: rows: the key is missing"},
		{`"source": "contract", `, ``, "prices.json:6: rows[0].source: the key is missing"},
		{`"source": "contract"`, `"source": ""`, "prices.json:6: rows[0].source: must not be empty"},
		{`"cacheRead"`, `"cacheReads"`, `prices.json:7: rows[0].cacheReads: no such key (did you mean "cacheRead"?)`},
		{`"above": 1000,`, ``, "prices.json:8: rows[0].tiers[0].above: the key is missing"},
		{`"above": 1000`, `"above": 0`, "prices.json:8: rows[0].tiers[0].above: is 0, must be a number of tokens above 0"},
		{`"above": 1000`, `"above": 2000`, "prices.json:8: rows[0].tiers[1]: tiers must ascend"},
		{`"input": "2"`, `"input": 2`, "prices.json:7: rows[0].input: is a number, must be a string"},
		{`"input": "2"`, `"input": "-2"`, `prices.json:7: rows[0].input: "-2" is not a price in dollars for a million tokens, such as 3 or 0.125`},
		{`"input": "2"`, `"input": "NaN"`, `"NaN" is not a price`},
		{`"input": "2"`, `"input": "2e0"`, `"2e0" is not a price`},
		{`"input": "2"`, `"input": ""`, `"" is not a price`},
		{`"input": "2"`, `"input": "0.0000001"`, `"0.0000001" has more than six decimals`},
		{`"input": "2"`, `"input": "10000.01"`, "more than anyone asks; is it per million?"},
		{`"input": "2"`, `"input": "99999999999999999999"`, "is not a price"},
		{`"batch": "0.5"`, `"batch": "0"`, `prices.json:7: rows[0].batch: "0" is not a factor, such as 0.5, above 0`},
		{`"batch": "0.5"`, `"batch": "101"`, "is not a factor"},
		{`"batch": "0.5"`, `"batch": "0.0005"`, "is not a factor"},
		{`"model": "local"`, `"model": "n"`, `prices.json:9: rows[1]: the name "n" is empty or that of "m"`},
		{`"model": "local"`, `"model": "m", "from": "2026-01-01"`, `prices.json:9: rows[1]: the model "m" has two rows from "2026-01-01" on`},
		{`"aliases": ["n"]`, `"aliases": [""]`, `rows[0]: the name "" is empty`},
		{`"aliases": ["n"]`, `"aliases": [1]`, "prices.json:6: rows[0].aliases[0]: is a number, must be a string"},
		{good, ``, "prices.json:1: the file is empty"},
		{good, `[]`, "prices.json:1: is an array, must be an object"},
	} {
		_, err := price.Load("prices.json", []byte(strings.Replace(good, test.was, test.is, 1)))
		var e *document.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.is, err, test.want)
		}
	}
}

// FuzzLoad: whatever the file, it is refused, or a table whose prices can be used and written.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"schemaVersion":1,"rows":[]}`))
	f.Add([]byte(`{"schemaVersion":1,"rows":[{"model":"m","source":"s","checked":"2026-11-30","input":"1","output":null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := price.Load("f", text)
		if err != nil {
			return
		}
		again, err := table.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := price.Load("again", again); err != nil {
			t.Errorf("%v: %s", err, again)
		}
		for _, r := range table.Rates() {
			if money, err := r.Cost(cost.Usage{Input: 1, Output: 1, CacheRead: 1, Metered: true}, ""); err == nil && money < 0 {
				t.Errorf("it costs %s", money)
			}
		}
	})
}

// TestTwoRowsWithoutADate are told apart by none.
func TestTwoRowsWithoutADate(t *testing.T) {
	const row = `{"model": "m", "source": "s", "input": "1", "output": "2"}`
	_, err := price.Load("prices.json", []byte(`{"schemaVersion": 1, "checked": "2026-05-01", "rows": [`+row+`, `+row+`]}`))
	if err == nil || !strings.Contains(err.Error(), `the model "m" has two rows since ever; give the newer one its first date as "from"`) {
		t.Error(err)
	}
}
