package tracker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadEverything(t *testing.T) {
	s, err := parseBacklog("f", []byte(`// people edit this
{"schemaVersion": 1, "items": [
  {"id": "a", "slug": "b", "title": "c", "status": "in_progress", "statusReason": "d", "priority": "P0",
   "createdAt": "2026-01-02T04:04:05+01:00", "ownsFiles": ["x/"], "prompt": "e", "testCmd": ["f", "g"], "workDir": "./h",
   "repo": "../i", "dependsOn": ["j"], "acceptanceCriteria": ["k"], "model": "l", "notes": "m", "attempts": 1, "epoch": 2,
   "claim": {"wave": "n", "owner": "o", "attempt": "p", "leaseUntil": "2026-01-02T03:04:05Z", "more": 1},
   "shipped": {"wave": "q", "branch": "r", "commit": "s"}, "estimate": 3}, /* trailing: */
]}`))
	if err != nil {
		t.Fatal(err)
	}
	moment := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := []Item{{
		ID: "a", Slug: "b", Title: "c", Status: InProgress, StatusReason: "d", Priority: "P0", CreatedAt: moment,
		OwnsFiles: []string{"x/"}, Prompt: "e", TestCmd: Command{Argv: []string{"f", "g"}}, WorkDir: "h", Repo: "../i",
		DependsOn: []string{"j"}, AcceptanceCriteria: []string{"k"}, Model: "l", Notes: "m", Attempts: 1, Epoch: 2,
		Claim:   &ClaimState{Wave: "n", Owner: "o", Attempt: "p", LeaseUntil: moment},
		Shipped: &Shipped{Wave: "q", Branch: "r", Commit: "s"}, Line: 3,
	}}
	if diff := cmp.Diff(want, s.items); diff != "" {
		t.Error(diff)
	}
}

func TestReadDefaultsAndNull(t *testing.T) {
	s, err := parseBacklog("f", []byte(`[{"id": "a", "slug": "b"}, {"id": "c", "slug": "d", "status": null, "priority": null,
		"ownsFiles": null, "claim": null, "createdAt": "2026-01-02", "workDir": ".", "attempts": null}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range s.items {
		if item.Status != Todo || item.Priority != "P3" || item.WorkDir != "" || item.Claim != nil {
			t.Errorf("read %+v", item)
		}
	}
	if got := s.items[1].CreatedAt; !got.Equal(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("a date alone reads as %s", got)
	}
}

// TestDamage: every damage is an error that names the file, the line where there is one, and the field.
func TestDamage(t *testing.T) {
	item := func(members string) string { return "[\n{\"id\": \"a\", \"slug\": \"b\",\n" + members + "}]" }
	tests := []struct {
		name, text, code string
		line             int
		field, says      string
	}{
		{"empty", "", "empty", 1, "", "is empty"},
		{"blank", " \r\n\t", "empty", 1, "", "is empty"},
		{"BOM alone", "\ufeff", "empty", 1, "", "is empty"},
		{"zero filled", strings.Repeat("\x00", 64), "encoding", 1, "", "zero bytes"},
		{"tail of zeros", "[\n]\n\x00\x00", "encoding", 3, "", "zero byte"},
		{"UTF-16 with mark", "\xff\xfe[\x00]\x00", "encoding", 1, "", "UTF-16"},
		{"UTF-16 without", "[\x00 \x00]\x00", "encoding", 1, "", "UTF-16"},
		{"Latin-1", "[\n\"\xe9\"]", "encoding", 2, "", "UTF-8"},
		{"garbage tail", "[]\n}", "syntax", 2, "", "after top-level value"},
		{"second value", "[]\n[]", "syntax", 2, "", "after top-level value"},
		{"open comment", "[] /* ", "syntax", 1, "", "comment"},
		{"bottomless", strings.Repeat("[", 5_000_000), "syntax", 1, "", "levels deep"},
		{"text", "\"x\"", "shape", 1, "", "must be an object"},
		{"no items", "{\n}", "shape", 1, "", "has no items"},
		{"items twice", "{\"items\": [],\n\"items\": []}", "duplicate", 2, "items", "twice"},
		{"items of another type", "{\n\"items\": {}}", "shape", 2, "items", "must be an array"},
		{"newer version", "{\n\"schemaVersion\": 2, \"items\": []}", "schema_version", 2, "schemaVersion", "reads 1"},
		{"version of another type", "{\n\"schemaVersion\": \"1\", \"items\": []}", "shape", 2, "schemaVersion", "must be a number"},
		{"item of another type", "[\n1]", "shape", 2, "[0]", "must be an object"},
		{"no id", "[\n{\"slug\": \"b\"}]", "shape", 2, "[0]", "has no id"},
		{"empty id", "[\n{\"id\": \"\", \"slug\": \"b\"}]", "shape", 2, "[0]", "has no id"},
		{"no slug", "[\n{\"id\": \"a\"}]", "shape", 2, "[0]", "has no slug"},
		{"null slug", "[\n{\"id\": \"a\", \"slug\": null}]", "shape", 2, "[0]", "has no slug"},
		{"id twice", "[{\"id\": \"a\", \"slug\": \"b\"},\n{\"slug\": \"c\",\n\"id\": \"a\"}]", "duplicate", 3, "[1].id", "line 1"},
		{"id twice by case", "[{\"id\": \"É\", \"slug\": \"b\"},\n{\"slug\": \"c\", \"id\": \"e\u0301\"}]", "duplicate", 2, "[1].id", "line 1"},
		{"slug twice by case", "{\"items\": [{\"id\": \"a\", \"slug\": \"B\"},\n{\"slug\": \"b\", \"id\": \"c\"}]}", "duplicate", 2, "items[1].slug", "line 1"},
		{"key twice", item("\"id\": \"c\""), "duplicate", 3, "[0].id", "twice"},
		{"number as slug", "[\n{\"id\": \"a\",\n\"slug\": 1}]", "shape", 3, "[0].slug", "must be a string"},
		{"status", item(`"status": 1`), "shape", 3, "[0].status", "must be a string"},
		{"priority", item(`"priority": "high"`), "shape", 3, "[0].priority", "P0, P1, P2 or P3"},
		{"createdAt", item(`"createdAt": "yesterday"`), "shape", 3, "[0].createdAt", "must be a time"},
		{"ownsFiles", item(`"ownsFiles": "x"`), "shape", 3, "[0].ownsFiles", "must be an array"},
		{"prompt", item(`"prompt": []`), "shape", 3, "[0].prompt", "must be a string"},
		{"testCmd", item(`"testCmd": {}`), "shape", 3, "[0].testCmd", "must be a string"},
		{"testCmd's word", item(`"testCmd": ["a", 1]`), "shape", 3, "[0].testCmd[1]", "must be a string"},
		{"dependsOn", item(`"dependsOn": "x"`), "shape", 3, "[0].dependsOn", "must be an array"},
		{"dependsOn's id", item(`"dependsOn": [null]`), "shape", 3, "[0].dependsOn[0]", "must be a string"},
		{"attempts", item(`"attempts": 1.5`), "shape", 3, "[0].attempts", "whole number"},
		{"negative", item(`"epoch": -1`), "shape", 3, "[0].epoch", "between 0"},
		{"claim", item(`"claim": "ann"`), "shape", 3, "[0].claim", "must be an object"},
		{"claim's lease", item(`"claim": {"attempt": "x"}`), "shape", 3, "[0].claim", "leaseUntil"},
		{"claim's attempt", item(`"claim": {"leaseUntil": "2026-01-02T03:04:05Z"}`), "shape", 3, "[0].claim", "attempt"},
		{"claim's wave", item(`"claim": {"wave": 1}`), "shape", 3, "[0].claim.wave", "must be a string"},
		{"shipped", item(`"shipped": {"wave": "w"}`), "shape", 3, "[0].shipped", "commit"},
		{"repo on some", "[{\"id\": \"a\", \"slug\": \"b\", \"repo\": \"r\"},\n{\"id\": \"c\", \"slug\": \"d\"}]", "shape", 2, "[1]", "1 of 2 items"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseBacklog("my.json", []byte(tt.text))
			var e *FileError
			if !errors.As(err, &e) {
				t.Fatalf("error is %v", err)
			}
			if e.Code != tt.code || e.File != "my.json" || e.Line != tt.line || e.Field != tt.field || !strings.Contains(e.Error(), tt.says) {
				t.Errorf("error is %s at line %d, field %q: %s", e.Code, e.Line, e.Field, e)
			}
		})
	}
}

func TestTruncatedAnywhere(t *testing.T) {
	const text = "{\"items\": [{\"id\": \"é\", \"slug\": \"b\", \"attempts\": 10, /* c */ \"prompt\": \"x\\n\"}]}"
	for n := range len(text) {
		_, err := parseBacklog("f", []byte(text[:n]))
		var e *FileError
		if !errors.As(err, &e) || e.Line != 1 || e.Code == "shape" {
			t.Errorf("%q: error is %v", text[:n], err)
		}
	}
}

func TestDefects(t *testing.T) {
	sound := map[string]string{
		"id": `"a"`, "slug": `"b"`, "ownsFiles": `["x"]`, "prompt": `"p"`, "testCmd": `"t"`,
	}
	tests := []struct {
		name, value string
		reason      Reason
		says        string
	}{
		{"title", `"sound"`, "", ""},
		{"slug", `" "`, MissingSlug, "slug"},
		{"ownsFiles", `null`, NoFileOwnership, "at least one"},
		{"ownsFiles", `[]`, NoFileOwnership, "at least one"},
		{"ownsFiles", `["x", 1]`, InvalidOwnsFilesEntries, "entry 2"},
		{"ownsFiles", `[""]`, InvalidOwnsFilesEntries, "entry 1"},
		{"ownsFiles", `["../x"]`, InvalidPath, `"../x"`},
		{"ownsFiles", `["a[b"]`, InvalidPath, "glob"},
		{"prompt", `" \n"`, MissingPrompt, "prompt"},
		{"prompt", `null`, MissingPrompt, "prompt"},
		{"testCmd", `""`, MissingTestCmd, "testCmd"},
		{"testCmd", `" "`, MissingTestCmd, "testCmd"},
		{"testCmd", `[]`, MissingTestCmd, "testCmd"},
		{"testCmd", `["", "x"]`, MissingTestCmd, "testCmd"},
		{"testCmd", `["x"]`, "", ""},
		{"workDir", `"/x"`, InvalidPath, "workDir"},
		{"workDir", `"a/../b"`, InvalidPath, "workDir"},
		{"workDir", `"a"`, "", ""},
		{"repo", `"C:/x"`, InvalidPath, "repo"},
		{"repo", `"a/../b"`, InvalidPath, "repo"},
		{"repo", `"../../b"`, "", ""},
		{"repo", `"."`, "", ""},
		{"status", `"in-progress"`, UnknownStatus, `"in_progress"`},
		{"status", `"Done"`, UnknownStatus, `write "done"`},
		{"status", `"completed"`, UnknownStatus, `write "done"`},
		{"status", `"tood"`, UnknownStatus, `write "todo"`},
		{"status", `"xyzzy"`, UnknownStatus, "one of todo, in_progress, done, failed, blocked"},
		{"status", `""`, UnknownStatus, "one of"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.value, func(t *testing.T) {
			var parts []string
			for name, value := range sound {
				if name != tt.name {
					parts = append(parts, fmt.Sprintf("%q: %s", name, value))
				}
			}
			parts = append(parts, fmt.Sprintf("%q: %s", tt.name, tt.value))
			d := parseOne(t, "{"+strings.Join(parts, ", ")+"}").items[0].Defect()
			if d == nil {
				d = &Skip{}
			} else if d.ID != "a" {
				t.Errorf("the defect names item %q", d.ID)
			}
			if d.Reason != tt.reason || !strings.Contains(d.Detail, tt.says) {
				t.Errorf("defect is %q: %s", d.Reason, d.Detail)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	base := func() Item {
		return Item{
			ID: "a", Slug: "b", Prompt: "p", OwnsFiles: []string{"x", "y"}, TestCmd: Command{Shell: "t"}, DependsOn: []string{"d"},
		}
	}
	same := map[string]func(*Item){
		"title": func(i *Item) { i.Title = "z" }, "status": func(i *Item) { i.Status = Done }, "reason": func(i *Item) { i.StatusReason = "z" },
		"priority": func(i *Item) { i.Priority = "P0" }, "age": func(i *Item) { i.CreatedAt = lapse }, "notes": func(i *Item) { i.Notes = "z" },
		"attempts": func(i *Item) { i.Attempts = 9 }, "epoch": func(i *Item) { i.Epoch = 9 }, "claim": func(i *Item) { i.Claim = &ClaimState{} },
		"shipped": func(i *Item) { i.Shipped = &Shipped{} }, "line": func(i *Item) { i.Line = 9 }, "order": func(i *Item) { i.OwnsFiles = []string{"y", "x"} },
	}
	other := map[string]func(*Item){
		"id": func(i *Item) { i.ID = "z" }, "slug": func(i *Item) { i.Slug = "z" }, "prompt": func(i *Item) { i.Prompt = "z" },
		"owns": func(i *Item) { i.OwnsFiles = []string{"x"} }, "joined": func(i *Item) { i.OwnsFiles = []string{"x,y"} },
		"test": func(i *Item) { i.TestCmd = Command{Shell: "z"} }, "argv": func(i *Item) { i.TestCmd = Command{Argv: []string{"t"}} },
		"dir": func(i *Item) { i.WorkDir = "z" }, "repo": func(i *Item) { i.Repo = "z" }, "depends": func(i *Item) { i.DependsOn = nil },
		"criteria": func(i *Item) { i.AcceptanceCriteria = []string{"z"} }, "model": func(i *Item) { i.Model = "z" },
	}
	want := base().Fingerprint()
	for name, change := range same {
		i := base()
		if change(&i); i.Fingerprint() != want {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	for name, change := range other {
		i := base()
		if change(&i); i.Fingerprint() == want {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
}
