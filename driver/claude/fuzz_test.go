package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aesop/driver"
)

// FuzzOutput: whatever a program prints, what it comes to can be stored, and is no answer where a schema was asked for and none
// was given.
func FuzzOutput(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"type":"result","modelUsage":{"m":{"inputTokens":-1,"outputTokens":-5,"thinkingTokens":-9}}}`))
	f.Add([]byte(`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":-3}}}` + "\n" + `{"type":"system","subtype":"init"}`))
	most := `{"type":"result","model_usage_since_last_result":{"m":{"inputTokens":1099511627776,"outputTokens":0}}}` + "\n"
	f.Add([]byte(most + most))
	f.Fuzz(func(t *testing.T, output []byte) {
		talk := &talk{task: driver.Task{Schema: json.RawMessage(`{}`)}, emit: func(driver.Event) {}, now: time.Now, calls: newCalls()}
		for _, line := range bytes.Split(output, []byte("\n")) {
			if err := talk.Line(line); err != nil {
				t.Fatalf("no budget, and it is ended: %v", err)
			}
		}
		result, err := talk.Said()
		if err == nil && (talk.result == nil || !json.Valid(result.Answer)) {
			t.Errorf("a success without a result or an answer: %+v", result)
		}
		for _, call := range result.Calls {
			if err := call.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}
