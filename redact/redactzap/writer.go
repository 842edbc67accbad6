package redactzap

import (
	"bytes"
	"encoding/json"

	"go.uber.org/zap/zapcore"

	"aesop/redact"
	"aesop/redact/internal/field"
)

// writer redacts encoded entries, each of which comes in one call: what the encoder added of its own.
type writer struct {
	zapcore.WriteSyncer
	r *redact.Redactor
}

func (w *writer) Write(entry []byte) (int, error) {
	text := bytes.TrimRight(entry, "\r\n")
	if safe := w.r.Bytes(text); !bytes.Equal(safe, text) {
		safe = bytes.Clone(w.line(text, safe))
		if _, err := w.WriteSyncer.Write(append(safe, entry[len(text):]...)); err != nil {
			return 0, err
		}
		return len(entry), nil
	}
	return w.WriteSyncer.Write(entry)
}

// line is safe, or, if safe ceased to be the JSON that text is, text value by value; and if that is not clean, nothing of it.
func (w *writer) line(text, safe []byte) []byte {
	if !json.Valid(text) || json.Valid(safe) {
		return safe
	}
	if rewritten, _, err := field.Rewrite(w.r, "", text); err == nil && bytes.Equal(w.r.Bytes(rewritten), rewritten) {
		return rewritten
	}
	return []byte(`{"msg":"` + redact.Marker + `"}`)
}
