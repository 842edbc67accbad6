//go:build unix

package codex_test

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
		case driver.InvalidOutput:
			t.Skip("not applicable: only an answer to a schema can be invalid")
		}
		return open(t, agenttest.Program(t, fake(play)))
	})
}

const thread = "01a22b44-f8fc-7d02-994f-27f8972670ed"

const (
	started     = `{"type":"thread.started","thread_id":"` + thread + `"}`
	turnStarted = `{"type":"turn.started"}`
)

// fake is a codex that plays play.
func fake(play drivertest.Play) agenttest.Fake {
	f := agenttest.Fake{Files: play.Files, Prompt: play.Prompt, Out: lines(started, turnStarted)}
	switch play.Hang {
	case drivertest.Silent:
		f.Hang = true
		return f
	case drivertest.Talking:
		f.Talk = said("still here")
		return f
	}
	if play.Say != "" {
		f.Out += lines(said(play.Say))
	}
	completed := map[string]any{"type": "turn.completed"}
	if u := play.Usage; u != nil {
		completed["usage"] = map[string]any{"input_tokens": u.Input + u.CacheRead, "cached_input_tokens": u.CacheRead,
			"output_tokens": u.Output, "reasoning_output_tokens": u.Reasoning}
	}
	data, _ := json.Marshal(completed)
	switch play.Fail {
	case "":
		f.Out += lines(string(data))
	case driver.Crashed: // after its work, so that the usage is known
		f.Out += lines(string(data))
		f.Exit = 3
	default:
		f.Out += lines(failed(failures()[play.Fail]))
		f.Exit = 1
	}
	return f
}

// failures are texts of turns that fail so.
func failures() map[driver.Class]string {
	return map[driver.Class]string{
		driver.Refused:     "stream disconnected before completion: Incomplete response returned, reason: content_filter",
		driver.Truncated:   "Incomplete response returned, reason: max_output_tokens",
		driver.RateLimited: "exceeded retry limit, last status: 429 Too Many Requests",
		driver.Overloaded:  "We’re currently experiencing high demand, which may cause temporary errors.",
		driver.Auth:        "unexpected status 401 Unauthorized: no, url: http://localhost/v1/responses",
	}
}

func said(text string) string {
	data, _ := json.Marshal(map[string]any{"type": "item.completed", "item": map[string]any{"id": "item_1", "type": "agent_message", "text": text}})
	return string(data)
}

func failed(text string) string {
	data, _ := json.Marshal(map[string]any{"type": "turn.failed", "error": map[string]any{"message": text}})
	return string(data)
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }
