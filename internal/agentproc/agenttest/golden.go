//go:build unix

package agenttest

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/driver"
)

var update = flag.Bool("update", false, "write the golden files")

// Golden pins what a driver makes of recorded output: for every file of testdata named *.jsonl or *.json it runs the driver on
// a program that prints the file, and compares what Run returned and emitted with the file's name and .golden.
func Golden(t *testing.T, newDriver func(program string) driver.Driver) {
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded output: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			exit, last := 0, lines[len(lines)-1]
			if strings.Contains(last, `"is_error":true`) || strings.Contains(last, `"turn.failed"`) { // as it was when it was recorded
				exit = 1
			}
			task := Task(t)
			if strings.Contains(file, "schema") {
				task.Schema = json.RawMessage(`{"type":"object"}`)
			}
			got := record(t, newDriver(Program(t, Fake{Out: string(text), Exit: exit})), task)
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// record is what Run returned and emitted, as JSON.
func record(t *testing.T, d driver.Driver, task driver.Task) []byte {
	t.Helper()
	var pinned struct {
		Class      driver.Class    `json:"class"`
		Error      string          `json:"error"`
		RetryAfter string          `json:"retryAfter"`
		Summary    string          `json:"summary"`
		Answer     json.RawMessage `json:"answer"`
		Session    string          `json:"session"`
		Metered    bool            `json:"metered"`
		Calls      []cost.Usage    `json:"calls"`
		Events     []string        `json:"events"`
	}
	result, err := d.Run(t.Context(), task, func(e driver.Event) {
		text := e.Text
		if e.Kind == "usage" {
			data, _ := json.Marshal(e.Usage)
			text = string(data)
		}
		pinned.Events = append(pinned.Events, e.Kind+": "+text)
	})
	var failure *driver.Error
	if errors.As(err, &failure) {
		pinned.Class, pinned.Error, pinned.RetryAfter = failure.Class, failure.Message, failure.RetryAfter.Round(time.Millisecond).String()
	} else if err != nil {
		t.Errorf("the error is %T", err)
	}
	pinned.Summary, pinned.Answer, pinned.Session = result.Summary, result.Answer, result.Session
	pinned.Metered, pinned.Calls = result.Metered, result.Calls
	data, err := json.MarshalIndent(pinned, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}
