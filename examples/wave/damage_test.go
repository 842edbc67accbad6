package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"aesop/wave"
)

// document is a kind of file that people write and a run reads.
type document struct {
	name  string
	whole string // a good one
	twice string // with one thing twice
	types string // with a wrong type
	field string // which the message about types must name
}

func documents() []document {
	return []document{
		{"tracker.json", `{"items": [
  {"id": "a", "slug": "a", "ownsFiles": ["a.txt"], "prompt": "x", "testCmd": "grep good a.txt"} // one
]}
`, `{"items": [{"id": "a", "slug": "a"}, {"id": "a", "slug": "b"}]}`, "{\"items\": [\n{\"id\": \"a\", \"slug\": \"a\", \"prompt\": 7}]}", "items[0].prompt"},
		{"aesop.json", `{
  "schemaVersion": 1, // the first
  "maxItems": 3
}
`, `{"maxItems": 3, "maxItems": 4}`, "{\n\"maxItems\": \"3\"}", "maxItems"},
		{"script.json", `{
  "a": [{"files": {"a.txt": "good\n"}}] // an attempt
}
`, `{"a": [], "a": []}`, "{\n\"a\": [{\"say\": 1}]}", "a[0].say"},
	}
}

// ground is a repository with all documents in a good state.
type ground struct {
	t   *testing.T
	dir string
}

func newGround(t *testing.T) ground {
	g := ground{t, t.TempDir()}
	for _, d := range documents() {
		g.write(d.name, []byte(d.whole))
	}
	for _, args := range [][]string{{"init", "--quiet", "--bare", "--initial-branch=main", g.path("remote.git")}, {"init", "--quiet", "--initial-branch=main", g.path("repo")},
		{"-C", g.path("repo"), "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "--allow-empty", "--message=Begin"},
		{"-C", g.path("repo"), "remote", "add", "origin", g.path("remote.git")}, {"-C", g.path("repo"), "push", "--quiet", "origin", "main"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return g
}

func (g ground) path(name string) string { return filepath.Join(g.dir, name) }

func (g ground) write(name string, data []byte) {
	g.t.Helper()
	if err := os.WriteFile(g.path(name), data, 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// run runs the built binary (this one, as testscript made it) and returns its exit code and what it printed.
func (g ground) run() (code int, stdout, stderr string) {
	g.t.Helper()
	cmd := exec.Command("wave", "run", "--repo", g.path("repo"), "--state", g.path("state"), "--tracker", g.path("tracker.json"), "--config", g.path("aesop.json"),
		"--driver", "script", "--script", g.path("script.json"), "--json")
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		g.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), diagnostics.String()
}

func TestDamagedDocumentsAreRefusedAndUntouched(t *testing.T) {
	for _, d := range documents() {
		for name, tt := range map[string]struct {
			data  []byte // nil: the file is missing
			line  bool   // the message must name a line
			field string
		}{
			"missing":      {nil, false, ""},
			"empty":        {[]byte{}, true, ""},
			"blank":        {[]byte("\n \n"), true, ""},
			"zero-filled":  {make([]byte, 512), true, ""},
			"truncated":    {[]byte(d.whole[:len(d.whole)/2]), true, ""},
			"garbage tail": {[]byte(d.whole + "}}garbage"), true, ""},
			"utf-16":       {utf16le(d.whole), true, ""},
			"not utf-8":    {[]byte("{\"a\": \"\xff\"}"), true, ""},
			"twice":        {[]byte(d.twice), true, ""},
			"wrong type":   {[]byte(d.types), true, d.field},
			"not JSON":     {[]byte("items:\n  - id: a\n"), true, ""},
		} {
			t.Run(d.name+"/"+name, func(t *testing.T) {
				g := newGround(t)
				if tt.data == nil {
					if err := os.Remove(g.path(d.name)); err != nil {
						t.Fatal(err)
					}
				} else {
					g.write(d.name, tt.data)
				}
				code, stdout, stderr := g.run()
				if code != 2 {
					t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
				}
				var document struct {
					Outcome string
					Error   wave.ReportError
				}
				if err := json.Unmarshal([]byte(stdout), &document); err != nil {
					t.Fatalf("standard output is not one document: %v\n%s", err, stdout)
				}
				e := document.Error
				if document.Outcome != "error" || e.File != g.path(d.name) || e.Message == "" || e.Code == "" {
					t.Errorf("document: %s", stdout)
				}
				if tt.line && e.Line == 0 || tt.field != "" && e.Field != tt.field {
					t.Errorf("line %d, field %q, want a line and field %q", e.Line, e.Field, tt.field)
				}
				if !strings.Contains(stderr, d.name) {
					t.Errorf("standard error does not name the file: %s", stderr)
				}
				if data, err := os.ReadFile(g.path(d.name)); tt.data != nil && (err != nil || !bytes.Equal(data, tt.data)) {
					t.Errorf("the file was changed: %q, %v", data, err)
				}
			})
		}
	}
}

func TestDocumentsAsEditorsSaveThemAreReadAndKept(t *testing.T) {
	for name, save := range map[string]func(string) string{
		"byte order mark": func(s string) string { return "\ufeff" + s },
		"CRLF":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"both":            func(s string) string { return "\ufeff" + strings.ReplaceAll(s, "\n", "\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			for _, d := range documents() {
				g.write(d.name, []byte(save(d.whole)))
			}
			if code, stdout, stderr := g.run(); code != 0 {
				t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
			}
			for _, d := range documents() {
				data, err := os.ReadFile(g.path(d.name))
				if err != nil {
					t.Fatal(err)
				}
				if d.name != "tracker.json" {
					if string(data) != save(d.whole) {
						t.Errorf("%s was changed: %q", d.name, data)
					}
					continue
				}
				plain := func(text string) string { return strings.TrimPrefix(save(text), "\ufeff") }
				head, tail := plain(`"testCmd": "grep good a.txt"`), plain("} // one\n]}\n")
				if !strings.Contains(string(data), head) || !strings.HasSuffix(string(data), tail) || !strings.Contains(string(data), `"done"`) {
					t.Errorf("the backlog was not kept: %q", data)
				}
				if strings.HasPrefix(save(""), "\ufeff") != strings.HasPrefix(string(data), "\ufeff") {
					t.Error("the byte order mark was not kept")
				}
				if bare := strings.Count(string(data), "\n") - strings.Count(string(data), "\r\n"); strings.Contains(save("\n"), "\r") && bare > 0 {
					t.Errorf("%d lines end without CR: %q", bare, data)
				}
			}
		})
	}
}

func utf16le(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}
