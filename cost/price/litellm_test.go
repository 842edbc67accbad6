package price_test

import (
	"strings"
	"testing"

	"aesop/cost"
	"aesop/cost/price"
)

// litellm is a file as LiteLLM's is, with a model of each kind.
const litellm = `{
  "sample_spec": {"mode": "one of: chat, embedding", "input_cost_per_token": 0.0, "max_tokens": "a text"},
  "fallback_generalizations": [{"pattern": "x"}],
  "plain": {"mode": "chat", "litellm_provider": "p", "input_cost_per_token": 2.5e-06, "output_cost_per_token": 0.00001, "max_tokens": 8192,
    "output_cost_per_reasoning_token": null, "input_cost_per_token_above_0k_tokens": 1},
  "whole": {"mode": "responses", "source": "https://example.com/prices", "input_cost_per_token": 3E-6, "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07,
    "cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06, "input_cost_per_token_above_200k_tokens": 6e-06,
    "output_cost_per_token_above_200k_tokens": 2.25e-05, "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 1.2e-05, "input_cost_per_token_batches": 1.5e-06,
    "input_cost_per_token_priority": 9e-06, "output_cost_per_token_above_200k_tokens_priority": 9e-06, "output_cost_per_reasoning_token": 0.000015,
    "input_cost_per_audio_token": 1e-05, "search_context_cost_per_query": {"search_context_size_low": 0.01}},
  "tiny": {"mode": "completion", "input_cost_per_token": 1e-12, "output_cost_per_token": 1000000e-12},
  "finer": {"mode": "chat", "input_cost_per_token": 1.0000001e-07, "output_cost_per_token": 1e-06},
  "float": {"mode": "chat", "input_cost_per_token": 1.0000000000000001e-07, "output_cost_per_token": 1e-06},
  "absurd": {"mode": "chat", "input_cost_per_token": 3, "output_cost_per_token": 15},
  "negative": {"mode": "chat", "input_cost_per_token": -1e-06, "output_cost_per_token": 1e-06},
  "huge": {"mode": "chat", "input_cost_per_token": 1e999999999, "output_cost_per_token": 1e-06},
  "text": {"mode": "chat", "input_cost_per_token": "1e-06", "output_cost_per_token": 1e-06},
  "free": {"mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 0},
  "no output": {"mode": "chat", "input_cost_per_token": 1e-06},
  "null output": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": null},
  "thinker": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "output_cost_per_reasoning_token": 3e-06},
  "stairs": {"mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "tiered_pricing": [{"range": [0, 32000], "input_cost_per_token": 5e-06}]},
  "vectors": {"mode": "embedding", "input_cost_per_token": 1e-07, "output_cost_per_token": 0.0},
  "pictures": {"mode": "image_generation", "output_cost_per_image": 0.06},
  "nothing": 5
}`

func TestReadLiteLLM(t *testing.T) {
	table, skipped, err := price.ReadLiteLLM([]byte(litellm), checked())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range table.Rates() {
		got = append(got, r.Model)
	}
	if want := "plain tiny whole"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
	for _, test := range []struct {
		model string
		usage cost.Usage
		want  string // dollars, or part of the error
	}{
		{"plain", cost.Usage{Input: 1, Output: 3}, "0.0000325"},
		{"plain", cost.Usage{CacheRead: 1}, "which has no price"},
		{"whole", cost.Usage{Input: 200_000, Output: 1}, "0.600015"},
		{"whole", cost.Usage{Input: 200_000, CacheWrite1h: 1}, "1.200012"},
		{"whole", cost.Usage{CacheRead: 10, CacheWrite5m: 100, CacheWrite1h: 1000}, "0.006378"},
		{"whole", cost.Usage{Input: 200_000, CacheRead: 1}, "it used 1 tokens of cacheRead, which has no price"}, // the tier does not say
		{"tiny", cost.Usage{Input: 1000, Output: 1}, "0.000001001"},
	} {
		test.usage.Metered = true
		r, _ := table.Price(test.model, checked())
		money, err := r.Cost(test.usage, "")
		if err != nil && !strings.Contains(err.Error(), test.want) || err == nil && money.String() != test.want {
			t.Errorf("%s %+v: got %s, %v, want %s", test.model, test.usage, money, err, test.want)
		}
		if _, err := r.Cost(test.usage, "batch"); err == nil {
			t.Errorf("%s has a batch service", test.model)
		}
	}
	if r, _ := table.Price("whole", checked()); r.Source != "https://example.com/prices" || r.Checked != "2026-11-30" || len(r.Tiers) != 1 {
		t.Errorf("got %+v", r)
	}
	want := map[string]string{"finer": "input_cost_per_token: \"0.10000001\" has more than six decimals", "float": "is not a price", "absurd": "more than anyone asks",
		"negative": "is \"-1e-06\", must not be negative", "huge": "which is no price", "text": "must be a number", "free": "its prices are 0",
		"no output": "no price of input or of output", "null output": "no price of input or of output", "thinker": "reasoning has a price of its own",
		"stairs":  "tiered in a form of its own",
		"vectors": `its mode is "embedding"`, "pictures": `its mode is "image_generation"`, "nothing": "no object"}
	for _, s := range skipped {
		if want[s.Model] == "" || !strings.Contains(s.Why, want[s.Model]) {
			t.Errorf("%s was skipped: %s", s.Model, s.Why)
		}
		delete(want, s.Model)
	}
	if len(want) > 0 {
		t.Errorf("not skipped: %v", want)
	}
	if got, ok := table.With(price.Default()).Price("opus", checked()); !ok || got.Model != "claude-opus-5-5" {
		t.Errorf("under the embedded table: %+v", got)
	}
	if got, ok := price.Default().With(table).Price("plain", checked()); !ok || got.Input.String() != "2.50" {
		t.Errorf("over the embedded table: %+v", got)
	}
	if _, _, err := price.ReadLiteLLM([]byte(`[`), checked()); err == nil {
		t.Error("half a file was read")
	}
}

// FuzzReadLiteLLM: whatever the file, what is taken is above 0 and can be written and read.
func FuzzReadLiteLLM(f *testing.F) {
	f.Add([]byte(litellm))
	f.Add([]byte(`{"m": {"mode": "chat", "input_cost_per_token": 00000000000000000.1e-5, "output_cost_per_token": 1e+0}, "": {"mode": "chat"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, _, err := price.ReadLiteLLM(text, checked())
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
	})
}
