package field

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"aesop/redact"
)

// JSON is what value, which stands under key, marshals to, without secrets: they are looked for in its strings and keys as they are
// before they are escaped. It is one line. Found says that there were any.
func JSON(r *redact.Redactor, key string, value any) (safe []byte, found bool, err error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, false, err
	}
	return Rewrite(r, key, text.Bytes())
}

// Quote is text as JSON.
func Quote(text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string has JSON, and a buffer takes it
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Rewrite does the same to a text that is JSON.
func Rewrite(r *redact.Redactor, key string, text []byte) (safe []byte, found bool, err error) {
	w := rewriter{r: r, from: json.NewDecoder(bytes.NewReader(text))}
	w.from.UseNumber()
	if err := w.value(key); err != nil {
		return nil, false, err
	}
	if _, err := w.from.Token(); err != io.EOF {
		return nil, false, errors.New("more than one JSON value")
	}
	if !w.found {
		return bytes.TrimSpace(text), false, nil
	}
	return w.to, true, nil
}

type rewriter struct {
	r     *redact.Redactor
	from  *json.Decoder
	to    []byte
	found bool
}

func (w *rewriter) value(key string) error {
	if redact.SecretName(key) {
		return w.hidden()
	}
	token, err := w.from.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		return w.composite(key, token)
	case string:
		w.quote(Text(w.r, key, token), token)
	case json.Number:
		if safe := Text(w.r, key, token.String()); safe != token.String() {
			w.quote(safe, token.String())
		} else {
			w.to = append(w.to, safe...)
		}
	case bool:
		if token {
			w.to = append(w.to, "true"...)
		} else {
			w.to = append(w.to, "false"...)
		}
	case nil:
		w.to = append(w.to, "null"...)
	}
	return nil
}

// composite rewrites an object, or an array, whose elements stand under its key.
func (w *rewriter) composite(key string, open json.Delim) error {
	w.to = append(w.to, byte(open))
	for n := 0; w.from.More(); n++ {
		if n > 0 {
			w.to = append(w.to, ',')
		}
		under := key
		if open == '{' {
			token, err := w.from.Token()
			if err != nil {
				return err
			}
			under, _ = token.(string)
			w.quote(w.r.String(under), under)
			w.to = append(w.to, ':')
		}
		if err := w.value(under); err != nil {
			return err
		}
	}
	end, err := w.from.Token()
	if err != nil {
		return err
	}
	w.to = append(w.to, byte(end.(json.Delim)))
	return nil
}

// hidden puts the marker for whatever comes, unless that says nothing.
func (w *rewriter) hidden() error {
	var raw json.RawMessage
	if err := w.from.Decode(&raw); err != nil {
		return err
	}
	switch string(raw) {
	case "null", "true", "false", `""`, "{}", "[]":
		w.to = append(w.to, raw...)
	default:
		w.quote(redact.Marker, "")
	}
	return nil
}

// quote writes what stands for was.
func (w *rewriter) quote(text, was string) {
	w.to = append(w.to, Quote(text)...)
	w.found = w.found || text != was
}
