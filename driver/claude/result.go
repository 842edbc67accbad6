package claude

import (
	"cmp"
	"encoding/json"
	"strings"

	"aesop/cost"
	"aesop/driver"
	"aesop/internal/agentproc"
)

// result is the line that ends a turn.
type result struct {
	Subtype        string          `json:"subtype"`
	IsError        bool            `json:"is_error"`
	Result         string          `json:"result"`
	Errors         []string        `json:"errors"`
	StopReason     string          `json:"stop_reason"`
	TerminalReason string          `json:"terminal_reason"`
	Status         *int            `json:"api_error_status"`
	Structured     json.RawMessage `json:"structured_output"`
	ModelUsage     counts          `json:"modelUsage"`
	Since          counts          `json:"model_usage_since_last_result"`
	Usage          served          `json:"usage"`
}

// served is how the requests of a turn were served.
type served struct {
	Speed string `json:"speed"`
	Tier  string `json:"service_tier"`
	Geo   string `json:"inference_geo"`
}

// service is what that is called where it has a price of its own; "" is the standard one.
func (s served) service() string {
	if s.Geo == "us" {
		return s.Geo
	}
	for _, word := range []string{s.Speed, s.Tier} {
		if word != "" && word != "standard" {
			return word
		}
	}
	return ""
}

// end reads the line of a result. modelUsage counts from the begin of the session, also over a resume, so it says what this
// run used only where the session began with it; model_usage_since_last_result says it always, but not in old versions.
func (t *talk) end(line []byte) {
	r := &result{}
	if err := json.Unmarshal(line, r); err != nil {
		r = &result{IsError: true, Result: "its result cannot be read: " + err.Error()}
	}
	first := t.result == nil
	t.result, t.done = r, true
	switch {
	case r.Since != nil:
		if first {
			t.sum, t.counted = map[string]cost.Usage{}, true
		}
		t.counted = r.Since.addTo(t.sum) == nil && t.counted
	case r.ModelUsage != nil && !t.resumed:
		t.sum = map[string]cost.Usage{}
		t.counted = r.ModelUsage.addTo(t.sum) == nil
	default:
		t.counted = false
	}
}

// Said is the result by the last line of a result; the calls that were seen stand in for counts that it does not give.
func (t *talk) Said() (driver.Result, error) {
	out := driver.Result{Session: t.session, SessionID: t.session, Summary: t.words, Calls: t.calls.all()}
	r := t.result
	if r == nil {
		return out, &driver.Error{Class: driver.Crashed, Message: "no result"}
	}
	if r.Result != "" && !r.IsError {
		out.Summary = r.Result
	}
	if len(r.Structured) > 0 && string(r.Structured) != "null" {
		out.Answer = r.Structured
	}
	out.Service = r.Usage.service()
	err := t.failure(r)
	if t.counted {
		out.Calls = byModel(t.sum)
		out.Metered = !t.lost && !t.calls.cut() && !(err != nil && err.Class == driver.Overloaded && r.Status == nil)
	}
	if err != nil {
		return out, err
	}
	if t.task.Schema != nil && out.Answer == nil {
		return out, &driver.Error{Class: driver.InvalidOutput, Message: "the agent gave no answer in the form of the schema"}
	}
	return out, nil
}

// failure is the error that a result tells; subtype is no sign, for it is success beside most errors.
func (t *talk) failure(r *result) *driver.Error {
	if !r.IsError && !strings.HasPrefix(r.TerminalReason, "aborted_") {
		return nil
	}
	e := &driver.Error{Class: r.class(), Message: r.message()}
	switch e.Class {
	case driver.Auth:
		e.Message += "; log in with claude and /login, or set ANTHROPIC_API_KEY"
	case driver.RateLimited, driver.Overloaded:
		e.RetryAfter = t.retryAfter
	}
	return e
}

func (r *result) message() string {
	text := r.Result
	if text == "" {
		text = strings.Join(r.Errors, "; ")
	}
	if text == "" {
		text = strings.TrimSpace(r.Subtype + " " + r.TerminalReason)
	}
	return agentproc.Shorten(text)
}

func (r *result) class() driver.Class {
	candidates := []driver.Class{ofReason(r.StopReason), ofReason(r.TerminalReason), ofReason(r.Subtype), ofWords(r.message())}
	if r.Status != nil {
		candidates = append([]driver.Class{ofStatus(*r.Status)}, candidates[:3]...)
	}
	return cmp.Or(append(candidates, driver.Crashed)...)
}

// ofStatus is the class of an HTTP status of the API; "" where the status alone does not say.
func ofStatus(status int) driver.Class {
	switch {
	case status == 401 || status == 403:
		return driver.Auth
	case status == 402 || status == 429: // 402: the credit is used up, which is as little the item's fault as a limit
		return driver.RateLimited
	case status == 408 || status >= 500:
		return driver.Overloaded
	}
	return ""
}

// ofReason is the class of a stop reason, terminal reason or subtype; "" for one that names none.
func ofReason(reason string) driver.Class {
	switch reason {
	case "refusal":
		return driver.Refused
	case "max_tokens", "model_context_window_exceeded", "prompt_too_long", "blocking_limit", "max_turns", "error_max_turns",
		"budget_exhausted", "error_max_budget_usd":
		return driver.Truncated
	case "structured_output_retry_exhausted", "error_max_structured_output_retries", "malformed_tool_use_exhausted":
		return driver.InvalidOutput
	}
	return ""
}

// ofWords is the class of an error that only its text tells.
func ofWords(text string) driver.Class {
	for _, known := range []struct {
		part  string
		class driver.Class
	}{
		{"Not logged in", driver.Auth},
		{"/login", driver.Auth},
		{"Invalid API key", driver.Auth},
		{"output token maximum", driver.Truncated},
		{"usage limit", driver.RateLimited},
		{"timed out", driver.Overloaded}, // no answer came, which is no fault of the item's
		{"onnection", driver.Overloaded},
	} {
		if strings.Contains(text, known.part) {
			return known.class
		}
	}
	return ""
}
