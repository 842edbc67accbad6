package codex

import (
	"encoding/json"

	"aesop/cost"
	"aesop/internal/agentproc"
)

// session is what Result.Session holds.
type session struct {
	Thread string     `json:"thread"`
	Used   cost.Usage `json:"used,omitzero"` // counted by earlier runs
}

// parseSession reads a session; one that makes no sense is none.
func parseSession(text string) session {
	var s session
	if json.Unmarshal([]byte(text), &s) != nil || !agentproc.IsSessionID(s.Thread) || s.Used.Check() != nil {
		return session{}
	}
	return s
}

func (s session) String() string {
	if s.Thread == "" {
		return ""
	}
	text, _ := json.Marshal(s)
	return string(text)
}

// usage is what codex counted in a thread. Input includes what a cache had or got, output includes reasoning.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_output_tokens"`
}

func (u usage) classes() cost.Usage {
	return cost.Usage{Input: max(0, u.Input-u.Cached-u.CacheWrite), CacheRead: u.Cached, CacheWrite5m: u.CacheWrite, Output: u.Output,
		Reasoning: min(u.Reasoning, u.Output), Metered: true}
}

// since is what was used after before. A count that went down began anew, so that all of it is new.
func since(before, total cost.Usage) cost.Usage {
	if !before.Metered {
		return total
	}
	d := cost.Usage{Model: total.Model, Input: total.Input - before.Input, CacheRead: total.CacheRead - before.CacheRead,
		CacheWrite5m: total.CacheWrite5m - before.CacheWrite5m, Output: total.Output - before.Output,
		Reasoning: total.Reasoning - before.Reasoning, Metered: true}
	if min(d.Input, d.CacheRead, d.CacheWrite5m, d.Output, d.Reasoning) < 0 {
		return total
	}
	return d
}
