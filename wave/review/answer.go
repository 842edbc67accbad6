package review

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"aesop/driver"
	"aesop/internal/document"
)

// schema is what agents are asked to keep to, and what their answers are held to.
//
//go:embed answer.schema.json
var schema string

func resolveSchema() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// approve is the verdict that lets a change ship; every other rejects it.
const approve = "approve"

// answer is a judgement as an agent gives it.
type answer struct {
	Verdict    string   `json:"verdict"`
	Evidence   []string `json:"evidence"`
	Confidence float64  `json:"confidence"`
	Summary    string   `json:"summary"`
}

// reason is the answer in words.
func (a answer) reason() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (confidence %.2g)", strings.TrimSpace(a.Summary), a.Confidence)
	for _, e := range a.Evidence {
		fmt.Fprintf(&b, "\n- %s", strings.Join(strings.Fields(e), " "))
	}
	return b.String()
}

var errNoAnswer = errors.New("there is no answer: neither the one that the schema asks for, nor last words that are one object in JSON and nothing else")

// maxAnswer is far above any honest answer, in bytes.
const maxAnswer = 256 << 10

// read takes what the program gave as its answer, or else what its last words hold.
func (r *Reviewer) read(result driver.Result) (answer, error) {
	text := []byte(result.Answer)
	if text == nil {
		text = object(result.Summary)
	}
	switch {
	case text == nil:
		return answer{}, errNoAnswer
	case len(text) > maxAnswer:
		return answer{}, fmt.Errorf("the answer has %d bytes, more than %d", len(text), maxAnswer)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return answer{}, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if err := unambiguous(text); err != nil {
		return answer{}, fmt.Errorf("the answer does not keep to the schema: %w", err)
	}
	if err := r.answers.Validate(value); err != nil {
		return answer{}, fmt.Errorf("the answer does not keep to the schema: %w", err)
	}
	var a answer
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return answer{}, fmt.Errorf("the answer does not keep to the schema: %w", err)
	}
	if strings.TrimSpace(a.Summary) == "" {
		return answer{}, errors.New("the answer's summary is empty")
	}
	for _, e := range a.Evidence {
		if strings.TrimSpace(e) == "" {
			return answer{}, errors.New("the answer has evidence that is empty")
		}
	}
	return a, nil
}

// unambiguous refuses an object that has a key twice, of which readers take either.
func unambiguous(text []byte) error {
	doc, err := document.Parse("answer", text)
	if err != nil {
		return err
	}
	if doc.Root().Kind() != "object" {
		return nil
	}
	_, err = doc.Root().Object()
	return err
}

// fenced is a text that is one code block, as agents write JSON.
var fenced = regexp.MustCompile("(?s)^```(?:json)?[ \t]*\r?\n(.*?)\r?\n?[ \t]*```$")

// object is the JSON object that a text is, with a code block around it or without; nil where it is more, or less. An object beside
// other words may be quoted from the change: it is not looked for, wherever it stands.
func object(text string) []byte {
	text = strings.TrimSpace(text)
	if block := fenced.FindStringSubmatch(text); block != nil {
		text = strings.TrimSpace(block[1])
	}
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return []byte(text)
	}
	return nil
}
