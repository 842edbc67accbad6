// Package field takes secrets out of a value that has a name: in a log, a header, a query. What the name says counts too.
package field

import (
	"strings"

	"aesop/redact"
)

// Text is value, which stands under key, without secrets.
func Text(r *redact.Redactor, key, value string) string {
	if value == "" {
		return value
	}
	if redact.SecretName(key) {
		return redact.Marker
	}
	value = r.String(value)
	if key == "" {
		return value
	}
	// Some rules know a value by its name. A match that takes part of the key is one of the two by accident.
	if under, ok := strings.CutPrefix(r.String(key+"="+value), key+"="); ok {
		return under
	}
	return value
}
