package aesop

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aesop/cost"
)

// TestConfigurationPageHasTheLimits: every key that is read, and no other.
func TestConfigurationPageHasTheLimits(t *testing.T) {
	data, err := os.ReadFile("docs/CONFIG.md")
	if err != nil {
		t.Fatal(err)
	}
	var limits Limits
	var read []string
	for _, k := range limits.keys() {
		read = append(read, k.name)
		if !strings.Contains(string(data), "`limits."+k.name+"`") {
			t.Errorf("the page does not name limits.%s", k.name)
		}
	}
	for _, found := range regexp.MustCompile("`limits\\.([a-zA-Z]+)`").FindAllStringSubmatch(string(data), -1) {
		if !slices.Contains(read, found[1]) {
			t.Errorf("the page names limits.%s, which is no key", found[1])
		}
	}
	for _, k := range limits.units("day", cost.Limit{}) {
		if !strings.Contains(string(data), "`"+k.name+"`") {
			t.Errorf("the page does not name %s of a model", k.name)
		}
	}
	for _, policy := range []cost.Policy{cost.Refuse, cost.Estimate, cost.Allow} {
		if !strings.Contains(string(data), "`"+string(policy)+"`") {
			t.Errorf("the page does not name %s", policy)
		}
	}
}
