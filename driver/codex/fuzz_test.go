package codex

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aesop/driver"
)

// FuzzOutput: whatever a program prints, what it comes to can be stored, is no answer where a schema was asked for and none was
// given, and continues from a session that is read again as it was written.
func FuzzOutput(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "")
	}
	f.Add([]byte(`{"type":"turn.completed","usage":{"input_tokens":-1,"cached_input_tokens":5,"output_tokens":-2,"reasoning_output_tokens":9}}`),
		`{"thread":"01a22b44-f8fc-7d02-994f-27f8972670ed","used":{"input":9,"output":9,"metered":true}}`)
	f.Fuzz(func(t *testing.T, output []byte, past string) {
		talk := &talk{task: driver.Task{Schema: json.RawMessage(`{}`)}, emit: func(driver.Event) {}, before: parseSession(past).Used}
		for _, line := range bytes.Split(output, []byte("\n")) {
			if err := talk.Line(line); err != nil {
				t.Fatal(err)
			}
		}
		result, err := talk.Said()
		if err == nil && !json.Valid(result.Answer) {
			t.Errorf("a success without an answer: %+v", result)
		}
		for _, call := range result.Calls {
			if err := call.Check(); err != nil {
				t.Error(err)
			}
		}
		if again := parseSession(result.Session); again.String() != result.Session {
			t.Errorf("the session %s is read as %s", result.Session, again)
		}
	})
}
