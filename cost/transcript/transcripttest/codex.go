package transcripttest

import (
	"fmt"
	"path/filepath"

	"aesop/cost"
)

// codex writes a session, and of every fourth a fork too, which goes on from its sums.
func (w *writer) codex(sessions string, n int, totals Totals) error {
	session, sum, err := w.codexSession(sessions, "", cost.Usage{Metered: true}, totals)
	if err == nil && n%4 == 0 {
		_, _, err = w.codexSession(sessions, `"forked_from_id":"`+session+`",`, sum, totals)
	}
	return err
}

func (w *writer) codexSession(sessions, fork string, total cost.Usage, totals Totals) (session string, sum cost.Usage, err error) {
	session = w.id()
	f, err := w.create(filepath.Join(sessions, w.at.Format("2006/01/02"), "rollout-"+w.at.Format("2006-01-02T15-04-05")+"-"+session+".jsonl"))
	if err != nil {
		return "", sum, err
	}
	f.line(`{"timestamp":"%s","type":"session_meta","payload":{"id":"%s",%s"timestamp":"%s","cwd":"/src/project","originator":"codex_exec",`+
		`"cli_version":"0.171.0","source":"exec","model_provider":"openai","base_instructions":{"text":%s}}}`, w.now(), session, fork, w.now(), w.quoted(12000))
	for range 4 + w.rng.IntN(12) {
		model := []string{"gpt-6.2-sol", "gpt-5.3-codex"}[w.rng.IntN(2)]
		f.line(`{"timestamp":"%s","type":"turn_context","payload":{"turn_id":"%s","cwd":"/src/project","approval_policy":"never","model":"%s","summary":"auto"}}`,
			w.now(), w.id(), model)
		f.line(`{"timestamp":"%s","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}}`,
			w.now(), w.quoted(w.size(4000)))
		for range 1 + w.rng.IntN(10) {
			total = total.Add(w.codexAnswer(f, session, model, total, totals))
		}
	}
	return session, total, f.close()
}

// codexAnswer writes what one answer leaves: its parts, the tool's result, and the counts, two or three times.
func (w *writer) codexAnswer(f *file, session, model string, total cost.Usage, totals Totals) cost.Usage {
	f.line(`{"timestamp":"%s","type":"response_item","payload":{"type":"reasoning","summary":[],"content":null,"encrypted_content":"%s"}}`,
		w.now(), w.blob(600+w.rng.IntN(4000)))
	f.line(`{"timestamp":"%s","type":"event_msg","payload":{"type":"agent_message","message":%s}}`, w.now(), w.quoted(w.size(2000)))
	f.line(`{"timestamp":"%s","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":%s,"call_id":"call_%d"}}`,
		w.now(), w.quoted(w.size(3000)), w.ids)
	f.line(`{"timestamp":"%s","type":"response_item","payload":{"type":"function_call_output","call_id":"call_%d","output":%s}}`,
		w.now(), w.ids, w.quoted(w.size(60000)))
	u := cost.Usage{Model: model, Input: int64(1 + w.rng.IntN(3000)), CacheRead: int64(w.rng.IntN(120000)), CacheWrite5m: int64(w.rng.IntN(900)), Output: int64(1 + w.rng.IntN(3000)), Metered: true}
	u.Reasoning = u.Output / 4
	totals.add(u)
	total = total.Add(u)
	f.line(`{"timestamp":"%s","type":"token_usage_record","payload":{"thread_id":"%s","response_id":"resp_%d","usage":%s,"thread_token_usage":%s}}`,
		w.now(), session, w.ids, counts(u), counts(total))
	for range 1 + w.rng.IntN(2) {
		f.line(`{"timestamp":"%s","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":%s,"last_token_usage":%s,"model_context_window":258400},`+
			`"rate_limits":{"primary":{"used_percent":12.0,"window_minutes":300,"resets_in_seconds":9000},"secondary":null}}}`, w.now(), counts(total), counts(u))
	}
	return u
}

// counts are those of u in the program's fields: the input has what was cached, the output what was thought.
func counts(u cost.Usage) string {
	input := u.Input + u.CacheRead + u.CacheWrite5m
	return fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"cache_write_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":%d}`,
		input, u.CacheRead, u.CacheWrite5m, u.Output, u.Reasoning, input+u.Output)
}
