package codex

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"aesop/driver"
	"aesop/internal/agentproc"
)

// failure is the error of a failed turn. Codex says no code, only a text that differs by the transport and the kind of failure.
func failure(text string) *driver.Error {
	var body struct {
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(text), &body) == nil && body.Error.Message != "" { // the answer to a bad request, as it came
		text = strings.TrimSpace(body.Error.Message + " (" + body.Error.Code + ")")
	}
	if text == "" {
		text = "the turn failed"
	}
	e := &driver.Error{Class: classOf(text), Message: agentproc.Shorten(text)}
	switch e.Class {
	case driver.Auth:
		e.Message += "; log in with codex login, or set CODEX_API_KEY"
	case driver.RateLimited, driver.Overloaded:
		e.RetryAfter = retryAfter(text)
	}
	return e
}

// status finds an HTTP status in a text.
var status = regexp.MustCompile(`(?:unexpected|last) status:? (\d{3})`)

func classOf(text string) driver.Class {
	if match := status.FindStringSubmatch(text); match != nil {
		code, _ := strconv.Atoi(match[1])
		switch {
		case code == 401 || code == 403:
			return driver.Auth
		case code == 402 || code == 429:
			return driver.RateLimited
		case code == 408 || code >= 500:
			return driver.Overloaded
		}
		return driver.Crashed
	}
	lower := strings.ToLower(text)
	for _, known := range []struct {
		part  string
		class driver.Class
	}{
		{"reason: content_filter", driver.Refused},
		{"invalid_prompt", driver.Refused},
		{"reason: max_output_tokens", driver.Truncated},
		{"context window", driver.Truncated},
		{"usage limit", driver.RateLimited},
		{"rate limit", driver.RateLimited},
		{"quota exceeded", driver.RateLimited},
		{"out of credits", driver.RateLimited},
		{"high demand", driver.Overloaded},
		{"high load", driver.Overloaded},
		{"at capacity", driver.Overloaded},
		{"stream disconnected", driver.Overloaded}, // the network or the service; no fault of the item's
		{"connection failed", driver.Overloaded},
		{"error sending request", driver.Overloaded},
		{"timed out", driver.Overloaded},
		{"missing environment variable", driver.Auth},
		{"not logged in", driver.Auth},
		{"log in again", driver.Auth},
		{"sign in again", driver.Auth},
	} {
		if strings.Contains(lower, known.part) {
			return known.class
		}
	}
	return driver.Crashed
}

// again finds how long a limit lasts.
var again = regexp.MustCompile(`(?i)try again in\s*(\d+(?:\.\d+)?)\s*(ms|s|seconds?|m|minutes?|h|hours?|days?)\b`)

func retryAfter(text string) time.Duration {
	match := again.FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	count, err := strconv.ParseFloat(match[1], 64)
	if err != nil || count > 1e6 {
		return 0
	}
	unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	name := strings.ToLower(match[2])
	if name != "ms" {
		name = name[:1]
	}
	return time.Duration(count * float64(unit[name]))
}
