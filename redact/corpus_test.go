package redact_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"aesop/redact"
	"aesop/redact/redacttest"
)

// TestCorpus holds the rules to a corpus: no secret of it survives, and clean text stays, but for one line in a thousand.
func TestCorpus(t *testing.T) {
	r := redactor(t, redact.Logs)
	for seed := range uint64(3) {
		secrets, clean := redacttest.Corpus(rand.New(rand.NewPCG(seed, 7)))
		for _, s := range secrets {
			if got := r.String(s.Text); strings.Contains(got, s.Value()) {
				t.Errorf("%s survives: %s", s, s.Text)
			}
		}
		lines, wrong := 0, 0
		for _, text := range clean {
			lines += 1 + strings.Count(text, "\n")
			if got := r.String(text); got != text {
				wrong++
				t.Logf("changed: %s\n     to: %s", text, got)
			}
		}
		if wrong*1000 >= lines {
			t.Errorf("%d of %d lines of clean text were changed", wrong, lines)
		}
	}
}
