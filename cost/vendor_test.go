package cost_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"aesop/cost"
)

// readers are the readers of the vendors' usage objects.
var readers = map[string]func(string, []byte) (cost.Usage, error){"anthropic": cost.Anthropic, "claude": cost.ClaudeModel,
	"chat": cost.OpenAIChat, "responses": cost.OpenAIResponses, "codex": cost.Codex}

func TestVendorsUsage(t *testing.T) {
	for _, test := range []struct {
		vendor, text string
		want         cost.Usage
	}{
		{"anthropic", `{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":34,"cache_creation":{"ephemeral_5m_input_tokens":30,
			"ephemeral_1h_input_tokens":4},"output_tokens":7,"output_tokens_details":{"thinking_tokens":5},"server_tool_use":{"web_search_requests":1},"service_tier":"standard"}`,
			cost.Usage{Input: 10, CacheRead: 200, CacheWrite5m: 30, CacheWrite1h: 4, Output: 7, Reasoning: 5, Metered: true}},
		{"anthropic", `{"input_tokens":10,"output_tokens":7}`, cost.Usage{Input: 10, Output: 7, Metered: true}},
		{"anthropic", `{"input_tokens":0,"output_tokens":0}`, cost.Usage{Metered: true}},
		{"anthropic", `{"input_tokens":10,"cache_creation_input_tokens":34,"cache_creation":null,"cache_read_input_tokens":null,"output_tokens":7}`,
			cost.Usage{Input: 10, CacheWrite5m: 34, Output: 7, Metered: true}},
		{"anthropic", `{"input_tokens":10,"cache_creation_input_tokens":34,"cache_creation":{"ephemeral_1h_input_tokens":4},"output_tokens":7}`,
			cost.Usage{Input: 10, CacheWrite5m: 30, CacheWrite1h: 4, Output: 7, Metered: true}},
		{"anthropic", `{"input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":4},"output_tokens":7}`,
			cost.Usage{Input: 10, CacheWrite5m: 30, CacheWrite1h: 4, Output: 7, Metered: true}},
		{"anthropic", `{"output_tokens":40,"output_tokens_details":{"thinking_tokens":30}}`, cost.Usage{Output: 40, Reasoning: 30}},
		{"anthropic", `{"input_tokens":23000,"output_tokens":1000,"iterations":[{"type":"compaction","input_tokens":180000,"cache_creation_input_tokens":9,"output_tokens":3500},
			{"type":"message","input_tokens":23000,"output_tokens":1000}]}`, cost.Usage{Input: 203000, CacheWrite5m: 9, Output: 4500, Metered: true}},
		{"anthropic", `{"input_tokens":10,"output_tokens":7,"iterations":[{"type":"message","input_tokens":4,"output_tokens":3},{"type":"message","input_tokens":6,"output_tokens":4}]}`,
			cost.Usage{Input: 10, Output: 7, Metered: true}},
		{"anthropic", `{"input_tokens":10,"output_tokens":7,"iterations":[]}`, cost.Usage{Input: 10, Output: 7, Metered: true}},
		{"anthropic", `{"input_tokens":10,"output_tokens":7,"iterations":[{"type":"advisor_message","model":"other","input_tokens":500,"output_tokens":9}]}`,
			cost.Usage{Input: 10, Output: 7}},
		{"anthropic", `{"input_tokens":10,"output_tokens":7,"iterations":[5]}`, cost.Usage{Input: 10, Output: 7}},
		{"anthropic", `{"input_tokens":10,"output_tokens":7,"iterations":[{"type":"compaction","output_tokens":9}]}`, cost.Usage{Input: 10, Output: 16}},
		{"anthropic", `{"input_tokens":10,"output_tokens":null}`, cost.Usage{Input: 10}},
		{"anthropic", `{}`, cost.Usage{}},
		{"anthropic", `null`, cost.Usage{}},
		{"anthropic", ``, cost.Usage{}},
		{"claude", `{"inputTokens":1,"outputTokens":20,"cacheReadInputTokens":300,"cacheCreationInputTokens":50,"cacheCreationEphemeral5mInputTokens":40,
			"cacheCreationEphemeral1hInputTokens":10,"thinkingTokens":3,"webSearchRequests":0,"costUSD":0.01,"contextWindow":200000,"costBasis":"list"}`,
			cost.Usage{Input: 1, Output: 20, CacheRead: 300, CacheWrite5m: 40, CacheWrite1h: 10, Reasoning: 3, Metered: true}},
		{"claude", `{"inputTokens":1,"outputTokens":20,"cacheCreationInputTokens":50}`, cost.Usage{Input: 1, Output: 20, CacheWrite5m: 50, Metered: true}},
		{"claude", `{"inputTokens":5}`, cost.Usage{Input: 5}},
		{"chat", `{"prompt_tokens":244,"completion_tokens":7,"total_tokens":251,"prompt_tokens_details":{"cached_tokens":200,"cache_write_tokens":34,
			"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":5}}`,
			cost.Usage{Input: 10, CacheRead: 200, CacheWrite5m: 34, Output: 7, Reasoning: 5, Metered: true}},
		{"chat", `{"prompt_tokens":244,"completion_tokens":7,"total_tokens":256,"completion_tokens_details":{"reasoning_tokens":5}}`, // reasoning beside output
			cost.Usage{Input: 244, Output: 12, Reasoning: 5, Metered: true}},
		{"chat", `{"prompt_tokens":10,"completion_tokens":7,"prompt_tokens_details":null}`, cost.Usage{Input: 10, Output: 7, Metered: true}},
		{"chat", `{"prompt_tokens":10,"total_tokens":17}`, cost.Usage{Input: 10}},
		{"chat", `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"prompt_tokens_details":{"audio_tokens":90}}`, cost.Usage{Input: 100, Output: 10}},
		{"chat", `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110,"completion_tokens_details":{"audio_tokens":8}}`, cost.Usage{Input: 100, Output: 10}},
		{"chat", `{"completion_tokens":7,"total_tokens":17}`, cost.Usage{Output: 7}},
		{"chat", `{"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}`, cost.Usage{CacheRead: 2, Output: 3}},
		{"responses", `{"input_tokens":244,"input_tokens_details":{"cached_tokens":200,"cache_write_tokens":34,"cache_write_tokens_details":{"text_tokens":34}},
			"output_tokens":7,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":251}`,
			cost.Usage{Input: 10, CacheRead: 200, CacheWrite5m: 34, Output: 7, Reasoning: 5, Metered: true}},
		{"responses", `{"input_tokens":244,"output_tokens":7,"total_tokens":251}`, cost.Usage{Input: 244, Output: 7, Metered: true}},
		{"codex", `{"input_tokens":1000,"cached_input_tokens":600,"cache_write_input_tokens":70,"output_tokens":42,"reasoning_output_tokens":30}`,
			cost.Usage{Input: 330, CacheRead: 600, CacheWrite5m: 70, Output: 42, Reasoning: 30, Metered: true}},
		{"codex", `{}`, cost.Usage{}},
	} {
		test.want.Model = "m"
		if got, err := readers[test.vendor]("m", []byte(test.text)); err != nil || got != test.want {
			t.Errorf("%s %s:\ngot  %+v, %v\nwant %+v", test.vendor, test.text, got, err, test.want)
		}
	}
}

func TestVendorsUsageThatCannotBe(t *testing.T) {
	for _, test := range [][3]string{
		{"anthropic", `[]`, "anthropic usage: json"},
		{"anthropic", `"many"`, "json"},
		{"anthropic", `{"input_tokens":`, "JSON"},
		{"anthropic", `{"input_tokens":NaN,"output_tokens":1}`, "invalid character"},
		{"anthropic", `{"input_tokens":-1,"output_tokens":1}`, "input_tokens is -1, must be a whole number of tokens"},
		{"anthropic", `{"input_tokens":1,"output_tokens":-5}`, "output_tokens is -5"},
		{"anthropic", `{"input_tokens":1.5,"output_tokens":1}`, "input_tokens is 1.5"},
		{"anthropic", `{"input_tokens":1e3,"output_tokens":1}`, "input_tokens is 1e3"},
		{"anthropic", `{"input_tokens":"12","output_tokens":1}`, `input_tokens is "12"`},
		{"anthropic", `{"input_tokens":99999999999999,"output_tokens":1}`, "input_tokens is 99999999999999"},
		{"anthropic", `{"input_tokens":99999999999999999999999,"output_tokens":1}`, "input_tokens is 9999"},
		{"anthropic", `{"input_tokens":1,"output_tokens":1,"cache_creation":7}`, "cache_creation is 7, must be an object"},
		{"anthropic", `{"input_tokens":1,"output_tokens":1,"output_tokens_details":{"thinking_tokens":2}}`, "reasoning is 2, more than the output of 1"},
		{"anthropic", `{"input_tokens":1,"output_tokens":1,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":6}}`, "5 tokens were written to caches"},
		{"anthropic", `{"input_tokens":1,"output_tokens":1,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":3}}`, "1 for 5 minutes and 3 for an hour"},
		{"anthropic", `{"input_tokens":1,"output_tokens":1,"iterations":7}`, "iterations is not a list"},
		{"anthropic", `{"input_tokens":1,"output_tokens":1,"iterations":[{"type":"compaction","input_tokens":-2,"output_tokens":1}]}`, "compaction: anthropic usage: input_tokens is -2"},
		{"anthropic", `{"input_tokens":1099511627776,"output_tokens":1,"iterations":[{"type":"compaction","input_tokens":1,"output_tokens":1}]}`, "more than any call can use"},
		{"claude", `{"inputTokens":-1,"outputTokens":-5}`, "claude usage: inputTokens is -1"},
		{"chat", `{"prompt_tokens":10,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":3}}`, "8 tokens were read from and 3 written to caches, of an input of 10"},
		{"chat", `{"prompt_tokens":10,"completion_tokens":7,"total_tokens":18}`, "10 tokens of input and 7 of output make no total of 18"},
		{"chat", `{"prompt_tokens":10,"completion_tokens":7,"completion_tokens_details":{"reasoning_tokens":8}}`, "reasoning is 8"},
		{"chat", `{"prompt_tokens":10,"completion_tokens":7,"prompt_tokens_details":{"audio_tokens":-1}}`, "audio_tokens is -1"},
		{"responses", `{"input_tokens":10,"output_tokens":7,"total_tokens":1}`, "no total of 1"},
		{"responses", `{"input_tokens":10,"output_tokens":7,"total_tokens":"17"}`, "total_tokens is"},
		{"codex", `{"input_tokens":10,"cached_input_tokens":11,"output_tokens":1}`, "codex usage: 11 tokens were read"},
	} {
		got, err := readers[test[0]]("m", []byte(test[1]))
		if err == nil || !strings.Contains(err.Error(), test[2]) || got != (cost.Usage{Model: "m"}) {
			t.Errorf("%s %s: got %+v, %v, want %s", test[0], test[1], got, err, test[2])
		}
	}
}

// TestClassesAddUpToTheVendorsTotal: whatever the parts, no token is counted twice or lost.
func TestClassesAddUpToTheVendorsTotal(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := func() int64 { return random.Int64N(1 << random.IntN(40)) }
		in, read, short, long, out := n(), n(), n(), n(), n()
		reasoning := random.Int64N(out + 1)
		total := in + read + short + long + out
		for vendor, text := range map[string]string{
			"anthropic": fmt.Sprintf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":%d,
				"ephemeral_1h_input_tokens":%d},"output_tokens":%d,"output_tokens_details":{"thinking_tokens":%d}}`, in, read, short+long, short, long, out, reasoning),
			"claude": fmt.Sprintf(`{"inputTokens":%d,"cacheReadInputTokens":%d,"cacheCreationInputTokens":%d,"cacheCreationEphemeral1hInputTokens":%d,"outputTokens":%d,
				"thinkingTokens":%d}`, in, read, short+long, long, out, reasoning),
			"chat": fmt.Sprintf(`{"prompt_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"completion_tokens":%d,
				"completion_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`, total-out, read, short+long, out, reasoning, total),
			"responses": fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"output_tokens":%d,
				"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`, total-out, read, short+long, out, reasoning, total),
			"codex": fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"cache_write_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d}`,
				total-out, read, short+long, out, reasoning),
		} {
			u, err := readers[vendor]("", []byte(text))
			if total-out > 1<<40 {
				continue // more than a call can use
			}
			if err != nil || u.Tokens() != total || u.Input != in || u.Output != out || u.Reasoning != reasoning || u.CacheWrite5m+u.CacheWrite1h != short+long {
				t.Fatalf("%s %s: %+v, %v", vendor, text, u, err)
			}
		}
	}
}

// FuzzVendors: whatever a vendor says, it is an error, unmetered, or a usage that can be.
func FuzzVendors(f *testing.F) {
	f.Add([]byte(`{"input_tokens":10,"cache_creation_input_tokens":34,"cache_creation":{"ephemeral_5m_input_tokens":30},"output_tokens":7,"total_tokens":17}`))
	f.Add([]byte(`{"prompt_tokens":10,"completion_tokens":-7,"prompt_tokens_details":{"cached_tokens":1.5}}`))
	f.Add([]byte(`{"inputTokens":1e99,"outputTokens":null}`))
	f.Add([]byte(`{"input_tokens":1,"cached_input_tokens":2,"output_tokens":1099511627776,"reasoning_output_tokens":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for vendor, read := range readers {
			u, err := read("m", text)
			if err != nil && u != (cost.Usage{Model: "m"}) {
				t.Errorf("%s: %+v beside %v", vendor, u, err)
			}
			if err := u.Check(); err != nil {
				t.Errorf("%s: %v", vendor, err)
			}
		}
	})
}
