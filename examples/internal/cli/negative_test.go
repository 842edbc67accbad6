package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestNumbersBelowZeroBelongToTheirFlag and to nothing else.
func TestNumbersBelowZeroBelongToTheirFlag(t *testing.T) {
	for line, want := range map[string]string{
		"record --input -1 --output 2":   "record --input=-1 --output 2",
		"record --input=3 -1":            "record --input=3 -1",
		"record -- -1":                   "record -- -1",
		"record --input -x -":            "record --input -x -",
		"-1 --open -3 -4":                "-1 --open=-3 -4",
		"record --input --output -5 --a": "record --input --output=-5 --a",
	} {
		if got := negative(strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s became %q", line, got)
		}
	}
}
