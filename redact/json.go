package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON is a JSON document without secrets: each of its strings, keys too, is judged by itself, and the rest stays, byte for byte. Unlike in
// Bytes, a key does not tell what its value is: keys are words of a program that knows its own, or names that people gave things. In an
// array, what follows a flag is judged as on a command line. What is no JSON is judged as text.
func (r *Redactor) JSON(document []byte) []byte {
	if !json.Valid(document) {
		return r.Bytes(document)
	}
	var out []byte   // nil as long as nothing changed
	var depth []byte // the brackets that are open
	done := 0        // of document, that is in out
	flag := ""       // the string before, where it is one and in an array
	for at := 0; at < len(document); at++ {
		switch c := document[at]; c {
		case '{', '[':
			depth, flag = append(depth, c), ""
		case '}', ']':
			depth, flag = depth[:len(depth)-1], ""
		case '"':
			end := at + stringEnd(document[at:])
			clean, text := r.inString(document[at:end], flag)
			if flag = ""; len(depth) > 0 && depth[len(depth)-1] == '[' && strings.HasPrefix(text, "-") {
				flag = text
			}
			if !bytes.Equal(clean, document[at:end]) {
				out = append(append(out, document[done:at]...), clean...)
				done = end
			}
			at = end - 1
		}
	}
	if out == nil {
		return document
	}
	return append(out, document[done:]...)
}

// inString is a JSON string without secrets, in its quotes, and the text that it stands for. flag is what stands before it, or "".
func (r *Redactor) inString(quoted []byte, flag string) (clean []byte, text string) {
	if err := json.Unmarshal(quoted, &text); err != nil {
		return r.Bytes(quoted), ""
	}
	shown := r.String(text)
	if flag != "" {
		if behind, ok := strings.CutPrefix(r.String(flag+" "+shown), flag+" "); ok {
			shown = behind
		}
	}
	if shown == text {
		return quoted, text
	}
	return []byte(`"` + inJSON(shown, false) + `"`), text
}

// stringEnd is the length of the JSON string that a valid document goes on with.
func stringEnd(document []byte) int {
	for n := 1; n < len(document); n++ {
		switch document[n] {
		case '\\':
			n++
		case '"':
			return n + 1
		}
	}
	return len(document)
}
