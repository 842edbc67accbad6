//go:build unix

package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/driver/drivertest"
	"aesop/internal/agentproc/agenttest"
)

func TestSuite(t *testing.T) {
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		switch play.Fail {
		case driver.Timeout, driver.Idle, driver.Cancelled:
			t.Skip("not applicable: only the driver itself ends a task so")
		}
		return open(t, agenttest.Program(t, fake(play)))
	})
}

const session = "b08ee51a-7e89-4ad9-8334-080c9491d66b"

const initLine = `{"type":"system","subtype":"init","session_id":"` + session + `"}`

// fake is a claude that plays play.
func fake(play drivertest.Play) agenttest.Fake {
	f := agenttest.Fake{Files: play.Files, Prompt: play.Prompt}
	switch play.Hang {
	case drivertest.Silent:
		f.Hang = true
	case drivertest.Talking:
		f.Talk = assistant("still here")
	}
	result := map[string]any{"type": "result", "subtype": "success", "is_error": false, "result": play.Say, "session_id": session,
		"terminal_reason": "completed", "api_error_status": nil}
	if u := play.Usage; u != nil {
		used := map[string]any{u.Model: map[string]any{"inputTokens": u.Input, "outputTokens": u.Output, "cacheReadInputTokens": u.CacheRead,
			"thinkingTokens": u.Reasoning}}
		result["modelUsage"], result["model_usage_since_last_result"] = used, used
	}
	for key, value := range failures()[play.Fail] {
		f.Exit, result["is_error"], result[key] = 1, true, value
	}
	data, _ := json.Marshal(result)
	f.Out = initLine + "\n"
	if f.Hang || f.Talk != "" {
		return f
	}
	f.Out += string(data) + "\n"
	return f
}

// failures are fields of results that fail so.
func failures() map[driver.Class]map[string]any {
	return map[driver.Class]map[string]any{
		driver.Refused:       {"terminal_reason": "api_error", "stop_reason": "refusal"},
		driver.Truncated:     {"subtype": "error_max_turns", "terminal_reason": "max_turns"},
		driver.RateLimited:   {"terminal_reason": "api_error", "api_error_status": 429},
		driver.Overloaded:    {"terminal_reason": "api_error", "api_error_status": 529},
		driver.Auth:          {"terminal_reason": "api_error", "api_error_status": 401},
		driver.InvalidOutput: {"subtype": "error_max_structured_output_retries", "terminal_reason": "structured_output_retry_exhausted"},
		driver.Crashed:       {"subtype": "error_during_execution"},
	}
}

func assistant(text string) string {
	data, _ := json.Marshal(map[string]any{"type": "assistant", "session_id": session,
		"message": map[string]any{"id": "msg_" + text, "model": "m", "content": []any{map[string]any{"type": "text", "text": text}}}})
	return string(data)
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }
