package price_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/price"
)

// TestEmbeddedRows checks each row of the table that comes with the package.
func TestEmbeddedRows(t *testing.T) {
	table := price.Default()
	names := map[string]bool{}
	for _, r := range table.Rates() {
		micro := func(p price.Price) int64 { n, _ := p.Micro(); return n }
		if _, err := time.Parse(time.DateOnly, r.Checked); err != nil {
			t.Errorf("%s: %v", r.Model, err)
		}
		if !strings.HasPrefix(r.Source, "https://") && !strings.HasPrefix(r.Source, "measured from ") {
			t.Errorf("%s: its source is %q", r.Model, r.Source)
		}
		for _, name := range append(r.Aliases, r.Model) {
			if names[name] {
				t.Errorf("%s: the name %s stands twice", r.Model, name)
			}
			names[name] = true
		}
		all := []price.Prices{r.Prices}
		above := int64(0)
		for _, tier := range r.Tiers {
			if tier.Above <= above || micro(tier.Input) <= micro(all[len(all)-1].Input) || micro(tier.Output) <= micro(all[len(all)-1].Output) {
				t.Errorf("%s: the tier above %d is not dearer", r.Model, tier.Above)
			}
			all, above = append(all, tier.Prices), tier.Above
		}
		for _, p := range all {
			_, short := p.CacheWrite5m.Micro()
			_, long := p.CacheWrite1h.Micro()
			switch {
			case micro(p.CacheRead) <= 0 || micro(p.CacheRead) >= micro(p.Input) || micro(p.Input) >= micro(p.Output):
				t.Errorf("%s: reads %s, input %s, output %s", r.Model, p.CacheRead, p.Input, p.Output)
			case short && micro(p.CacheWrite5m) <= micro(p.Input), long && micro(p.CacheWrite1h) <= micro(p.CacheWrite5m):
				t.Errorf("%s: input %s, writes %s and %s", r.Model, p.Input, p.CacheWrite5m, p.CacheWrite1h)
			}
		}
		if got, ok := table.Price(r.Model, checked()); !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("%s is found as %+v", r.Model, got)
		}
	}
	if len(names) < 45 {
		t.Errorf("%d names", len(names))
	}
}

// TestNames: a name finds its model, never a neighbour, and the same one each time.
func TestNames(t *testing.T) {
	table := price.Default()
	for name, want := range map[string]string{
		"opus": "claude-opus-5-5", "haiku": "claude-haiku-5-5", "claude-opus-5": "claude-opus-5", "claude-opus-5-5": "claude-opus-5-5",
		"claude-haiku-4-5-20251001": "claude-haiku-4-5", "claude-haiku-4-5@20251001": "claude-haiku-4-5", "claude-haiku-4-5@default": "claude-haiku-4-5", "claude-haiku-4-5-latest": "claude-haiku-4-5",
		"anthropic/claude-opus-5-5": "claude-opus-5-5", "openai/gpt-5.5-2026-04-23": "gpt-5.5", "claude-sonnet-4-6[1m]": "claude-sonnet-4-6",
		"us.anthropic.claude-haiku-4-5-20251001-v1:0": "claude-haiku-4-5", "anthropic.claude-opus-5-5-v1": "claude-opus-5-5",
		"gpt-4o": "gpt-4o", "gpt-4o-2024-08-06": "gpt-4o", "gpt-4o-mini": "gpt-4o-mini", "gpt-4o-mini-2024-07-18": "gpt-4o-mini",
		"gpt-5-2025-08-07": "gpt-5", "gpt-5-mini-2025-08-07": "gpt-5-mini", "gpt-5.6": "gpt-5.6-sol", "gpt-5.6-sol-2026-07-09": "gpt-5.6-sol",
		"gpt-5.1-codex-max": "gpt-5.1-codex-max", "gpt-5.5": "gpt-5.5",
		// Other models, of which the price is not known.
		"": "", "claude": "", "claude-opus": "", "claude-opus-5-6": "", "claude-opus-4-1": "", "claude-opus-5-fast": "", "gpt-5.50": "", "gpt-5.": "", "gpt-5-mini-x": "",
		"gpt-5-pro": "", "gpt-4o-audio-preview": "", "gpt-4.1-mini": "", "gpt-5.6-sol-fancy": "", "gpt-55": "", "gpt": "", "GPT-5": "", "xgpt-5": "",
		"ollama/gpt-4o": "", "mistral.gpt-5": "", "opus-next": "", "claude-haiku-4-5-2025": "", "gpt-5-": "", "gpt-5\n": "", "\x00": "",
	} {
		for range 200 {
			got, ok := table.Price(name, checked())
			if got.Model != want || ok != (want != "") {
				t.Fatalf("%q is %q, want %q", name, got.Model, want)
			}
		}
	}
	more := table.With(load(t, `"input": "1", "output": "2", "aliases": ["gpt-5-20260101"]`)) // the longer name wins
	for range 10_000 {
		if got, _ := more.Price("gpt-5-20260101-v2", checked()); got.Model != "m" {
			t.Fatalf("got %s", got.Model)
		}
	}
}

func TestDates(t *testing.T) {
	table, err := price.Load("p.json", []byte(`{"schemaVersion": 1, "checked": "2026-11-30", "rows": [
		{"model": "m", "source": "s", "from": "2026-03-01", "input": "3", "output": "9"},
		{"model": "m", "source": "s", "from": "2026-01-01", "input": "4", "output": "9", "aliases": ["old"]},
		{"model": "ever", "source": "s", "input": "4", "output": "9", "checked": "2026-12-01"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	east := time.FixedZone("", 3600)
	for _, test := range []struct {
		model, want string
		at          time.Time
	}{
		{"m", "-", time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC)},
		{"m", "4.00", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"m", "-", time.Date(2026, 1, 1, 0, 0, 0, 0, east)}, // dates are UTC
		{"old", "4.00", time.Date(2026, 2, 28, 23, 59, 59, 0, time.UTC)},
		{"old", "3.00", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		{"ever", "4.00", time.Time{}},
	} {
		if got, ok := table.Price(test.model, test.at); got.Input.String() != test.want || ok != (test.want != "-") {
			t.Errorf("%s at %s: %s", test.model, test.at, got.Input)
		}
	}
	call := cost.Call{At: time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC), Usage: cost.Usage{Model: "old", Metered: true}}
	if err := table.Charge(&call); !errors.Is(err, price.ErrUnpriced) || err.Error() != `no price of "old" counts on 2025-01-02: unpriced` {
		t.Errorf("got %v", err)
	}
	call = cost.Call{At: checked(), Usage: cost.Usage{Model: "ever", Input: 1, Metered: true}}
	if err := table.Charge(&call); err != nil || call.Prices != "2026-12-01" || *call.Cost != 4000 {
		t.Errorf("got %v, %+v", err, call)
	}
}

func TestWith(t *testing.T) {
	under, err := price.Load("p.json", []byte(`{"schemaVersion": 1, "checked": "2026-01-01", "rows": [
		{"model": "m", "source": "s", "input": "1", "output": "9", "aliases": ["a", "b"]},
		{"model": "m", "source": "s", "from": "2026-06-01", "input": "2", "output": "9"},
		{"model": "m", "source": "s", "from": "2026-09-01", "input": "3", "output": "9"},
		{"model": "n", "source": "s", "input": "4", "output": "9", "aliases": ["c"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	before := under.Rates()
	for name, test := range map[string]struct {
		over string
		want map[string]string // name, or name at a date, to the price of input
	}{
		"for ever":        {`{"model": "m", "input": "7"`, map[string]string{"m": "7.00", "m 2026-02-01": "7.00", "a": "7.00", "n": "4.00"}},
		"from a date":     {`{"model": "m", "from": "2026-07-01", "input": "7"`, map[string]string{"m": "7.00", "a": "7.00", "m 2026-06-30": "2.00", "m 2026-02-01": "1.00"}},
		"takes an alias":  {`{"model": "x", "aliases": ["a"], "input": "7"`, map[string]string{"a": "7.00", "b": "3.00", "m": "3.00"}},
		"takes a model":   {`{"model": "x", "aliases": ["n"], "input": "7"`, map[string]string{"n": "7.00", "c": "-", "m": "3.00"}},
		"alias is model":  {`{"model": "a", "input": "7"`, map[string]string{"a": "7.00", "m": "3.00"}},
		"no price of all": {`{"model": "m", "input": null`, map[string]string{"m": "-"}},
	} {
		over, err := price.Load("o.json", []byte(`{"schemaVersion": 1, "checked": "2026-11-01", "rows": [`+test.over+`, "source": "o", "output": "9"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		sum := under.With(over)
		for at, want := range test.want {
			model, date, dated := strings.Cut(at, " ")
			when := checked()
			if dated {
				when, _ = time.Parse(time.DateOnly, date)
			}
			if got, _ := sum.Price(model, when); got.Input.String() != want {
				t.Errorf("%s: %s is %s, want %s", name, at, got.Input, want)
			}
		}
		if again := written(t, sum); !reflect.DeepEqual(again.Rates(), sum.Rates()) {
			t.Errorf("%s: written %+v, and read %+v", name, sum.Rates(), again.Rates())
		}
	}
	if !reflect.DeepEqual(under.Rates(), before) {
		t.Error("the table below changed")
	}
	if got := (price.Table{}).With(under).Rates(); !reflect.DeepEqual(got, before) {
		t.Errorf("over the zero table: %+v", got)
	}
}

func TestAge(t *testing.T) {
	table := price.Default()
	day := func(n int) time.Time { return checked().AddDate(0, 0, n) }
	if got := table.Age(day(90)) + table.Age(day(-1000)); got != "" {
		t.Errorf("too early: %s", got)
	}
	got := table.Age(day(91))
	for _, part := range []string{"(claude-fable-5, ", "…)", "more than 90 days ago, on 2026-11-30", "take a newer aesop, or lay a file of prices over them"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q has no %q", got, part)
		}
	}
	fresh, err := price.Load("p.json", []byte(`{"schemaVersion": 1, "checked": "2027-03-01", "rows": [{"model": "m", "source": "s", "input": "1", "output": "1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := fresh.Age(day(100)) + (price.Table{}).Age(day(100)); got != "" {
		t.Errorf("got %s", got)
	}
	later, err := price.Load("p.json", []byte(`{"schemaVersion": 1, "checked": "2027-03-01", "rows": [{"model": "m", "source": "s", "from": "2027-01-01", "input": "1", "output": "1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range []price.Table{fresh, later} { // the last row of a model is what counts now
		if got := load(t, `"input": "1", "output": "1"`).With(over).Age(day(100)); got != "" {
			t.Errorf("laid over: %s", got)
		}
	}
}

// written is a table as it is read after it was written.
func written(t *testing.T, table price.Table) price.Table {
	t.Helper()
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	again, err := price.Load("again.json", text)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestTableIsReadAsItIsWritten(t *testing.T) {
	if again := written(t, price.Default()); !reflect.DeepEqual(again, price.Default()) {
		t.Errorf("got %+v", again)
	}
}
