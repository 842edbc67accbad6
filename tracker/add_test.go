package tracker_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/tracker"
	"aesop/tracker/trackertest"
)

func TestAddKeepsTheLayout(t *testing.T) {
	item := tracker.Item{ID: "n", Slug: "new", OwnsFiles: []string{"x"}, Prompt: "p", TestCmd: tracker.Command{Shell: "t"}}
	members := []string{`"id": "n"`, `"slug": "new"`, `"status": "todo"`, `"priority": "P3"`, `"ownsFiles": ["x"]`, `"prompt": "p"`, `"testCmd": "t"`}
	lines := func(newline, indent string) string {
		return "{" + newline + indent + strings.Join(members, ","+newline+indent)
	}
	oneLine := "{" + strings.Join(members, ", ") + "}"
	tests := []struct{ name, before, after string }{
		{"empty", "[]", "[\n  " + lines("\n", "    ") + "\n  }\n]"},
		{"empty in an object", "{\n\t\"items\": [ ]\n}\n", "{\n\t\"items\": [\n\t  " + lines("\n", "\t    ") + "\n\t  }\n\t]\n}\n"},
		{"empty with a comment", "{\"items\": [ // none yet\n]}", "{\"items\": [\n  " + lines("\n", "    ") + "\n  } // none yet\n]}"},
		{"lines", "[\n  {\n    \"id\": \"a\",\n    \"slug\": \"a\"\n  }\n]\n", "[\n  {\n    \"id\": \"a\",\n    \"slug\": \"a\"\n  },\n  " + lines("\n", "    ") + "\n  }\n]\n"},
		{"tabs, CRLF, trailing comma, comments", "[\r\n\t{\r\n\t\t\"id\": \"a\", // i\r\n\t\t\"slug\": \"a\", // s\r\n\t}, // a\r\n\t// end\r\n]", "[\r\n\t{\r\n\t\t\"id\": \"a\", // i\r\n\t\t\"slug\": \"a\", // s\r\n\t}, // a\r\n\t" + lines("\r\n", "\t\t") + "\r\n\t},\r\n\t// end\r\n]"},
		{"one line each", "[\n  {\"id\": \"a\", \"slug\": \"a\"}\n]", "[\n  {\"id\": \"a\", \"slug\": \"a\"},\n  " + oneLine + "\n]"},
		{"all on one line", `{"items": [{"id": "a", "slug": "a"}, {"id": "b", "slug": "b"}], "x": 1}`, `{"items": [{"id": "a", "slug": "a"}, {"id": "b", "slug": "b"}, ` + oneLine + `], "x": 1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "tracker.json")
			write(t, path, []byte(tt.before))
			f := openAt(t, dir, nil)
			if err := f.Add(t.Context(), item); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, read(t, path)); diff != "" {
				t.Fatal(diff)
			}
			if _, err := f.Claim(t.Context(), tracker.Holder{}, time.Hour, tracker.Want{ID: "n"}); err != nil {
				t.Errorf("the new item cannot be claimed: %v", err)
			}
		})
	}
}

func TestAddEverything(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tracker.json"), encode(t))
	f := openAt(t, dir, nil)
	want := tracker.Item{
		ID: "n", Slug: "new", Title: "a \"b\" <c>\n", Status: tracker.Blocked, StatusReason: "r", Priority: "P0",
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), OwnsFiles: []string{"x", "y/"}, Prompt: "p\u2028\u00e9",
		TestCmd: tracker.Command{Argv: []string{"go", "test"}}, WorkDir: "./w", Repo: "r", DependsOn: []string{"d"},
		AcceptanceCriteria: []string{"c"}, Model: "m", Notes: "n",
	}
	if err := f.Add(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	backlog, err := f.Backlog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want.CreatedAt, want.WorkDir, want.Line = time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC), "w", backlog.Items[0].Line
	if diff := cmp.Diff([]tracker.Item{want}, backlog.Items); diff != "" {
		t.Error(diff)
	}
}

func TestAddRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.json")
	write(t, path, encode(t, trackertest.Item("a")))
	before := read(t, path)
	f := openAt(t, dir, nil)
	for name, change := range map[string]func(*tracker.Item){
		"exists: id":   func(i *tracker.Item) { i.ID = "A" },
		"exists: slug": func(i *tracker.Item) { i.Slug = "SLUG-a" },
		"no id":        func(i *tracker.Item) { i.ID = "" },
		"defect":       func(i *tracker.Item) { i.Prompt = "" },
		"status":       func(i *tracker.Item) { i.Status = "wip" },
		"priority":     func(i *tracker.Item) { i.Priority = "high" },
		"repo":         func(i *tracker.Item) { i.Repo = "elsewhere" },
		"claim":        func(i *tracker.Item) { i.Claim = &tracker.ClaimState{Attempt: "x"} },
		"attempts":     func(i *tracker.Item) { i.Attempts = 1 },
		"not UTF-8":    func(i *tracker.Item) { i.Prompt = "\xff" },
	} {
		item := trackertest.Item("n")
		change(&item)
		err := f.Add(t.Context(), item)
		var conflict *tracker.ConflictError
		if isConflict := errors.As(err, &conflict); err == nil || isConflict != strings.HasPrefix(name, "exists") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if read(t, path) != before {
		t.Error("a refused item changed the file")
	}
}
