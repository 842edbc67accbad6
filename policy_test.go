package aesop_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"aesop"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// loaded are settings from a file with that policy.
func loaded(t *testing.T, text string) aesop.Settings {
	t.Helper()
	s, _, err := aesop.LoadSettings(sources(`{"policy": `+text+`}`, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEveryKeyOfThePolicyHasItsEffect on a real wave; who reviews is in TestReviewerOfThePolicy.
func TestEveryKeyOfThePolicyHasItsEffect(t *testing.T) {
	for name, tt := range map[string]struct {
		policy     string
		agent      string // command
		dispatches int
		again      string // how the spot check went
		reviews    int
	}{
		"tier 1: spot check of at least one": {`{"tier": 1}`, "echo hello > greeting.txt", 1, "passed", 0},
		"tier 1: one repair":                 {`{"tier": 1}`, "echo nothing > greeting.txt", 2, "", 0},
		"tier 4: review":                     {`{"tier": 4}`, "echo hello > greeting.txt", 1, "passed", 1},
		"spotCheck":                          {`{"spotCheck": 0}`, "echo hello > greeting.txt", 1, "", 1},
		"repairs":                            {`{"repairs": 0}`, "echo nothing > greeting.txt", 1, "", 0},
		"review":                             {`{"review": 0}`, "echo hello > greeting.txt", 1, "passed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			repo, _ := repository(t)
			s := loaded(t, tt.policy)
			s.Driver, s.AgentCmd = "command", tt.agent
			seen := counted{}
			engine, err := aesop.Open(t.Context(), aesop.Config{Repo: repo, Settings: s, Reviewer: seen})
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			report, err := engine.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i, again := report.Items[0], ""
			if i.SpotCheck != nil {
				again = *i.SpotCheck
			}
			if len(i.Attempts) != tt.dispatches || again != tt.again || seen["reviewer"] != tt.reviews {
				t.Errorf("%d dispatches, spot check %q, %d reviews; %s %s", len(i.Attempts), again, seen["reviewer"], i.State, i.Reason)
			}
		})
	}
}

func TestPolicyOfTheConfiguration(t *testing.T) {
	for text, complaint := range map[string]string{
		`{"tier": 7}`:                      "/conf/aesop.json:1: policy.tier: is 7, must be from 1 to 4",
		`{"spotchek": 1}`:                  `/conf/aesop.json:1: policy.spotchek: no such key (did you mean "spotCheck"?)`,
		`{"reviewer": {"driver": "x",}, }`: "",
	} {
		_, _, err := aesop.LoadSettings(sources(`{"policy": `+text+`}`, nil, nil))
		if complaint == "" && err != nil || complaint != "" && (err == nil || err.Error() != complaint) {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, _, err := aesop.LoadSettings(sources("", map[string]string{"AESOP_POLICY": `{"tier": 7}`}, nil))
	if err == nil || !strings.Contains(err.Error(), "AESOP_POLICY: tier: is 7, must be from 1 to 4") {
		t.Error(err)
	}
	// A script is named relative to the file.
	if got := loaded(t, `{"reviewer": {"driver": "script", "script": "judge.json"}}`).Policy.Reviewer; *got != (policy.Seat{Driver: "script", Script: filepath.FromSlash("/conf/judge.json")}) {
		t.Errorf("%+v", got)
	}
}

// TestReviewerOfThePolicy judges the real change through a named driver.
func TestReviewerOfThePolicy(t *testing.T) {
	reads := func(verdict string) string { // approves or rejects by what it sees of the diff and of the checkout
		return `grep -q '+hello' && test -e greeting.txt && mkdir -p "$AESOP_ATTEMPT_DIR" && echo '{"input": 7, "output": 3}' > "$AESOP_ATTEMPT_DIR/usage.json" && ` +
			`echo '{"verdict": "` + verdict + `", "evidence": ["greeting.txt:1"], "confidence": 0.9, "summary": "I read it."}'`
	}
	script := filepath.Join(t.TempDir(), "judge.json")
	write(t, script, `{"greet": [{"say": "{\"verdict\": \"approve\", \"evidence\": [\"x\"], \"confidence\": 1, \"summary\": \"Fine.\"}"}]}`)
	for name, tt := range map[string]struct {
		seat   policy.Seat
		state  journal.State
		reason string
	}{
		"command approves": {policy.Seat{Driver: "command", AgentCmd: reads("approve")}, journal.StateShipped, "I read it. (confidence 0.9)\n- greeting.txt:1"},
		"command rejects":  {policy.Seat{Driver: "command", AgentCmd: reads("reject")}, journal.StateReviewRejected, "I read it. (confidence 0.9)\n- greeting.txt:1"},
		"script approves":  {policy.Seat{Driver: "script", Script: script}, journal.StateShipped, "Fine. (confidence 1)\n- x"},
		"no answer":        {policy.Seat{Driver: "command", AgentCmd: "echo fine"}, journal.StateParked, ""},
		"writes":           {policy.Seat{Driver: "command", AgentCmd: "echo more >> greeting.txt; " + reads("approve")}, journal.StateParked, ""},
	} {
		t.Run(name, func(t *testing.T) {
			repo, _ := repository(t)
			s := aesop.Settings{Driver: "command", AgentCmd: "echo hello > greeting.txt", Policy: policy.Override{Reviewer: &tt.seat}}
			engine, err := aesop.Open(t.Context(), aesop.Config{Repo: repo, Settings: s})
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			report, err := engine.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := report.Items[0]
			if i.State != tt.state {
				t.Fatalf("%s: %s", i.State, i.Reason)
			}
			if tt.reason == "" {
				if report.Outcome != journal.GateUnavailable || report.Steps.Review != "partial" || len(i.Judgements) != 0 {
					t.Errorf("outcome %s, review %s, judgements %+v", report.Outcome, report.Steps.Review, i.Judgements)
				}
				return
			}
			if len(i.Judgements) != 1 || i.Judgements[0].Reason != tt.reason || report.Steps.Review != "done" {
				t.Fatalf("judgements %+v, review %s", i.Judgements, report.Steps.Review)
			}
			if usage := i.Judgements[0].Usage; tt.seat.Driver == "command" && (!usage.Metered || usage.Input != 7 || usage.Output != 3) {
				t.Errorf("usage %+v", usage)
			}
		})
	}
}

func TestReviewersThatCannotBe(t *testing.T) {
	for name, tt := range map[string]struct {
		seat       policy.Seat
		code, says string
	}{
		"unknown":      {policy.Seat{Driver: "gpt"}, "unknown_reviewer", `policy.reviewer: there is no driver "gpt"`},
		"no command":   {policy.Seat{Driver: "command"}, "usage", "policy.reviewer: the command driver needs a command"},
		"not its key":  {policy.Seat{Driver: "claude", AgentCmd: "x"}, "usage", "policy.reviewer: agentCmd is for the command driver, and this is claude"},
		"nor this one": {policy.Seat{Driver: "command", AgentCmd: "x", Script: "y"}, "usage", "policy.reviewer: script is for the script driver"},
	} {
		repo, _ := repository(t)
		s := aesop.Settings{Driver: "command", AgentCmd: "true", Policy: policy.Override{Reviewer: &tt.seat}}
		_, err := aesop.Open(t.Context(), aesop.Config{Repo: repo, Settings: s})
		setup, ok := errors.AsType[*wave.SetupError](err)
		if !ok || setup.Code != tt.code || !strings.HasPrefix(setup.Message, tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// One that is given outweighs the named one.
	repo, _ := repository(t)
	seen := counted{}
	s := aesop.Settings{Driver: "command", AgentCmd: "echo hello > greeting.txt", Policy: policy.Override{Reviewer: &policy.Seat{Driver: "gpt"}}}
	engine, err := aesop.Open(t.Context(), aesop.Config{Repo: repo, Settings: s, Reviewer: seen})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if _, err := engine.Run(t.Context()); err != nil || seen["reviewer"] != 1 {
		t.Errorf("%v, asked %d times", err, seen["reviewer"])
	}
}
