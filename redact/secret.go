package redact

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that shows only when it is asked to: Marker is what it prints with every verb of fmt, logs, and marshals to as text,
// as JSON, as XML and as bytes, also deep in what prints or marshals. database/sql refuses it. It cannot be unmarshalled.
//
// The zero value is the empty secret. Two secrets are the same key of a map only if one is a copy of the other; Equal compares values.
type Secret struct {
	// A pointer to a function: what reads fields by reflection, as fmt does those that are not exported, sees addresses.
	value *func() string
}

// NewSecret wraps value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	reveal := func() string { return value }
	return Secret{&reveal}
}

// Reveal is the value.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return (*s.value)()
}

// Equal says whether both values are the same. How long it takes says no more than whether they are of the same length.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String is Marker.
func (s Secret) String() string { return Marker }

// GoString is Marker.
func (s Secret) GoString() string { return Marker }

// Format writes Marker, whatever the verb.
func (s Secret) Format(f fmt.State, verb rune) { _, _ = io.WriteString(f, Marker) }

// LogValue is Marker.
func (s Secret) LogValue() slog.Value { return slog.StringValue(Marker) }

// MarshalText gives Marker. JSON and XML use it, for keys of maps too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Marker), nil }

// MarshalBinary gives Marker. Package gob uses it.
func (s Secret) MarshalBinary() ([]byte, error) { return []byte(Marker), nil }
