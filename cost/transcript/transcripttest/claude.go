package transcripttest

import (
	"fmt"
	"os"
	"path/filepath"

	"aesop/cost"
)

// claude writes a session with its sub-agents, and of every fourth a fork too.
func (w *writer) claude(project string, n int, totals Totals) error {
	session := w.id()
	name := filepath.Join(project, session+".jsonl")
	f, err := w.create(name)
	if err != nil {
		return err
	}
	for turn := range 6 + w.rng.IntN(20) {
		w.claudeTurn(f, session, "", totals)
		if turn == 3 {
			if err := w.subAgent(project, session, totals); err != nil {
				return err
			}
		}
	}
	if err := f.close(); err != nil {
		return err
	}
	if n%4 != 0 {
		return nil
	}
	// A fork begins as a copy of the session under its own name.
	fork := filepath.Join(project, w.id()+".jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	w.written += int64(len(data))
	return os.WriteFile(fork, data, 0o600)
}

func (w *writer) subAgent(project, session string, totals Totals) error {
	agent := fmt.Sprintf("a%016x", w.rng.Uint64())
	f, err := w.create(filepath.Join(project, session, "subagents", "agent-"+agent+".jsonl"))
	if err != nil {
		return err
	}
	for range 2 + w.rng.IntN(4) {
		w.claudeTurn(f, session, agent, totals)
	}
	return f.close()
}

// claudeTurn writes a prompt, and answers with tools until one has none.
func (w *writer) claudeTurn(f *file, session, agent string, totals Totals) {
	head := `"isSidechain":false`
	kind := ""
	if agent != "" {
		head, kind = `"isSidechain":true,"agentId":"`+agent+`"`, `,"attributionAgent":"general-purpose"`
	}
	tail := `"userType":"external","entrypoint":"cli","cwd":"/src/project","sessionId":"` + session + `","version":"2.1.332","gitBranch":"main"}`
	f.line(`{"parentUuid":null,%s,"promptId":"%s","type":"user","message":{"role":"user","content":%s},"uuid":"%s","timestamp":"%s",%s`,
		head, w.id(), w.quoted(w.size(4000)), w.id(), w.now(), tail)
	f.line(`{"parentUuid":"%s",%s,"attachment":{"type":"skill_listing","content":%s},"type":"attachment","uuid":"%s","timestamp":"%s",%s`,
		w.id(), head, w.quoted(w.size(16000)), w.id(), w.now(), tail)
	model := []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"}[w.rng.IntN(4)]
	for range 1 + w.rng.IntN(8) {
		w.claudeAnswer(f, head, kind, tail, model, totals)
		f.line(`{"parentUuid":"%s",%s,"promptId":"%s","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result",`+
			`"content":%s,"is_error":false}]},"uuid":"%s","timestamp":"%s","toolUseResult":{"stdout":%s,"stderr":"","interrupted":false},%s`,
			w.id(), head, w.id(), w.ids, w.quoted(w.size(60000)), w.id(), w.now(), w.quoted(w.size(60000)), tail)
	}
	f.line(`{"type":"last-prompt","lastPrompt":"go on","leafUuid":"%s","sessionId":"%s"}`, w.id(), session)
}

// claudeAnswer writes one answer of a model as a line for each of its parts. What it wrote is known at the end only.
func (w *writer) claudeAnswer(f *file, head, kind, tail, model string, totals Totals) {
	u := cost.Usage{Model: model, Input: int64(w.rng.IntN(200)), CacheRead: int64(w.rng.IntN(150000)), CacheWrite5m: int64(w.rng.IntN(3000)),
		CacheWrite1h: int64(w.rng.IntN(2) * w.rng.IntN(9000)), Output: int64(2 + w.rng.IntN(4000)), Metered: true}
	u.Reasoning = u.Output / 3
	totals.add(u)
	message, request := "msg_"+w.id(), "req_"+w.id()
	parts := []string{
		fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":"%s"}`, w.quoted(w.size(3000)), w.blob(400+w.rng.IntN(2000))),
		fmt.Sprintf(`{"type":"text","text":%s}`, w.quoted(w.size(4000))),
		fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"Edit","input":{"file_path":"/src/project/file.go","old_string":%s,"new_string":%s}}`,
			w.ids, w.quoted(w.size(6000)), w.quoted(w.size(6000))),
	}[w.rng.IntN(3):]
	for n, part := range parts {
		output, thoughts, stop := u.Output, u.Reasoning, `"tool_use"`
		if n < len(parts)-1 {
			output, thoughts, stop = 1, 0, "null"
		}
		f.line(`{"parentUuid":"%s",%s,"message":{"model":"%s","id":"%s","type":"message","role":"assistant","content":[%s],"stop_reason":%s,`+
			`"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,`+
			`"output_tokens_details":{"thinking_tokens":%d},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard",`+
			`"cache_creation":{"ephemeral_1h_input_tokens":%d,"ephemeral_5m_input_tokens":%d},"inference_geo":"","iterations":[],"speed":"standard"}},`+
			`"requestId":"%s","apiBlockIndex":%d%s,"type":"assistant","uuid":"%s","timestamp":"%s",%s`,
			w.id(), head, model, message, part, stop, u.Input, u.CacheWrite5m+u.CacheWrite1h, u.CacheRead, output, thoughts,
			u.CacheWrite1h, u.CacheWrite5m, request, n, kind, w.id(), w.now(), tail)
	}
}
