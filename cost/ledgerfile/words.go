package ledgerfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"aesop/internal/document"
)

// keys are all that a line may have, at the top or in its usage and estimate.
func keys() []string {
	return []string{"schemaVersion", "record", "id", "at", "wave", "item", "attempt", "phase", "backend", "agent", "session", "source", "usage", "summed",
		"service", "verdict", "durationMs", "usd", "prices", "estimate", "model", "input", "cacheRead", "cacheWrite5m", "cacheWrite1h", "output", "reasoning",
		"metered", "tokens"}
}

// inWords says for people who write lines what encoding/json says for programmers.
func inWords(err error) error {
	if err == nil {
		return nil
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		value, _ := strings.CutPrefix(kind.Value, "number ")
		return fmt.Errorf("%s is %s, must be %s", field(kind.Field), article(value), wanted(kind.Type))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("it is no JSON from character %d on", max(1, syntax.Offset))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("it is no whole JSON object")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		if near := document.Nearest(name, keys()); near != "" {
			return fmt.Errorf("no such key %.40q; did you mean %q?", name, near)
		}
		return fmt.Errorf("no such key %.40q; cost export writes those that there are", name)
	}
	if at, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Errorf("at is %.40q, which is no time such as 2026-05-01T12:00:00Z", at.Value)
	}
	if strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return errors.New("at must be a time in a string, such as \"2026-05-01T12:00:00Z\"")
	}
	return err
}

// field is the path of a key without the names of Go's structs, which begin with none of the keys.
func field(path string) string {
	known := map[string]bool{}
	for _, key := range keys() {
		known[key] = true
	}
	var parts []string
	for part := range strings.SplitSeq(path, ".") {
		if known[part] {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "it"
	}
	return strings.Join(parts, ".")
}

func article(value string) string {
	switch value {
	case "string", "number":
		return "a " + value
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	}
	return value
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return "an object"
}
