package redact

import (
	"math/rand/v2"
	"testing"

	"aesop/redact/redacttest"
)

// What has the form of a rule's own pattern is taken out, all of it, if maybe by another rule that is as good.
func TestWhatHasTheFormOfAVendorsRuleGoes(t *testing.T) {
	r, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(20, 26))
	for _, rule := range vendorRules() {
		before, after := "\n", "\n"
		if rule.Name != "" {
			before, after = rule.Name+`_id = "`, `"`
		}
		for range 20 {
			value, err := redacttest.Generate(rng, rule.Pattern)
			if err != nil {
				t.Fatal(err)
			}
			at := len(before)
			for _, f := range r.Explain([]byte(before + value + after)) {
				if f.Start <= at {
					at = max(at, f.End)
				}
			}
			if at != len(before+value) {
				t.Errorf("%s: of %q some stays", rule.ID, before+value+after)
			}
		}
	}
}

func TestTheTableOfRulesHasNoSecretItself(t *testing.T) {
	r, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range Rules() {
		for _, text := range append(append([]string{rule.Pattern}, rule.Match...), rule.Avoid...) {
			for _, f := range r.Explain([]byte(text)) {
				if f.Severity == Critical {
					t.Errorf("%s: %s is found in %q", rule.ID, f.Rule, text)
				}
			}
		}
	}
}
