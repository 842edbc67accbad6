package redacttest_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aesop/redact/redacttest"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func ExampleFill() {
	text := redacttest.Fill(random(1), "build {digit:4} of {lower:1}, {unknown:3} and {stays}")
	fmt.Println(len(text), strings.HasSuffix(text, ", {unknown:3} and {stays}"))
	// Output: 40 true
}

func TestTheCorpusIsLargeVariedAndTheSameForASeed(t *testing.T) {
	secrets, clean := redacttest.Corpus(random(7))
	again, cleanAgain := redacttest.Corpus(random(7))
	other, _ := redacttest.Corpus(random(8))
	if !slices.Equal(secrets, again) || !slices.Equal(clean, cleanAgain) {
		t.Error("a seed gives two corpora")
	}
	if secrets[0] == other[0] {
		t.Error("two seeds give one corpus")
	}
	if len(secrets) < 300 || len(clean) < 2000 {
		t.Errorf("%d secrets and %d clean texts", len(secrets), len(clean))
	}
	t.Logf("%d secrets, %d clean texts", len(secrets), len(clean))
}

func TestOffsetsOfSecretsAreThoseOfTheValue(t *testing.T) {
	secrets, clean := redacttest.Corpus(random(7))
	for _, s := range secrets {
		if s.Start <= 0 && s.Setting != "prose" || s.End > len(s.Text) || len(s.Value()) < 8 {
			t.Fatalf("%v: %d to %d of %q", s, s.Start, s.End, s.Text)
		}
		if strings.ContainsAny(s.Text, "§«»") || strings.Contains(s.Text, "<NAME>") || strings.Contains(s.Text, "<name>") {
			t.Errorf("%v is not filled: %q", s, s.Text)
		}
		if strings.Count(s.Text, s.Value()) != 1 {
			t.Errorf("%v: %q is there more than once", s, s.Value())
		}
		if strings.ContainsAny(s.Value(), " \"'\t") && s.Vendor != "ssh" {
			t.Errorf("%v: %q is more than the value", s, s.Value())
		}
	}
	for _, text := range clean {
		if strings.Contains(text, "{alnum") || strings.Contains(text, "{hex") || !strings.HasSuffix(text, "\n") {
			t.Errorf("%q is not filled", text)
		}
	}
}

func TestAnAgentLogHasATokenInEach64KiB(t *testing.T) {
	log := redacttest.AgentLog(random(7), 1<<20)
	n := len(regexp.MustCompile(`ghp_[A-Za-z0-9]{36}`).FindAll(log, -1))
	if len(log) < 1<<20 || len(log) > 1<<20+4096 || n != 16 {
		t.Errorf("%d bytes with %d tokens", len(log), n)
	}
}
