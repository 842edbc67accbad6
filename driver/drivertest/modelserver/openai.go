package modelserver

import (
	"encoding/json"
	"fmt"
)

// openai is the Responses API.
type openai struct{}

func (openai) conversation() string { return "input" }

func (openai) failure(status int, message string) any {
	kind, ok := map[int]string{400: "invalid_request_error", 401: "invalid_request_error", 429: "rate_limit_exceeded",
		503: "server_is_overloaded"}[status]
	if !ok {
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "code": kind, "param": nil}}
}

func (d openai) answer(a *answer) {
	if !a.stream {
		if !a.interrupted() {
			a.served()
			reply(a.w, 200, d.response(a, "completed"))
		}
		return
	}
	a.event("response.created", map[string]any{"response": d.response(a, "in_progress")})
	for n, item := range d.items(a) {
		a.event("response.output_item.added", map[string]any{"output_index": n, "item": item})
		if n == 0 && a.Text != "" {
			a.event("response.output_text.delta", map[string]any{"output_index": n, "content_index": 0, "delta": a.Text})
		}
		if n == 0 && a.interrupted() {
			return
		}
		a.event("response.output_item.done", map[string]any{"output_index": n, "item": item})
	}
	if a.interrupted() {
		return
	}
	a.served()
	switch a.Stop {
	case Limit, Refusal:
		response := d.response(a, "incomplete")
		response["incomplete_details"] = map[string]any{"reason": map[Stop]string{Limit: "max_output_tokens", Refusal: "content_filter"}[a.Stop]}
		a.event("response.incomplete", map[string]any{"response": response})
	default:
		a.event("response.completed", map[string]any{"response": d.response(a, "completed")})
	}
}

func (d openai) response(a *answer, status string) map[string]any {
	response := map[string]any{"id": fmt.Sprintf("resp_%d", a.number), "object": "response", "model": a.model, "status": status, "output": []any{}}
	if status != "in_progress" {
		response["output"], response["usage"] = d.items(a), d.usage(a)
	}
	return response
}

func (openai) items(a *answer) []any {
	items := []any{}
	if a.Text != "" {
		items = append(items, map[string]any{"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", a.number),
			"content": []any{map[string]any{"type": "output_text", "text": a.Text, "annotations": []any{}}}})
	}
	for n, call := range a.Calls {
		input, _ := json.Marshal(call.Input)
		items = append(items, map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", a.number, n),
			"call_id": fmt.Sprintf("call_%d_%d", a.number, n), "name": call.Name, "arguments": string(input)})
	}
	return items
}

// usage says the counts in the vendor's fields: input includes what a cache had or got, output includes reasoning.
func (openai) usage(a *answer) map[string]any {
	u := a.Usage
	input := u.Tokens() - u.Output
	return map[string]any{
		"input_tokens":         input,
		"input_tokens_details": map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite5m + u.CacheWrite1h},
		"output_tokens":        u.Output, "output_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
		"total_tokens": input + u.Output,
	}
}
