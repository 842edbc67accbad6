package transcript_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/cost/transcript"
)

// TestClocksThatDiffer: a session of a machine whose clock is ahead counts; one of another year does not, and that is told.
func TestClocksThatDiffer(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	for ahead, want := range map[time.Duration]int{-24 * time.Hour: 1, time.Hour: 1, 24 * time.Hour: 1, 24*time.Hour + time.Second: 0} {
		f := newFiles(t)
		f.config.Now = func() time.Time { return now }
		f.write(f.claude, strings.Replace(answer("a", 1, `"end_turn"`), "2026-11-30T10:00:00Z", now.Add(ahead).Format(time.RFC3339), 1))
		var state transcript.State
		if calls, summary := ingest(t, f.config, &state); len(calls) != want || summary.Problems[transcript.Future] != 1-want {
			t.Errorf("%s ahead: %d calls, %v", ahead, len(calls), summary.List)
		}
	}
}

// TestUsageOfClaude: what the counts of an answer leave out is counted or makes the call unmetered, and is never 0.
func TestUsageOfClaude(t *testing.T) {
	const message, compaction = `{"type":"message","input_tokens":10,"output_tokens":5}`,
		`{"type":"compaction","input_tokens":700,"output_tokens":30,"cache_read_input_tokens":4,"cache_creation":{"ephemeral_1h_input_tokens":2}}`
	plain := cost.Usage{Model: "m", Input: 10, Output: 5, Metered: true}
	part := plain
	part.Metered = false
	for _, test := range []struct {
		usage   string
		want    cost.Usage
		summed  bool
		service string
	}{
		{`"input_tokens":10,"output_tokens":5`, plain, false, ""},
		{`"output_tokens":5`, cost.Usage{Model: "m", Output: 5}, false, ""},
		{`"input_tokens":10`, cost.Usage{Model: "m", Input: 10}, false, ""},
		{`"input_tokens":10,"output_tokens":null`, cost.Usage{Model: "m", Input: 10}, false, ""},
		{``, cost.Usage{Model: "m"}, false, ""},
		{`"input_tokens":10,"output_tokens":5,"iterations":null`, plain, false, ""},
		{`"input_tokens":10,"output_tokens":5,"iterations":[]`, plain, false, ""},
		{`"iterations":[` + message + `],"input_tokens":10,"output_tokens":5`, plain, false, ""},
		{`"input_tokens":20,"output_tokens":10,"iterations":[` + message + `,` + message + `]`, cost.Usage{Model: "m", Input: 20, Output: 10, Metered: true}, true, ""},
		{`"iterations":[` + compaction + `,` + message + `],"input_tokens":10,"output_tokens":5`,
			cost.Usage{Model: "m", Input: 710, CacheRead: 4, CacheWrite1h: 2, Output: 35, Metered: true}, true, ""},
		{`"input_tokens":10,"output_tokens":5,"iterations":[` + message + `,{"type":"compaction","input_tokens":7}]`, cost.Usage{Model: "m", Input: 17, Output: 5}, true, ""},
		{`"input_tokens":10,"output_tokens":5,"iterations":[{"type":"advisor_message","model":"other","input_tokens":9,"output_tokens":9}]`, part, false, ""},
		{`"input_tokens":10,"output_tokens":5,"iterations":[3]`, part, false, ""},
		{`"input_tokens":10,"output_tokens":5,"inference_geo":"us","service_tier":"standard","speed":"fast"`, plain, false, "us"},
		{`"input_tokens":10,"output_tokens":5,"inference_geo":"not_available","service_tier":"batch"`, plain, false, "batch"},
	} {
		f := newFiles(t)
		f.write(f.claude, strings.Replace(answer("a", 0, `"end_turn"`), `"input_tokens":10,"output_tokens":0`, test.usage, 1))
		var state transcript.State
		calls, summary := ingest(t, f.config, &state)
		if len(calls) != 1 || calls[0].Usage != test.want || calls[0].Summed != test.summed || calls[0].Service != test.service || len(summary.Problems) != 0 {
			t.Errorf("{%s}:\ngot  %+v, %v\nwant %+v", test.usage, calls, summary.List, test.want)
		}
	}
	for _, iterations := range []string{`[{"type":"compaction","input_tokens":-1,"output_tokens":1}]`, `{}`, `[` + strings.Repeat(
		fmt.Sprintf(`{"type":"compaction","input_tokens":%d,"output_tokens":1},`, int64(1)<<50), 1<<14+1) + `{"type":"message"}]`} {
		f := newFiles(t)
		f.write(f.claude, strings.Replace(answer("a", 0, `"end_turn"`), `"output_tokens":0`, `"output_tokens":0,"iterations":`+iterations, 1))
		var state transcript.State
		if calls, summary := ingest(t, f.config, &state); len(calls) != 0 || summary.Problems[transcript.Invalid]+summary.Problems[transcript.Corrupt] != 1 {
			t.Errorf("%.60s: got %+v, %v", iterations, calls, summary.Problems)
		}
	}
}
