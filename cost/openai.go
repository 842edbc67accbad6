package cost

// OpenAIChat reads the usage object of OpenAI's Chat Completions API and of servers compatible with it, as JSON. What was
// read from or written to a cache is part of its prompt_tokens, reasoning is part of its completion_tokens. Some compatible
// servers count reasoning beside completion_tokens: total_tokens tells which it is. An object that is absent or null, or
// lacks prompt_tokens or completion_tokens, is unmetered, with what it has; so is one with tokens of audio, which have prices of
// their own. One that cannot be, or whose parts do not make its total, is an error.
func OpenAIChat(model string, usage []byte) (Usage, error) {
	return readObject("openai chat", usage).withinInput(model, withinNames{
		input: "prompt_tokens", output: "completion_tokens", total: "total_tokens",
		read: []string{"prompt_tokens_details", "cached_tokens"}, write: []string{"prompt_tokens_details", "cache_write_tokens"},
		reasoning: []string{"completion_tokens_details", "reasoning_tokens"},
		audio:     [][]string{{"prompt_tokens_details", "audio_tokens"}, {"completion_tokens_details", "audio_tokens"}},
	})
}

// OpenAIResponses reads the usage object of OpenAI's Responses API, as OpenAIChat does the other's.
func OpenAIResponses(model string, usage []byte) (Usage, error) {
	return readObject("openai responses", usage).withinInput(model, withinNames{
		input: "input_tokens", output: "output_tokens", total: "total_tokens",
		read: []string{"input_tokens_details", "cached_tokens"}, write: []string{"input_tokens_details", "cache_write_tokens"},
		reasoning: []string{"output_tokens_details", "reasoning_tokens"},
	})
}

// Codex reads the usage object of codex's turn.completed, which counts from the begin of the thread: see Cumulative. Its
// meaning is that of OpenAIResponses.
func Codex(model string, usage []byte) (Usage, error) {
	return readObject("codex", usage).withinInput(model, withinNames{
		input: "input_tokens", output: "output_tokens", total: "total_tokens",
		read: []string{"cached_input_tokens"}, write: []string{"cache_write_input_tokens"}, reasoning: []string{"reasoning_output_tokens"},
	})
}

type withinNames struct {
	input, output, total   string
	read, write, reasoning []string
	audio                  [][]string
}

func (o *object) withinInput(model string, names withinNames) (Usage, error) {
	u := Usage{Model: model}
	prompt, input := o.count(names.input)
	var output bool
	u.Output, output = o.count(names.output)
	u.CacheRead, _ = o.count(names.read...)
	u.CacheWrite5m, _ = o.count(names.write...) // OpenAI names no lifetimes here; the shortest that is sold is the usual one
	u.Reasoning, _ = o.count(names.reasoning...)
	u.Input = prompt - u.CacheRead - u.CacheWrite5m
	switch total, known := o.count(names.total); {
	case !known || !input || !output || total == prompt+u.Output:
	case total == prompt+u.Output+u.Reasoning:
		u.Output += u.Reasoning
	default:
		o.fail("%d tokens of input and %d of output make no total of %d", prompt, u.Output, total)
	}
	switch {
	case !input:
		u.Input = 0
	case u.Input < 0:
		o.fail("%d tokens were read from and %d written to caches, of an input of %d", u.CacheRead, u.CacheWrite5m, prompt)
	}
	for _, name := range names.audio {
		if n, _ := o.count(name...); n > 0 {
			input = false
		}
	}
	return o.usage(u, input, output)
}
