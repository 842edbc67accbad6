package template_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/tracker/template"
)

func TestPresetsAreValid(t *testing.T) {
	for _, name := range template.Names() {
		for _, d := range preset(t, name).Validate() {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestValidate(t *testing.T) {
	good := `"ownsFiles": ["x"], "prompt": "p", "testCmd": "true"`
	for name, tt := range map[string]struct {
		text string
		want []string // code, item and field of each
	}{
		"good":                {`[{"id":"a","slug":"a",` + good + `}]`, nil},
		"nothing":             {``, []string{"empty  "}},
		"no JSON":             {`[`, []string{"syntax  "}},
		"no list":             {`{}`, []string{"shape  "}},
		"empty list":          {`[]`, []string{"no_items  "}},
		"empty items":         {`{"items": []}`, []string{"no_items  items"}},
		"wrong type":          {`{"items":[{"id":"a","slug":"a","prompt":1}]}`, []string{"shape  items[0].prompt"}},
		"twice":               {`[{"id":"a","slug":"a",` + good + `},{"id":"A","slug":"b",` + good + `}]`, []string{"duplicate  [1].id"}},
		"twice once filled":   {`[{"id":"{project_name}","slug":"a",` + good + `},{"id":"sample-project","slug":"b",` + good + `}]`, []string{"duplicate  [1].id"}},
		"all keys absent":     {`[{"id":"a","slug":""}]`, []string{"missing_or_empty_slug a [0].slug", "no_file_ownership a [0].ownsFiles", "missing_or_empty_prompt a [0].prompt", "missing_or_empty_testCmd a [0].testCmd"}},
		"bad paths":           {`[{"id":"a","slug":"a","ownsFiles":["{base_dir}/../x"],"prompt":"p","testCmd":"true","workDir":"/x","repo":"a/.git"}]`, []string{"invalid_path a [0].ownsFiles", "invalid_path a [0].workDir", "invalid_path a [0].repo"}},
		"not a path":          {`[{"id":"a","slug":"a","ownsFiles":[7],"prompt":"p","testCmd":"true"}]`, []string{"invalid_ownsFiles_entries a [0].ownsFiles"}},
		"overlap":             {`[{"id":"a","slug":"a",` + good + `},{"id":"b","slug":"b","dependsOn":["a"],` + good + `}]`, []string{"overlaps_selected b [1].ownsFiles"}},
		"overlap once filled": {`[{"id":"a","slug":"a","ownsFiles":["{base_dir}/x"],"prompt":"p","testCmd":"true"},{"id":"b","slug":"b","ownsFiles":["sample/BASE/"],"prompt":"p","testCmd":"true"}]`, []string{"overlaps_selected b [1].ownsFiles"}},
		"unknown status":      {`[{"id":"a","slug":"a","status":"open",` + good + `}]`, []string{"unknown_status a [0].status"}},
		"not todo":            {`[{"id":"a","slug":"a","status":"in_progress",` + good + `}]`, []string{"not_fresh a [0].status"}},
		"worked on":           {`[{"id":"a","slug":"a","epoch":2,` + good + `}]`, []string{"not_fresh a [0].claim"}},
		"claimed":             {`[{"id":"a","slug":"a","claim":{"attempt":"x","leaseUntil":"2999-01-01"},` + good + `}]`, []string{"not_fresh a [0].claim"}},
		"no such dependency":  {`[{"id":"a","slug":"a","dependsOn":["b"],` + good + `}]`, []string{"blocked_by a [0].dependsOn"}},
		"circle":              {`[{"id":"a","slug":"a","dependsOn":["b"],` + good + `},{"id":"b","slug":"b","ownsFiles":["y"],"prompt":"p","testCmd":"true","dependsOn":["a"]}]`, []string{"blocked_by a [0].dependsOn", "blocked_by b [1].dependsOn"}},
		"unknown":             {`[{"id":"a","slug":"a","notes":"{name}",` + good + `}]`, []string{"unknown_placeholder  [0].notes"}},
		"in a key":            {`[{"id":"a","slug":"a","{name}":1,` + good + `}]`, []string{"unknown_placeholder  [0].{name}"}},
		"left over":           {`[{"id":"a","slug":"a","notes":"{ base_dir } and ${project_name}",` + good + `}]`, []string{"leftover_placeholder  [0].notes", "leftover_placeholder  [0].notes"}},
		"no placeholder":      {`[{"id":"a","slug":"a","notes":"${HOME} {} {a,b} {\"k\": 1} { x; }",` + good + `}]`, nil},
		"of another version":  {`{"schemaVersion": 9, "items": []}`, []string{"schema_version  schemaVersion"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range (template.Template{Name: "mine", Text: []byte(tt.text)}).Validate() {
				got = append(got, fmt.Sprintf("%s %s %s", d.Code, d.Item, d.Field))
				if d.Message == "" || d.Line < 1 || strings.HasPrefix(d.Message, d.Field) && d.Field != "" {
					t.Errorf("%+v", d)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestValidMeansThatItCanBeMade: nothing that Validate lets pass is refused by Instantiate.
func TestValidMeansThatItCanBeMade(t *testing.T) {
	mine := template.Template{Name: "mine", Text: []byte(`[{"id":"{project_name}","slug":"{project_name}","ownsFiles":["{base_dir}/"],"prompt":"x","testCmd":["test","-d","{base_dir}"]}]`)}
	if d := mine.Validate(); d != nil {
		t.Fatal(d)
	}
	if _, err := mine.Instantiate(template.Values{ProjectName: "p", BaseDir: "d"}); err != nil {
		t.Error(err)
	}
}
