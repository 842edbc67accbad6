package redactslog

import (
	"encoding"
	"encoding/json"
	"fmt"

	"aesop/redact"
	"aesop/redact/internal/field"
)

// rendered prints and marshals to what a value did. Handlers that know neither way print it with fmt.
type rendered struct{ text, json string }

func (r rendered) String() string               { return r.text }
func (r rendered) MarshalText() ([]byte, error) { return []byte(r.text), nil }
func (r rendered) MarshalJSON() ([]byte, error) { return []byte(r.json), nil }

// render does to value what the handlers of slog do, as text and as JSON.
func render(r *redact.Redactor, key string, value any) (out rendered) {
	defer func() {
		if panicked := recover(); panicked != nil { // in a method of value, which logging survives elsewhere too
			out.text = r.String(fmt.Sprintf("!PANIC: %v", panicked))
			out.json = string(field.Quote(out.text))
		}
	}()
	plain := printed(value)
	out.text = field.Text(r, key, plain)
	if err, ok := value.(error); ok {
		if _, own := value.(json.Marshaler); !own {
			out.json = string(field.Quote(field.Text(r, key, err.Error())))
			return out
		}
	}
	safe, found, err := field.JSON(r, key, value)
	if err != nil { // a channel, a function, a cycle
		safe = field.Quote(r.String("!ERROR:" + err.Error()))
	}
	out.json = string(safe)
	if found && (out.json[0] == '{' || out.json[0] == '[' || out.text == plain) {
		out.text = out.json // names belong to their values there for certain, and escapes are none
	}
	return out
}

// printed is value as slog.TextHandler prints it.
func printed(value any) string {
	switch value := value.(type) {
	case encoding.TextMarshaler:
		if text, err := value.MarshalText(); err == nil {
			return string(text)
		}
	case []byte:
		return string(value)
	case json.RawMessage:
		return string(value) // slog prints the numbers of its bytes, which nobody reads, and which hide what it says
	}
	return fmt.Sprintf("%+v", value)
}
