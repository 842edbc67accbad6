package aesop_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"aesop"
	"aesop/tracker"
	"aesop/tracker/template"
	"aesop/wave"
	"aesop/wave/policy"
)

// TestConfigurationPageIsComplete: the page has every key with its default, and no other.
func TestConfigurationPageIsComplete(t *testing.T) {
	page := readFile(t, "docs/CONFIG.md")
	_, rows, err := aesop.LoadSettings(aesop.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"schemaVersion": true}
	for _, row := range rows {
		known[row.Key] = true
		if !strings.Contains(page, "`"+row.Key+"`") {
			t.Errorf("the page does not name %s", row.Key)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^\| (`+"`[a-zA-Z`, ]+`"+`) \|`).FindAllStringSubmatch(page, -1) {
		for _, key := range regexp.MustCompile("`([a-zA-Z]+)`").FindAllStringSubmatch(line[1], -1) {
			if !known[key[1]] {
				t.Errorf("the page names %s, which is no key", key[1])
			}
		}
	}
	for _, value := range []string{"| `agentTimeout` | `30m` |", "| `maxItems` | 5 |", "| `parallel` | 4 |", "| `lease` | `15m` |", "| `maxAttempts` | 3 |"} {
		if !strings.Contains(page, value) {
			t.Errorf("the page lacks %q", value)
		}
	}
	if wave.DefaultMaxItems != 5 || wave.DefaultParallel != 4 || wave.DefaultMaxAttempts != 3 {
		t.Error("the defaults changed; so must the page")
	}
}

// TestConfigurationPageHasThePolicy: its keys, and the table by tier.
func TestConfigurationPageHasThePolicy(t *testing.T) {
	page := readFile(t, "docs/CONFIG.md")
	keys := reflect.TypeFor[policy.Override]()
	for i := range keys.NumField() {
		name, _, _ := strings.Cut(keys.Field(i).Tag.Get("json"), ",")
		if !strings.Contains(page, "- `policy."+name+"`: ") {
			t.Errorf("the page does not name policy.%s", name)
		}
	}
	for tier := 1; tier <= policy.LeastTrusted; tier++ {
		p := policy.For(tier)
		if row := fmt.Sprintf("| %d | %v | %d | %v |", tier, p.SpotCheck, p.Repairs, p.Review); !strings.Contains(page, row) {
			t.Errorf("the page lacks %q", row)
		}
	}
}

// TestManifestPageIsComplete: the page has every key of a manifest and of what is in it, and no other.
func TestManifestPageIsComplete(t *testing.T) {
	page := readFile(t, "docs/MANIFEST.md")
	known := map[string]bool{}
	for _, part := range []reflect.Type{reflect.TypeFor[wave.Manifest](), reflect.TypeFor[wave.ManifestPolicy](), reflect.TypeFor[wave.PlannedRepository](),
		reflect.TypeFor[wave.PlannedItem](), reflect.TypeFor[wave.SkippedItem]()} {
		for i := range part.NumField() {
			name, _, _ := strings.Cut(part.Field(i).Tag.Get("json"), ",")
			known[name] = true
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("the page does not name %s", name)
			}
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| (`+"`[a-zA-Z`, ]+`"+`) \|`).FindAllStringSubmatch(page, -1) {
		for _, key := range regexp.MustCompile("`([a-zA-Z]+)`").FindAllStringSubmatch(row[1], -1) {
			if !known[key[1]] {
				t.Errorf("the page names %s, which is no key", key[1])
			}
		}
	}
}

// TestBacklogPageNamesTemplates and their placeholders.
func TestBacklogPageNamesTemplates(t *testing.T) {
	page := readFile(t, "docs/BACKLOG.md")
	words := template.Names()
	for _, name := range template.Placeholders() {
		words = append(words, "{"+name+"}")
	}
	for _, word := range words {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("the page does not name %s", word)
		}
	}
}

// TestBacklogPageNamesEveryReason that an item can be skipped for.
func TestBacklogPageNamesEveryReason(t *testing.T) {
	page := readFile(t, "docs/BACKLOG.md")
	for _, reason := range []tracker.Reason{tracker.NoFileOwnership, tracker.InvalidOwnsFilesEntries, tracker.InvalidPath, tracker.MissingSlug, tracker.MissingPrompt,
		tracker.MissingTestCmd, tracker.OverlapsSelected, tracker.OverlapsClaimed, tracker.OverlapsUnmerged, tracker.BlockedBy, tracker.UnknownStatus,
		tracker.AttemptsExhausted, tracker.Claimed, tracker.Ceiling, tracker.SecretInName, tracker.RepositoryFailed} {
		if !strings.Contains(page, "`"+string(reason)+"`") {
			t.Errorf("the page does not name %s", reason)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestEveryPromiseHasItsTest: the tests that docs/JOBS.md names are there, and so is each promise.
func TestEveryPromiseHasItsTest(t *testing.T) {
	tests := map[string]bool{}
	for _, p := range list(t, "./...") {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, found := range regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`).FindAllStringSubmatch(readFile(t, file), -1) {
				tests[found[1]] = true
			}
		}
	}
	promises := regexp.MustCompile(`(?m)^\| (\d+) \|.*\|(.*)\|$`).FindAllStringSubmatch(readFile(t, "docs/JOBS.md"), -1)
	if len(promises) != 36+7+7 {
		t.Errorf("the page has %d promises", len(promises))
	}
	for _, promise := range promises {
		named := regexp.MustCompile("`(Test[A-Za-z0-9_]+)(/[a-z]+)?`").FindAllStringSubmatch(promise[2], -1)
		if len(named) == 0 {
			t.Errorf("promise %s has no test", promise[1])
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("promise %s: there is no test %s", promise[1], name[1])
			}
			if script := name[2]; script != "" {
				readFile(t, filepath.Join("examples", "jobs", "testdata", script+".txtar"))
			}
		}
	}
}
