package main

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func setUp(t *testing.T) (*peers, *rand.Rand) {
	t.Helper()
	p, err := newPeers()
	if err != nil {
		t.Fatal(err)
	}
	return p, rand.New(rand.NewPCG(1, 0))
}

func TestWhateverGitleaksFindsIsTakenOut(t *testing.T) {
	p, rng := setUp(t)
	classes, err := p.classes(rng)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(p.gitleaks.Config.Rules) - len(fileOnly()); len(classes) != want {
		t.Errorf("%d rules of gitleaks were compared, not %d", len(classes), want)
	}
	for _, c := range classes {
		for _, s := range c.missed {
			t.Errorf("%s: %q stays in %q", c.rule, s.text[s.start:s.end], s.text)
		}
	}
}

func TestEverySecretOfTheVendorsIsTakenOutAndCleanTextStays(t *testing.T) {
	p, rng := setUp(t)
	r := p.corpus(rng)
	for _, s := range r.missed {
		t.Errorf("%v stays: %q", s, s.Text)
	}
	t.Logf("%d lines of clean text: %d wrong findings, of gitleaks %d", r.cleanLines, len(r.aesop), r.gitleaksClean)
	if len(r.aesop)*1000 >= r.cleanLines {
		for _, m := range r.aesop {
			t.Errorf("%s finds a secret in %q", m.rule, m.text)
		}
	}
}

func TestTheTableNamesEachRuleAndVendor(t *testing.T) {
	p, rng := setUp(t)
	var out strings.Builder
	report(&out, []class{{rule: "some-rule", samples: 2}}, p.corpus(rng))
	for _, want := range []string{"some-rule", "pkcs12-file", "github", "clean text"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %s:\n%s", want, out.String())
		}
	}
}
