package modelserver

import (
	"encoding/json"
	"fmt"
)

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) conversation() string { return "messages" }

func (anthropic) failure(status int, message string) any {
	kind, ok := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error"}[status]
	if !ok {
		kind = "api_error"
	}
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

func (d anthropic) answer(a *answer) {
	if !a.stream {
		d.whole(a)
		return
	}
	message := d.message(a)
	message["content"], message["stop_reason"] = []any{}, nil
	message["usage"] = d.usage(a, 1) // as the real one: the output is counted at the end only
	a.event("message_start", map[string]any{"message": message})
	index := 0
	if a.Text != "" {
		a.event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "text", "text": ""}})
		a.event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "text_delta", "text": a.Text}})
		if a.interrupted() {
			return
		}
		a.event("content_block_stop", map[string]any{"index": index})
		index++
	} else if a.interrupted() {
		return
	}
	for n, call := range a.Calls {
		input, _ := json.Marshal(call.Input)
		a.event("content_block_start", map[string]any{"index": index + n, "content_block": d.call(a, n, map[string]any{})})
		a.event("content_block_delta", map[string]any{"index": index + n,
			"delta": map[string]any{"type": "input_json_delta", "partial_json": string(input)}})
		a.event("content_block_stop", map[string]any{"index": index + n})
	}
	a.served()
	a.event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": d.stop(a), "stop_sequence": nil},
		"usage": d.usage(a, a.Usage.Output)})
	a.event("message_stop", map[string]any{})
}

// whole answers a request that wants no stream.
func (d anthropic) whole(a *answer) {
	if a.interrupted() {
		return
	}
	a.served()
	reply(a.w, 200, d.message(a))
}

func (d anthropic) message(a *answer) map[string]any {
	content := []any{}
	if a.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": a.Text})
	}
	for n, call := range a.Calls {
		content = append(content, d.call(a, n, call.Input))
	}
	return map[string]any{"id": fmt.Sprintf("msg_%d", a.number), "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": d.stop(a), "stop_sequence": nil, "usage": d.usage(a, a.Usage.Output)}
}

func (anthropic) call(a *answer, n int, input any) map[string]any {
	return map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", a.number, n), "name": a.Calls[n].Name, "input": input}
}

func (anthropic) stop(a *answer) string {
	switch {
	case a.Stop == Refusal:
		return "refusal"
	case a.Stop == Limit:
		return "max_tokens"
	case len(a.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// usage says the counts in the vendor's fields: input excludes what a cache had or got, output includes reasoning.
func (anthropic) usage(a *answer, output int64) map[string]any {
	u := a.Usage
	return map[string]any{
		"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite5m + u.CacheWrite1h,
		"cache_creation": map[string]any{"ephemeral_5m_input_tokens": u.CacheWrite5m, "ephemeral_1h_input_tokens": u.CacheWrite1h},
		"output_tokens":  output, "output_tokens_details": map[string]any{"thinking_tokens": min(u.Reasoning, output)},
		"service_tier": "standard",
	}
}
