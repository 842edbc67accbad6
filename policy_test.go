package aesop_test

import (
	"path/filepath"
	"strings"
	"testing"

	"aesop"
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
	if err == nil || !strings.Contains(err.Error(), "AESOP_POLICY: policy tier is 7") && !strings.Contains(err.Error(), "tier is 7") {
		t.Error(err)
	}
	// A script is named relative to the file.
	if got := loaded(t, `{"reviewer": {"driver": "script", "script": "judge.json"}}`).Policy.Reviewer; *got != (policy.Seat{Driver: "script", Script: filepath.FromSlash("/conf/judge.json")}) {
		t.Errorf("%+v", got)
	}
}
