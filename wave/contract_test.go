package wave_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"aesop/wave"
)

func reportSchema(t *testing.T) (*jsonschema.Schema, *jsonschema.Resolved) {
	t.Helper()
	data, err := os.ReadFile("../docs/report.schema.json")
	must(t, err)
	var schema jsonschema.Schema
	must(t, json.Unmarshal(data, &schema))
	resolved, err := schema.Resolve(nil)
	must(t, err)
	return &schema, resolved
}

// checkContract validates a report, as it would be printed, against the published schema.
func checkContract(t *testing.T, report wave.Report) {
	t.Helper()
	_, schema := reportSchema(t)
	data, err := json.Marshal(report)
	must(t, err)
	var document any
	must(t, json.Unmarshal(data, &document))
	if err := schema.Validate(document); err != nil {
		t.Errorf("the report breaks its contract: %v\n%s", err, asJSON(report))
	}
}

func TestSchemaRefusesWhatIsNotAReport(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	data, err := json.Marshal(w.run())
	must(t, err)
	_, schema := reportSchema(t)
	for name, spoil := range map[string]func(map[string]any){
		"merged":        func(r map[string]any) { r["merged"] = true },
		"missing key":   func(r map[string]any) { delete(r, "haltReason") },
		"unknown key":   func(r map[string]any) { r["extra"] = 1 },
		"unknown state": func(r map[string]any) { r["items"].([]any)[0].(map[string]any)["state"] = "fine" },
		"negative": func(r map[string]any) {
			r["items"].([]any)[0].(map[string]any)["durations"].(map[string]any)["buildMs"] = -1
		},
	} {
		var document map[string]any
		must(t, json.Unmarshal(data, &document))
		spoil(document)
		if schema.Validate(document) == nil {
			t.Errorf("%s: the schema takes it", name)
		}
	}
}

func TestReportPageNamesEveryKey(t *testing.T) {
	page, err := os.ReadFile("../docs/REPORT-CONTRACT.md")
	must(t, err)
	sections := map[string]string{}
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		sections[name] = body
	}
	root, _ := reportSchema(t)
	check := func(name string, s *jsonschema.Schema) {
		body, ok := sections[name]
		if !ok {
			t.Errorf("the page has no section %q", name)
		}
		for key, property := range s.Properties {
			if !strings.Contains(body, "| `"+key+"` |") {
				t.Errorf("section %s does not name %s", name, key)
			}
			for _, word := range property.Enum {
				if text, ok := word.(string); ok && !strings.Contains(body, "`"+text+"`") {
					t.Errorf("section %s does not name the word %s of %s", name, text, key)
				}
			}
		}
		for line := range strings.Lines(body) {
			if rest, ok := strings.CutPrefix(line, "| `"); ok && strings.Contains(body, "| key | type |") {
				if key, _, _ := strings.Cut(rest, "`"); s.Properties[key] == nil {
					t.Errorf("section %s names %s, which the schema does not have", name, key)
				}
			}
		}
	}
	check("report", root)
	for _, name := range []string{"steps", "error"} {
		check(name, root.Properties[name])
	}
	check("resumed", root.Properties["resumed"].Items)
	for name, s := range root.Defs {
		check(name, s)
	}
	check("durations", root.Defs["item"].Properties["durations"])
}
