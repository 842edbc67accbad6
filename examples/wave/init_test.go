package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"aesop"
	"aesop/examples/internal/cli"
)

// TestEveryLineOfTheTemplateMayBeUncommented: whoever takes the slashes away from keys has a configuration.
func TestEveryLineOfTheTemplateMayBeUncommented(t *testing.T) {
	commented := regexp.MustCompile(`(?m)^  // (")`)
	all := commented.ReplaceAllString(string(initConfig), "  $1")
	if all == string(initConfig) {
		t.Fatal("no key is commented out")
	}
	for _, text := range []string{string(initConfig), all} {
		file := filepath.Join(t.TempDir(), "aesop.json")
		if err := cli.Create(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := aesop.LoadSettings(aesop.Sources{File: file, Need: true}); err != nil {
			t.Errorf("%v in:\n%s", err, text)
		}
	}
}
