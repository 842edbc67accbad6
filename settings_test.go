package aesop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop"
	"aesop/cost"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/policy"
)

// key is one key of aesop.json with a value of its own for each source.
type key struct {
	name, variable    string
	file              string // JSON
	environment, flag string
	get               func(aesop.Settings) any
	// what get returns for each source; where the file is meant, of an absolute path
	inFile, inEnvironment, inFlag, standard any
	shown                                   string // JSON of the default as wave config shows it
	bad                                     string // JSON of a value that the file must not have
	complaint                               string // about it
	badText                                 string // as flag or variable; "": every text is good
}

func keys() []key {
	return []key{
		textKey("tracker", "AESOP_TRACKER", `"tracker.json"`, func(s aesop.Settings) any { return s.Tracker }),
		textKey("state", "AESOP_STATE", "null", func(s aesop.Settings) any { return s.State }),
		textKey("store", "AESOP_STORE", "null", func(s aesop.Settings) any { return s.Store }),
		textKey("remote", "AESOP_REMOTE", "null", func(s aesop.Settings) any { return s.Remote }),
		textKey("base", "AESOP_BASE", "null", func(s aesop.Settings) any { return s.Base }),
		{"ship", "AESOP_SHIP", `"local"`, "push", "local", func(s aesop.Settings) any { return s.Ship }, "local", "push", "local", "", `"push"`,
			`"merge"`, `is "merge", must be one of push, local`, "merge"},
		textKey("driver", "AESOP_DRIVER", "null", func(s aesop.Settings) any { return s.Driver }),
		textKey("model", "AESOP_MODEL", "null", func(s aesop.Settings) any { return s.Model }),
		textKey("agentCmd", "AESOP_AGENT_CMD", "null", func(s aesop.Settings) any { return s.AgentCmd }),
		{"verify", "AESOP_VERIFY", `["go", "test"]`, "make", "make check", func(s aesop.Settings) any { return s.Verify },
			tracker.Command{Argv: []string{"go", "test"}}, tracker.Command{Shell: "make"}, tracker.Command{Shell: "make check"}, tracker.Command{}, "null", `" "`, "names no program", "\t"},
		listKey("prepare", "AESOP_PREPARE", func(s aesop.Settings) any { return s.Prepare }),
		listKey("carry", "AESOP_CARRY", func(s aesop.Settings) any { return s.Carry }),
		listKey("passEnv", "AESOP_PASS_ENV", func(s aesop.Settings) any { return s.PassEnv }),
		numberKey("maxItems", "AESOP_MAX_ITEMS", "5", func(s aesop.Settings) any { return s.MaxItems }),
		numberKey("parallel", "AESOP_PARALLEL", "4", func(s aesop.Settings) any { return s.Parallel }),
		durationKey("agentTimeout", "AESOP_AGENT_TIMEOUT", `"30m"`, func(s aesop.Settings) any { return s.AgentTimeout }),
		durationKey("idleTimeout", "AESOP_IDLE_TIMEOUT", `"10m"`, func(s aesop.Settings) any { return s.IdleTimeout }),
		durationKey("testTimeout", "AESOP_TEST_TIMEOUT", `"10m"`, func(s aesop.Settings) any { return s.TestTimeout }),
		durationKey("lease", "AESOP_LEASE", `"15m"`, func(s aesop.Settings) any { return s.Lease }),
		numberKey("maxAttempts", "AESOP_MAX_ATTEMPTS", "3", func(s aesop.Settings) any { return s.MaxAttempts }),
		truthKey("allowRedBase", "AESOP_ALLOW_RED_BASE", func(s aesop.Settings) any { return s.AllowRedBase }),
		listKey("protectedBranches", "AESOP_PROTECTED_BRANCHES", func(s aesop.Settings) any { return s.ProtectedBranches }),
		truthKey("supervise", "AESOP_SUPERVISE", func(s aesop.Settings) any { return s.Supervise }),
		limitsKey(),
		policyKey(),
		notifyKey(),
	}
}

// notifyKey is the key for who is told; notify_test.go has its members.
func notifyKey() key {
	want := func(name string) []aesop.Notify { return []aesop.Notify{{Name: name, File: "/news"}} }
	text := func(name string) string { return fmt.Sprintf(`[{"name": %q, "file": "/news"}]`, name) }
	return key{"notify", "AESOP_NOTIFY", text("a"), text("b"), text("c"), func(s aesop.Settings) any { return s.Notify },
		want("a"), want("b"), want("c"), []aesop.Notify(nil), "null", "{}", "is an object, must be an array", `[{"name": "a"}]`}
}

func textKey(name, variable, shown string, get func(aesop.Settings) any) key {
	return key{name, variable, `"/from/file"`, "/from/environment", "/from/flag", get, "/from/file", "/from/environment", "/from/flag", "", shown,
		"7", "is a number, must be a string", ""}
}

func listKey(name, variable string, get func(aesop.Settings) any) key {
	return key{name, variable, `["a", "b, c"]`, "d, e", "f,", get, []string{"a", "b, c"}, []string{"d", "e"}, []string{"f"}, []string(nil), "[]",
		`"a"`, "is a string, must be an array", ""}
}

func numberKey(name, variable, shown string, get func(aesop.Settings) any) key {
	return key{name, variable, "11", "12", "13", get, 11, 12, 13, 0, shown, "0", "is 0, must be from 1 to 1000000", "1.5"}
}

func durationKey(name, variable, shown string, get func(aesop.Settings) any) key {
	return key{name, variable, `"90s"`, "2m", "1h", get, 90 * time.Second, 2 * time.Minute, time.Hour, time.Duration(0), shown,
		`"-1s"`, `is "-1s", must be a duration such as 30m or 90s`, "90"}
}

func truthKey(name, variable string, get func(aesop.Settings) any) key {
	return key{name, variable, "true", "false", "true", get, true, false, true, false, "false", `"true"`, "is a string, must be a boolean", "perhaps"}
}

// limitsKey is the key for what may be spent; limits_test.go has its members.
func limitsKey() key {
	tokens := func(n int64, json string) aesop.Limits {
		return aesop.Limits{JSON: json, Budget: cost.Budget{Limits: []cost.Limit{{Scope: cost.PerDay, Tokens: n}}}}
	}
	return key{"limits", "AESOP_LIMITS", `{"dayTokens": 1}`, `{"dayTokens":2}`, `{"dayTokens":3}`, func(s aesop.Settings) any { return s.Limits },
		tokens(1, `{"dayTokens":1}`), tokens(2, `{"dayTokens":2}`), tokens(3, `{"dayTokens":3}`), aesop.Limits{}, "null",
		`[1]`, "is an array, must be an object", `{"day`}
}

func policyKey() key {
	want := func(repairs int) policy.Override { return policy.Override{Repairs: &repairs} }
	return key{"policy", "AESOP_POLICY", `{"repairs": 1}`, `{"repairs": 2}`, `{"repairs": 3}`, func(s aesop.Settings) any { return s.Policy },
		want(1), want(2), want(3), policy.Override{}, "null", "[]", "is an array, must be an object", `{"repairs": -1}`}
}

// sources are those of a test: the text of the file ("": none), variables and flags.
func sources(file string, environment, flags map[string]string) aesop.Sources {
	return aesop.Sources{
		Flags:  flags,
		Lookup: func(name string) (string, bool) { value, ok := environment[name]; return value, ok },
		File:   "/conf/aesop.json",
		Read: func(string) ([]byte, error) {
			if file == "" {
				return nil, os.ErrNotExist
			}
			return []byte(file), nil
		},
	}
}

func row(t *testing.T, rows []aesop.Setting, name string) aesop.Setting {
	t.Helper()
	for _, r := range rows {
		if r.Key == name {
			return r
		}
	}
	t.Fatalf("no row for %s", name)
	return aesop.Setting{}
}

func TestEverySettingIsInTheTable(t *testing.T) {
	_, rows, err := aesop.LoadSettings(aesop.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if fields := reflect.TypeFor[aesop.Settings]().NumField(); len(rows) != len(keys()) || len(keys()) != fields {
		t.Fatalf("%d rows, %d keys in the test, %d fields", len(rows), len(keys()), fields)
	}
	for i, k := range keys() {
		if rows[i].Key != k.name || aesop.EnvironmentName(k.name) != k.variable {
			t.Errorf("row %d is %s with %s, want %s with %s", i, rows[i].Key, aesop.EnvironmentName(rows[i].Key), k.name, k.variable)
		}
	}
}

// TestPrecedence: each key, by every combination of the sources that can set it.
func TestPrecedence(t *testing.T) {
	for _, k := range keys() {
		for mask := range 8 {
			file, environment, flags := "", map[string]string{}, map[string]string{}
			want, source := k.standard, "default"
			if mask&1 != 0 {
				file = `{"` + k.name + `": ` + k.file + `}`
				want, source = k.inFile, "file"
			}
			if mask&2 != 0 {
				environment[k.variable] = k.environment
				want, source = k.inEnvironment, "environment"
			}
			if mask&4 != 0 {
				flags[k.name] = k.flag
				want, source = k.inFlag, "flag"
			}
			s, rows, err := aesop.LoadSettings(sources(file, environment, flags))
			if err != nil {
				t.Errorf("%s from %s: %v", k.name, source, err)
				continue
			}
			if diff := cmp.Diff(want, k.get(s)); diff != "" {
				t.Errorf("%s from %s: %s", k.name, source, diff)
			}
			if got := row(t, rows, k.name); got.Source != source {
				t.Errorf("%s: source %s, want %s", k.name, got.Source, source)
			}
			for _, other := range rows {
				if other.Key != k.name && other.Source != "default" {
					t.Errorf("%s changes the source of %s to %s", k.name, other.Key, other.Source)
				}
			}
		}
	}
}

func TestRowsShowTheValue(t *testing.T) {
	for _, k := range keys() {
		_, rows, err := aesop.LoadSettings(aesop.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		if got := jsonText(t, row(t, rows, k.name).Value); got != k.shown {
			t.Errorf("%s: the default is shown as %s, want %s", k.name, got, k.shown)
		}
		_, rows, err = aesop.LoadSettings(sources(`{"`+k.name+`": `+k.file+`}`, nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(strings.ReplaceAll(k.file, `": `, `":`), `", "`, `","`)
		if k.file == `"90s"` {
			want = `"1m30s"`
		}
		if got := jsonText(t, row(t, rows, k.name).Value); got != want {
			t.Errorf("%s: %s is shown as %s", k.name, want, got)
		}
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTypesAreChecked(t *testing.T) {
	for _, k := range keys() {
		_, _, err := aesop.LoadSettings(sources("{\n  \"schemaVersion\": 1,\n  \""+k.name+"\": "+k.bad+"\n}", nil, nil))
		if want := "/conf/aesop.json:3: " + k.name + ": " + k.complaint; err == nil || err.Error() != want {
			t.Errorf("file: error is %v, want %s", err, want)
		}
		_, _, err = aesop.LoadSettings(sources("{\""+k.name+"\": null}", nil, nil))
		if err == nil || !strings.Contains(err.Error(), "is null, must be") {
			t.Errorf("%s: null: error is %v", k.name, err)
		}
		if k.badText == "" {
			continue
		}
		_, _, err = aesop.LoadSettings(sources("", map[string]string{k.variable: k.badText}, nil))
		if err == nil || !strings.HasPrefix(err.Error(), "environment: "+k.variable+": ") {
			t.Errorf("environment: error is %v, want one that names %s", err, k.variable)
		}
		_, _, err = aesop.LoadSettings(sources("", nil, map[string]string{k.name: k.badText}))
		if err == nil || !strings.HasPrefix(err.Error(), "command line: "+k.name+": ") {
			t.Errorf("flag: error is %v, want one that names %s", err, k.name)
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		text, code string
		line       int
		says       string
	}{
		"empty":           {"\n", "empty", 1, "the file is empty"},
		"zeros":           {strings.Repeat("\x00", 64), "encoding", 1, "only zero bytes"},
		"truncated":       {"{\n  \"maxItems\": 3,\n  \"par", "syntax", 3, "the end of the file is missing"},
		"garbage tail":    {"{\n}\n}", "syntax", 3, "after top-level value"},
		"UTF-16":          {"\xff\xfe{\x00}\x00", "encoding", 1, "UTF-16"},
		"duplicate key":   {"{\n\"model\": \"a\",\n\"model\": \"b\"}", "duplicate", 3, "first on line 2"},
		"an array":        {"\n[]", "shape", 2, "must be an object"},
		"unknown key":     {"{\n\n\"maxItem\": 3}", "unknown_key", 3, `did you mean "maxItems"?`},
		"unknown word":    {"{\"zzz\": 3}", "unknown_key", 1, "known keys: schemaVersion, tracker, state"},
		"newer version":   {"{\n\"schemaVersion\": 2}", "schema_version", 2, "this version reads 1"},
		"version as text": {"{\"schemaVersion\": \"1\"}", "shape", 1, "must be a number"},
		"entry of a list": {"{\"carry\": [\"a\",\n2]}", "shape", 2, "carry[1]: is a number"},
		"empty vector":    {"{\"verify\": []}", "shape", 1, "names no program"},
		"other vector":    {"{\"verify\": {}}", "shape", 1, "must be a string"},
		"fraction":        {"{\"parallel\": 1.5}", "shape", 1, "must be a whole number"},
		"huge":            {"{\"parallel\": 9000000}", "shape", 1, "must be from 1 to 1000000"},
		"inner duplicate": {"{\"limits\": {\"a\": 1,\n\"a\": 2}}", "duplicate", 2, "limits.a"},
	} {
		_, rows, err := aesop.LoadSettings(sources(tt.text, nil, nil))
		e, ok := errors.AsType[*aesop.FileError](err)
		if !ok || rows != nil || e.Code != tt.code || e.File != "/conf/aesop.json" || e.Line != tt.line || !strings.Contains(e.Error(), tt.says) {
			t.Errorf("%s: error is %v (%+v)", name, err, e)
		}
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	if _, _, err := aesop.LoadSettings(sources("", nil, nil)); err != nil {
		t.Errorf("a file that nobody named: %v", err)
	}
	needed := sources("", nil, nil)
	needed.Need = true
	if _, _, err := aesop.LoadSettings(needed); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "/conf/aesop.json") {
		t.Errorf("a file that was named: %v", err)
	}
	for _, need := range []bool{false, true} {
		if _, _, err := aesop.LoadSettings(aesop.Sources{File: t.TempDir(), Need: need}); err == nil {
			t.Error("a folder was read as a configuration")
		}
	}
}

// TestFileAsPeopleWriteIt has a mark, comments, trailing commas and CRLF, and the keys of the published example.
func TestFileAsPeopleWriteIt(t *testing.T) {
	text := "\ufeff" + strings.ReplaceAll(`// how waves run here
{
  "schemaVersion": 1,
  "driver": "codex", /* not the other one */
  "verify": "go vet ./... && go test ./...",
  "prepare": ["npm ci"],
  "carry": ["node_modules/"],
  "maxItems": 5,
  "parallel": 4,
  "agentTimeout": "30m",
  "limits": { "waveUsd": "5.00", "dayTokens": 20000000 }, // for the day
}`, "\n", "\r\n")
	s, rows, err := aesop.LoadSettings(sources(text, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	want := aesop.Settings{Driver: "codex", Verify: tracker.Command{Shell: "go vet ./... && go test ./..."}, Prepare: []string{"npm ci"},
		Carry: []string{"node_modules/"}, MaxItems: 5, Parallel: 4, AgentTimeout: 30 * time.Minute, Limits: aesop.Limits{JSON: `{"waveUsd":"5.00","dayTokens":20000000}`, Budget: cost.Budget{Limits: []cost.Limit{{Scope: cost.PerWave, Money: 5 * cost.Dollar}, {Scope: cost.PerDay, Tokens: 20_000_000}}}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	if r := row(t, rows, "agentTimeout"); r.Source != "file" || r.Value != "30m" {
		t.Errorf("row: %+v", r)
	}
}

func TestEmptyVariableSetsNothingAndEmptyFlagTakesBack(t *testing.T) {
	s, rows, err := aesop.LoadSettings(sources(`{"model": "a", "driver": "b"}`, map[string]string{"AESOP_MODEL": ""}, map[string]string{"driver": ""}))
	if err != nil || s.Model != "a" || row(t, rows, "model").Source != "file" || s.Driver != "" || row(t, rows, "driver").Source != "flag" {
		t.Errorf("model %q, driver %q, %v, %v", s.Model, s.Driver, rows, err)
	}
}

// TestPathsOfTheFileAreRelativeToIt also where the file itself is named by a relative path.
func TestPathsOfTheFileAreRelativeToIt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("conf", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("conf/aesop.json", []byte(`{"tracker": "../backlog.json", "state": "state", "agentCmd": "./agent", "store": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"conf/aesop.json", filepath.Join(dir, "conf/aesop.json")} {
		s, _, err := aesop.LoadSettings(aesop.Sources{File: file})
		if err != nil {
			t.Fatal(err)
		}
		want := aesop.Settings{Tracker: filepath.Join(dir, "backlog.json"), State: filepath.Join(dir, "conf/state"), AgentCmd: "./agent", Store: "x"}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Error(file, diff)
		}
		s.State = filepath.Join(dir, "elsewhere")
		place, err := aesop.Locate(t.Context(), "conf", s)
		if err != nil || place.Backlog != want.Tracker || place.Repo != filepath.Join(dir, "conf") || place.State != s.State {
			t.Errorf("%s: place is %+v, %v", file, place, err)
		}
	}
	s, _, err := aesop.LoadSettings(aesop.Sources{File: "conf/aesop.json", Flags: map[string]string{"tracker": "mine.json", "state": "s"}})
	if err != nil || s.Tracker != "mine.json" || s.State != "s" {
		t.Errorf("flags: %+v, %v", s, err)
	}
	place, err := aesop.Locate(t.Context(), "conf", s)
	if err != nil || place.Backlog != filepath.Join(dir, "conf/mine.json") || place.State != filepath.Join(dir, "s") {
		t.Errorf("place is %+v, %v", place, err)
	}
}

func TestSettingsThatAreNotCarriedOutAreRefused(t *testing.T) {
	for _, name := range []string{"store"} {
		var k key
		for _, k = range keys() {
			if k.name == name {
				break
			}
		}
		s, _, err := aesop.LoadSettings(sources(`{"`+name+`": `+k.file+`}`, nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		s.Driver, s.AgentCmd, s.State = "command", "true", filepath.Join(t.TempDir(), "state")
		engine, err := aesop.Open(t.Context(), aesop.Config{Settings: s, Repo: t.TempDir()})
		setup, ok := errors.AsType[*wave.SetupError](err)
		if engine != nil || !ok || setup.Code != "unsupported_setting" || !strings.HasPrefix(setup.Message, name+" is set") {
			t.Errorf("%s: error is %v", name, err)
		}
		if _, err := os.Stat(s.State); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a state was made: %v", name, err)
		}
	}
}
