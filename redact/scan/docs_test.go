package scan

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestPageIsComplete: it names every key, word and code.
func TestPageIsComplete(t *testing.T) {
	data, err := os.ReadFile("../../docs/SCAN.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	var words []string
	for _, part := range []reflect.Type{reflect.TypeFor[Result](), reflect.TypeFor[Counts](), reflect.TypeFor[Totals](), reflect.TypeFor[Finding](),
		reflect.TypeFor[ruleDocument](), reflect.TypeFor[exemptionText]()} {
		for i := range part.NumField() {
			words = append(words, part.Field(i).Tag.Get("json"))
		}
	}
	for _, s := range []Status{Fatal, Warning, AllowedSource, AllowedDoc, ApprovedByUser} {
		words = append(words, string(s))
		if label := (Finding{Status: s}).label(); !strings.Contains(page, "`"+label+"`") {
			t.Errorf("the page does not name %s", label)
		}
	}
	for _, o := range []Outcome{Clean, Nothing, Found} {
		words = append(words, string(o))
	}
	for _, p := range []Place{InContent, InName, InRef, InMessage, InHeader} {
		words = append(words, string(p))
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, code := range regexp.MustCompile(`&Error\{Code: "([a-z_]+)"`).FindAllStringSubmatch(string(text), -1) {
			words = append(words, code[1])
			declared, err := os.ReadFile("errors.go")
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`//.*\b` + code[1] + `[,.]`).Match(declared) {
				t.Errorf("the comment of Error does not name %s", code[1])
			}
		}
	}
	for _, word := range words {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("the page does not name %s", word)
		}
	}
	example := page[strings.Index(page, "```json")+len("```json"):]
	parsed, err := parseFile("page", []byte(example[:strings.Index(example, "```")]))
	if err != nil || len(parsed.rules) != 1 || len(parsed.exemptions) != 1 {
		t.Errorf("the page's example: %+v, %v", parsed, err)
	}
}
