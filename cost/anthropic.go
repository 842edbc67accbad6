package cost

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Anthropic reads the usage object of Anthropic's Messages API, as JSON. What was read from or written to a cache stands
// beside its input_tokens, and thinking is part of its output_tokens. Writes are taken to last 5 minutes but for those that
// it says last an hour. An object that is absent or null, or lacks input_tokens or output_tokens, is unmetered, with what it
// has; one that cannot be is an error. A server that knows no cache leaves those counts out, and they are 0.
//
// Where the service compacted the conversation on the way, only the iterations count that, so it is added. What an iteration
// of another kind used, such as an advisor's, is another model's: then the usage is unmetered, with its own model's part.
func Anthropic(model string, usage []byte) (Usage, error) {
	u, err := anthropic(model, usage)
	if err != nil {
		return u, err
	}
	var inner struct {
		Iterations []json.RawMessage `json:"iterations"`
	}
	if json.Unmarshal(usage, &inner) != nil && len(usage) > 0 {
		return Usage{Model: model}, errors.New("anthropic usage: iterations is not a list")
	}
	for _, text := range inner.Iterations {
		var kind struct {
			Type string `json:"type"`
		}
		switch _ = json.Unmarshal(text, &kind); kind.Type { // what is no object has no kind
		case "message":
		case "compaction":
			more, err := anthropic(model, text)
			if err != nil {
				return Usage{Model: model}, fmt.Errorf("compaction: %w", err)
			}
			u = u.Add(more)
		default:
			u.Metered = false
		}
	}
	if err := u.Check(); err != nil {
		return Usage{Model: model}, fmt.Errorf("anthropic %w", err)
	}
	return u, nil
}

// anthropic is Anthropic without what only iterations count.
func anthropic(model string, usage []byte) (Usage, error) {
	o := readObject("anthropic", usage)
	return o.besideCache(model, besideNames{
		input: "input_tokens", read: "cache_read_input_tokens", creation: "cache_creation_input_tokens", output: "output_tokens",
		fiveMinutes: []string{"cache_creation", "ephemeral_5m_input_tokens"},
		oneHour:     []string{"cache_creation", "ephemeral_1h_input_tokens"},
		thinking:    []string{"output_tokens_details", "thinking_tokens"},
	})
}

// ClaudeModel reads what claude says of one model in the modelUsage of its result: the sum of that model's calls, with the
// same meaning as Anthropic's fields under other names.
func ClaudeModel(model string, usage []byte) (Usage, error) {
	o := readObject("claude", usage)
	return o.besideCache(model, besideNames{
		input: "inputTokens", read: "cacheReadInputTokens", creation: "cacheCreationInputTokens", output: "outputTokens",
		fiveMinutes: []string{"cacheCreationEphemeral5mInputTokens"}, oneHour: []string{"cacheCreationEphemeral1hInputTokens"},
		thinking: []string{"thinkingTokens"},
	})
}

type besideNames struct {
	input, read, creation, output  string
	fiveMinutes, oneHour, thinking []string
}

func (o *object) besideCache(model string, names besideNames) (Usage, error) {
	u := Usage{Model: model}
	var input, output bool
	u.Input, input = o.count(names.input)
	u.Output, output = o.count(names.output)
	u.CacheRead, _ = o.count(names.read)
	u.Reasoning, _ = o.count(names.thinking...)
	u.CacheWrite1h, _ = o.count(names.oneHour...)
	creation, total := o.count(names.creation)
	fiveMinutes, split := o.count(names.fiveMinutes...)
	switch {
	case !total:
		u.CacheWrite5m = fiveMinutes
	case u.CacheWrite1h > creation, split && fiveMinutes+u.CacheWrite1h != creation:
		o.fail("%d tokens were written to caches, but %d for 5 minutes and %d for an hour", creation, fiveMinutes, u.CacheWrite1h)
	default:
		u.CacheWrite5m = creation - u.CacheWrite1h
	}
	return o.usage(u, input, output)
}
