package main

import (
	"os"
	"strings"
	"testing"
)

// TestMain is aesop's part where it is asked to be.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-read" {
		if err := read(os.Stdout, os.Args[2]); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestBothAgree(t *testing.T) {
	program := os.Getenv("AESOP_TEST_CCUSAGE")
	if program == "" {
		t.Skip("ccusage is missing: AESOP_TEST_CCUSAGE=$(.ci/install-ccusage)")
	}
	for seed := range uint64(3) {
		var out strings.Builder
		p := peers{ccusage: program, out: &out, seed: seed, size: 6, pairs: 1}
		if err := p.run(); err != nil {
			t.Error(err)
		}
		t.Log(out.String())
	}
}

// TestDifferencesAreSeen: the comparison fails where one counts otherwise.
func TestDifferencesAreSeen(t *testing.T) {
	written := map[string]tokens{"m": {1, 2, 3, 4}}
	ours, theirs := `{"m":{"Input":1,"Output":2,"CacheCreation":3,"CacheRead":4}}`,
		`{"daily":[{"modelBreakdowns":[{"modelName":"m","inputTokens":1,"outputTokens":2,"cacheCreationTokens":3,"cacheReadTokens":4}]}]}`
	if err := (peers{}).compare(written, []byte(ours), []byte(theirs)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"Input", "Output", "CacheCreation", "CacheRead"} {
		if err := (peers{}).compare(written, []byte(strings.Replace(ours, name, "Other", 1)), []byte(theirs)); err == nil {
			t.Errorf("another %s of ours is not seen", name)
		}
		theirName := strings.ToLower(name[:1]) + name[1:] + "Tokens"
		if err := (peers{}).compare(written, []byte(ours), []byte(strings.Replace(theirs, theirName, "other", 1))); err == nil {
			t.Errorf("another %s of theirs is not seen", name)
		}
	}
}
