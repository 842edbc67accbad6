//go:build unix

package aesop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop"
	"aesop/driver/drivertest/modelserver"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// TestRealReviewers: claude and codex judge what a script made, by the schema, with the real diff before them; their usage is in the
// report, and what they try to write changes nothing.
func TestRealReviewers(t *testing.T) {
	verdict := func(word, why string) map[string]any {
		return map[string]any{"verdict": word, "evidence": []string{"one.txt:1"}, "confidence": 0.9, "summary": why}
	}
	const yes = `{"verdict": "approve", "evidence": ["one.txt:1"], "confidence": 0.9, "summary": "It says hello."}`
	const no = `{"verdict": "reject", "evidence": ["one.txt:1"], "confidence": 0.9, "summary": "It is rude."}`
	for _, test := range []struct {
		name, driver string
		steps        []modelserver.Step
		state        journal.State
		reason       string
	}{
		{"codex approves", "codex", []modelserver.Step{{Text: yes, Usage: tokens(1)}}, journal.StateShipped, ""},
		{"codex rejects", "codex", []modelserver.Step{{Text: no, Usage: tokens(1)}}, journal.StateReviewRejected, "It is rude."},
		{"codex tries to write", "codex", []modelserver.Step{
			{Calls: []modelserver.Call{{Name: "exec_command", Input: map[string]any{"cmd": "echo mine > one.txt; echo mine > two.txt"}}}, Usage: tokens(1)},
			{Text: yes, Usage: tokens(2)}}, journal.StateShipped, ""},
		{"claude approves", "claude", []modelserver.Step{{Calls: []modelserver.Call{{Name: "StructuredOutput", Input: verdict("approve", "It says hello.")}}, Usage: tokens(1)}},
			journal.StateShipped, ""},
		{"claude rejects", "claude", []modelserver.Step{{Calls: []modelserver.Call{{Name: "StructuredOutput", Input: verdict("reject", "It is rude.")}}, Usage: tokens(1)}},
			journal.StateReviewRejected, "It is rude."},
		{"claude tries to write", "claude", []modelserver.Step{
			{Calls: []modelserver.Call{{Name: "Bash", Input: map[string]any{"command": "echo mine > one.txt"}}}, Usage: tokens(1)},
			{Calls: []modelserver.Call{{Name: "StructuredOutput", Input: verdict("approve", "It says hello.")}}, Usage: tokens(2)}}, journal.StateShipped, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFleet(t, test.driver, saysHello, "one")
			script := filepath.Join(t.TempDir(), "script.json")
			write(t, script, `{"one": [{"files": {"one.txt": "hello\n"}}]}`)
			talk := f.server.Talk("You review a change", test.steps...)
			whole := 1.0
			engine, err := aesop.Open(t.Context(), aesop.Config{Repo: f.repo, Script: script, Settings: aesop.Settings{Driver: "script",
				Policy: policy.Override{Review: &whole, Reviewer: &policy.Seat{Driver: test.driver}}}})
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			report, err := engine.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			item := report.Items[0]
			if item.State != test.state || !strings.Contains(item.Reason, test.reason) || len(item.Judgements) != 1 || report.Steps.Review != "done" {
				t.Fatalf("%s: %s, judged %+v; %+v", item.State, item.Reason, item.Judgements, report.Error)
			}
			if used := item.Judgements[0].Usage; used == nil || anonymous(*used) != served(talk, 0) || !used.Metered {
				t.Errorf("the reviewer used %+v, and %+v was served", used, served(talk, 0))
			}
			if asked := strings.Join(talk.Requests()[0].Texts, "\n"); !strings.Contains(asked, `+hello`) {
				t.Errorf("the reviewer did not see the diff: %s", asked)
			}
			if left, err := os.ReadDir(filepath.Join(engine.State, "trees")); err != nil || len(left) > 0 {
				t.Errorf("left in the state: %v, %v", left, err)
			}
		})
	}
}
