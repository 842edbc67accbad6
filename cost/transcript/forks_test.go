package transcript_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"aesop/cost"
	"aesop/cost/transcript"
)

// TestCopiedHistories: what versions of Codex copy from a parent into a new session is the parent's, whichever way they say whose it is,
// and wherever the file was cut when it was read first.
func TestCopiedHistories(t *testing.T) {
	const child = "01b00000-0000-7000-8000-00000000000b"
	meta := func(at, id, more string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-30T%sZ","type":"session_meta","payload":{"id":%q,"timestamp":"2026-11-30T10:00:00Z"%s}}`+"\n", at, id, more)
	}
	// with is a sum and what the last call adds to it.
	with := func(at string, input, last int) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-30T%sZ","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,`+
			`"output_tokens":%d},"last_token_usage":{"input_tokens":%d,"output_tokens":%d}}}}`+"\n", at, input, input/10, last, last/10)
	}
	parent := meta("10:00:00", codexSession, "") + with("10:00:05", 100, 100) + with("10:00:09", 300, 200) + with("10:00:20", 600, 300)
	forked := `,"forked_from_id":"` + codexSession + `"`
	spawned := `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + codexSession + `","agent_role":"explorer"}}}`
	all := meta("10:30:00", codexSession, "") + with("10:30:00", 100, 100) + with("10:30:00", 300, 200)
	for name, test := range map[string]struct {
		text   string
		alone  bool // the parent's file is gone
		output string
	}{
		"a fork":                            {text: meta("10:30:00", child, forked) + all + with("10:30:09", 340, 40), output: "/1=4"},
		"that does not say so":              {text: meta("10:30:00", child, "") + all + with("10:30:09", 340, 40), output: "/1=4"},
		"a sub-agent":                       {text: meta("10:30:00", child, spawned) + all + with("10:30:09", 340, 40), output: "/1=4"},
		"a sub-agent with the end of it":    {text: meta("10:30:00", child, spawned) + with("10:30:00", 300, 200) + with("10:30:00", 600, 300) + with("10:30:09", 640, 40), output: "/1=4"},
		"a fork with the end of it":         {text: meta("10:30:00", child, forked) + with("10:30:00", 600, 300) + with("10:30:09", 640, 40), output: "/1=4"},
		"a sub-agent with nothing of it":    {text: meta("10:30:00", child, spawned) + with("10:30:09", 100, 100) + with("10:30:10", 110, 10), output: "/1=10 /2=1"},
		"with nothing, and no parent":       {text: meta("10:30:00", child, spawned) + sum(40, 4), alone: true, output: "/1=4"},
		"a fork of what is gone":            {text: meta("10:30:00", child, forked) + all + with("10:30:09", 340, 40), alone: true, output: "/1=4"},
		"written down long after":           {text: meta("10:45:00", child, forked) + strings.ReplaceAll(all, "10:30:00", "10:45:00") + with("10:45:09", 340, 40), alone: true, output: "/1=4"},
		"that took long to copy":            {text: meta("10:30:00", child, forked) + with("10:30:00.8", 100, 100) + with("10:30:01.6", 300, 200) + with("10:30:09", 340, 40), alone: true, output: "/1=4"},
		"that does not say so, of one gone": {text: meta("10:30:00", child, "") + all + with("10:30:09", 340, 40), alone: true, output: "/1=4"},
		"a parent's name after its own":     {text: meta("10:30:00", child, "") + with("10:30:09", 40, 40) + meta("10:31:00", codexSession, "") + with("10:31:09", 50, 10), output: "/1=4 /2=1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFiles(t)
			file := strings.Replace(f.codex, codexSession, child, 1)
			lines := strings.SplitAfter(test.text, "\n")
			for cut := range lines {
				_ = os.Remove(f.codex) // of the turn before
				if !test.alone {
					f.write(f.codex, parent)
				}
				var state transcript.State
				f.write(file, strings.Join(lines[:cut], ""))
				first, _ := ingest(t, f.config, &state)
				f.write(file, test.text)
				second, summary := ingest(t, f.config, &state)
				calls := slices.DeleteFunc(slices.Concat(first, second), func(c cost.Call) bool { return c.Session == codexSession })
				got := strings.ReplaceAll(outputs(calls), "codex/"+child, "")
				if got != test.output || len(summary.Problems) != 0 {
					t.Errorf("cut at line %d: got %q, want %q, %v", cut, got, test.output, summary.List)
				}
			}
		})
	}
}
