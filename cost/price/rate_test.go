package price_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/price"
)

// checked is the date of the embedded table, as a time.
func checked() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// TestVendorsAnswersToTheNanoDollar prices usage objects as vendors send them.
func TestVendorsAnswersToTheNanoDollar(t *testing.T) {
	read := map[string]func(string, []byte) (cost.Usage, error){"anthropic": cost.Anthropic, "claude": cost.ClaudeModel,
		"chat": cost.OpenAIChat, "responses": cost.OpenAIResponses, "codex": cost.Codex}
	for _, test := range []struct {
		vendor, model, service, text string
		want                         string // dollars, or part of the reason why there are none
	}{
		{"anthropic", "claude-opus-5-5", "", `{"input_tokens":1003,"output_tokens":7}`, "0.004152"},
		{"anthropic", "claude-opus-5-5", "batch", `{"input_tokens":1003,"output_tokens":7}`, "0.002076"},
		{"anthropic", "claude-opus-5-5", "fast", `{"input_tokens":1003,"output_tokens":7}`, "0.008304"},
		{"anthropic", "claude-opus-5-5", "express", `{"input_tokens":1003,"output_tokens":7}`, `claude-opus-5-5: there is no service "express": unpriced`},
		{"anthropic", "claude-sonnet-5-5", "fast", `{"input_tokens":1,"output_tokens":7}`, "claude-sonnet-5-5: the fast service has no price: unpriced"},
		{"anthropic", "claude-sonnet-5-5-20260901", "", `{"input_tokens":3,"cache_read_input_tokens":100001,"output_tokens":0}`, "0.0100061"},
		{"anthropic", "claude-sonnet-5-5", "", `{"input_tokens":0,"cache_creation_input_tokens":1001,"output_tokens":0}`, "0.0025025"},
		{"anthropic", "claude-sonnet-5-5", "", `{"input_tokens":0,"cache_creation_input_tokens":1001,"cache_creation":{"ephemeral_1h_input_tokens":1000},"output_tokens":0}`, "0.0040025"},
		{"anthropic", "claude-fable-5-2", "", `{"input_tokens":1,"cache_read_input_tokens":1,"cache_creation_input_tokens":2,"cache_creation":{"ephemeral_5m_input_tokens":1,
			"ephemeral_1h_input_tokens":1},"output_tokens":1,"output_tokens_details":{"thinking_tokens":1}}`, "0.0000742"}, // thinking is in the output
		{"anthropic", "claude-fable-5-2", "", `{"output_tokens":1}`, "its usage is not known"},
		{"anthropic", "claude-fable-5-2", "", `null`, "its usage is not known"},
		{"anthropic", "claude-opus-7", "", `{"input_tokens":1,"output_tokens":7}`, `no price of "claude-opus-7" is known: unpriced`},
		{"claude", "claude-haiku-5-5", "", `{"inputTokens":60000,"cacheReadInputTokens":30000,"cacheCreationInputTokens":10000,"cacheCreationEphemeral1hInputTokens":4000,
			"outputTokens":999}`, "0.0083495"}, // exactly 100,000
		{"claude", "claude-haiku-5-5", "", `{"inputTokens":60001,"cacheReadInputTokens":30000,"cacheCreationInputTokens":10000,"cacheCreationEphemeral1hInputTokens":4000,
			"outputTokens":999}`, "0.041748"}, // one more: all of it is dearer
		{"responses", "gpt-6.2-sol", "", `{"input_tokens":272000,"input_tokens_details":{"cached_tokens":200000,"cache_write_tokens":1000},"output_tokens":10,"total_tokens":272010}`, "0.1646"},
		{"responses", "gpt-6.2-sol", "", `{"input_tokens":272001,"input_tokens_details":{"cached_tokens":200000,"cache_write_tokens":1000},"output_tokens":10,"total_tokens":272011}`, "0.329154"},
		{"responses", "gpt-6.2-sol", "batch", `{"input_tokens":272001,"input_tokens_details":{"cached_tokens":200000,"cache_write_tokens":1000},"output_tokens":10,"total_tokens":272011}`, "0.164577"},
		{"responses", "gpt-6-luna", "fast", `{"input_tokens":1,"output_tokens":0,"total_tokens":1}`, "0.0000002"},
		{"responses", "gpt-6-luna", "batch", `{"input_tokens":3,"input_tokens_details":{"cached_tokens":3},"output_tokens":0,"total_tokens":3}`, "0.000000015"},
		{"responses", "gpt-6-luna", "batch", `{"input_tokens":1,"input_tokens_details":{"cache_write_tokens":1},"output_tokens":0,"total_tokens":1}`, "0.000000063"}, // 62.5 nano-dollars
		{"responses", "gpt-5.5", "", `{"input_tokens":10,"input_tokens_details":{"cache_write_tokens":4},"output_tokens":1,"total_tokens":11}`,
			"gpt-5.5: it used 4 tokens of cacheWrite5m, which has no price: unpriced"},
		{"chat", "gpt-4o-mini-2024-07-18", "", `{"prompt_tokens":1001,"prompt_tokens_details":{"cached_tokens":1000},"completion_tokens":9,
			"completion_tokens_details":{"reasoning_tokens":8},"total_tokens":1010}`, "0.00008055"},
		{"codex", "gpt-5.3-codex", "", `{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":42,"reasoning_output_tokens":30}`, "0.001393"},
		{"codex", "gpt-5.3-codex", "batch", `{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":42}`, "the batch service has no price"},
		{"codex", "", "", `{"input_tokens":1,"output_tokens":1}`, "the model is not known: unpriced"},
	} {
		usage, err := read[test.vendor](test.model, []byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		call := cost.Call{Usage: usage, Service: test.service, At: checked(), Cost: new(cost.Money), Prices: "old"}
		err = price.Default().Charge(&call)
		switch {
		case err != nil && (!strings.Contains(err.Error(), test.want) || !errors.Is(err, price.ErrUnpriced) || call.Cost != nil || call.Prices != ""):
			t.Errorf("%s %s: got %v, want %s; the call is %+v", test.model, test.text, err, test.want, call)
		case err == nil && (call.Cost.String() != test.want || call.Prices != "2026-11-30"):
			t.Errorf("%s %s: got %s of %s, want %s", test.model, test.text, call.Cost, call.Prices, test.want)
		}
	}
}

// load is a table of one row of model m, with more of its keys.
func load(t *testing.T, more string) price.Table {
	t.Helper()
	table, err := price.Load("p.json", []byte(`{"schemaVersion": 1, "checked": "2026-11-30", "rows": [{"model": "m", "source": "test", `+more+`}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func rate(t *testing.T, table price.Table) price.Rate {
	t.Helper()
	r, ok := table.Price("m", checked())
	if !ok {
		t.Fatal("there is no row")
	}
	return r
}

func TestNotKnownIsNotZero(t *testing.T) {
	unknown, free := rate(t, load(t, `"input": null, "output": "1"`)), rate(t, load(t, `"input": "0", "output": "0"`))
	if money, err := unknown.Cost(cost.Usage{Input: 1, Metered: true}, ""); err == nil {
		t.Errorf("what is not known costs %s", money)
	}
	if money, err := unknown.Cost(cost.Usage{Output: 1, Metered: true}, ""); err != nil || money != 1000 {
		t.Errorf("what was not used was asked for: %v", err)
	}
	if money, err := free.Cost(cost.Usage{Input: 1, Output: 5, Metered: true}, ""); err != nil || money != 0 {
		t.Errorf("a free model: %s, %v", money, err)
	}
	if _, err := free.Cost(cost.Usage{Input: 1}, ""); err == nil {
		t.Error("usage that nobody metered is free")
	}
	if _, err := free.Cost(cost.Usage{Input: -1, Metered: true}, ""); err == nil {
		t.Error("a count below zero has a price")
	}
	if _, err := (price.Rate{}).Cost(cost.Usage{Input: 1, Metered: true}, ""); err == nil {
		t.Error("the zero rate has prices")
	}
}

// TestSums: an agent tells what all of its requests used together, so that a sum above the size of a tier says nothing about
// any of them.
func TestSums(t *testing.T) {
	table := price.Default()
	for _, test := range []struct {
		model string
		input int64
		want  string // dollars, or part of the reason why there are none
	}{
		{"claude-haiku-5-5", 100_000, "0.0100005"},
		{"claude-haiku-5-5", 100_001, "claude-haiku-5-5: it cost between $0.0100006 and $0.050003, by the sizes of its requests, which are not known: unpriced"},
		{"claude-opus-5-5", 100_001, "0.400024"},
	} {
		call := cost.Call{At: checked(), Summed: true, Usage: cost.Usage{Model: test.model, Input: test.input, Output: 1, Metered: true}}
		err := table.Charge(&call)
		if err != nil && (err.Error() != test.want || call.Cost != nil) || err == nil && call.Cost.String() != test.want {
			t.Errorf("%s of %d: got %s, %v, want %s", test.model, test.input, call.Cost, err, test.want)
		}
	}
	r := rate(t, load(t, `"input": "2", "output": "1", "tiers": [{"above": 10, "input": "1", "output": "1"}, {"above": 20, "input": "5", "output": "1"},
		{"above": 30, "input": "9", "output": null}]`))
	if low, high, err := r.CostOfSum(cost.Usage{Input: 30, Metered: true}, ""); low != 30_000 || high != 150_000 || err != nil {
		t.Errorf("got %d to %d, %v", low, high, err)
	}
	if low, high, err := r.CostOfSum(cost.Usage{Input: 31, Output: 1, Metered: true}, ""); err == nil {
		t.Errorf("got %d to %d, and a price is not known", low, high)
	}
}

func TestMoreThanMoneyCounts(t *testing.T) {
	r := rate(t, load(t, `"input": "10000", "output": "10000", "cacheRead": "10000", "fast": "100"`))
	u := cost.Usage{Input: 1 << 40, CacheRead: 1 << 40, Output: 1 << 40, Metered: true}
	if money, err := r.Cost(u, "fast"); err == nil || !errors.Is(err, price.ErrUnpriced) {
		t.Errorf("got %s, %v", money, err)
	}
	if money, err := r.Cost(cost.Usage{Input: 18446744074, Metered: true}, "fast"); err == nil { // 1,000,000 times 2^64 femto-dollars
		t.Errorf("got %s", money)
	}
	if money, err := r.Cost(cost.Usage{Output: 922337203685, Metered: true}, ""); err != nil || money != 9223372036850000000 {
		t.Errorf("just below the most: %d, %v", money, err)
	}
}

// TestCostIsExact compares with arithmetic of any size.
func TestCostIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		micro := func() int64 { return random.Int64N(1 << (1 + random.IntN(33))) }
		prices := [5]int64{micro(), micro(), micro(), micro(), micro()}
		factor := 1 + random.Int64N(5000)
		decimal := func(n, unit int64) string { return fmt.Sprintf("%d.%0*d", n/unit, len(fmt.Sprint(unit))-1, n%unit) }
		r := rate(t, load(t, fmt.Sprintf(`"input": "%s", "output": "%s", "cacheRead": "%s", "cacheWrite5m": "%s", "cacheWrite1h": "%s", "batch": "%s"`,
			decimal(prices[0], 1_000_000), decimal(prices[1], 1_000_000), decimal(prices[2], 1_000_000), decimal(prices[3], 1_000_000), decimal(prices[4], 1_000_000),
			decimal(factor, 1000))))
		n := func() int64 { return random.Int64N(1 << random.IntN(30)) }
		u := cost.Usage{Input: n(), Output: n(), CacheRead: n(), CacheWrite5m: n(), CacheWrite1h: n(), Metered: true}
		sum := new(big.Int)
		for i, count := range []int64{u.Input, u.Output, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h} {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(count), big.NewInt(prices[i]*factor)))
		}
		want := sum.Add(sum, big.NewInt(500_000)).Div(sum, big.NewInt(1_000_000))
		money, err := r.Cost(u, "batch")
		if want.Cmp(big.NewInt(math.MaxInt64)) > 0 {
			if err == nil {
				t.Fatalf("%+v: %s", u, money)
			}
		} else if err != nil || want.Cmp(big.NewInt(int64(money))) != 0 {
			t.Fatalf("%+v: got %d, %v, want %s", u, money, err, want)
		}
	}
}
