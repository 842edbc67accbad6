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
