//go:build unix

package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/driver/script"
	"aesop/internal/document"
)

func parse(t *testing.T, text string) *script.Driver {
	t.Helper()
	d, err := script.Parse("script.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func task(t *testing.T) driver.Task {
	return driver.Task{
		Item: "i-1", Slug: "slug", Wave: "w-1", AttemptID: "a-1", Dir: t.TempDir(), AttemptDir: t.TempDir(), Round: 1,
		Mark: "script-" + strconv.Itoa(os.Getpid()) + strings.ReplaceAll(t.Name(), "/", "-"), Environment: []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello"},
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStepsHappenInOrder(t *testing.T) {
	d := parse(t, `{"slug": [{ // written backwards
		"usage": {"input": 5, "output": 2}, "say": "done",
		"exec": "cat a.txt > seen.txt; ls gone.txt >> seen.txt 2>/dev/null || echo deleted >> seen.txt",
		"delete": ["gone.txt", "never-there.txt", "folder"], "files": {"a.txt": "a\n", "deep/b.txt": "b\n"}, "sleep": "1ms",
	}]}`)
	task := task(t)
	for _, name := range []string{"gone.txt", "folder/x"} {
		path := filepath.Join(task.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var events []driver.Event
	result, err := d.Run(t.Context(), task, func(e driver.Event) { events = append(events, e) })
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, task.Dir, "seen.txt"); got != "a\ndeleted\n" {
		t.Errorf("the exec step saw %q", got)
	}
	if got := content(t, task.Dir, "deep/b.txt"); got != "b\n" {
		t.Errorf("deep/b.txt holds %q", got)
	}
	if _, err := os.Stat(filepath.Join(task.Dir, "folder")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	usage := cost.Usage{Input: 5, Output: 2, Metered: true}
	if result.Summary != "done" || result.Usage() != usage || result.Confinement != "none" {
		t.Errorf("got %+v", result)
	}
	want := []driver.Event{{Kind: "text", Text: "done"}, {Kind: "usage", Usage: usage}}
	if !reflect.DeepEqual(events, want) {
		t.Errorf("events %+v, want %+v", events, want)
	}
}

func TestRoundChoosesTheAttempt(t *testing.T) {
	d := parse(t, `{"slug": [{"say": "one"}, {"say": "two"}]}`)
	for round, want := range map[int]string{-1: "one", 0: "one", 1: "one", 2: "two", 3: "two", 99: "two"} {
		task := task(t)
		task.Round = round
		if result, err := d.Run(t.Context(), task, nil); err != nil || result.Summary != want {
			t.Errorf("round %d: %q, %v; want %q", round, result.Summary, err, want)
		}
	}
}

func TestAbsentSlug(t *testing.T) {
	d := parse(t, `{"another": [{}]}`)
	_, err := d.Run(t.Context(), task(t), nil)
	if driver.ClassOf(err) != driver.Crashed || !strings.Contains(err.Error(), `script script.json has no slug "slug"`) {
		t.Errorf("got %v", err)
	}
}

func TestFilesOfAnAttempt(t *testing.T) {
	task := task(t)
	d := parse(t, `{"slug": [{"files": {"b": "", "a": ""}, "delete": ["c"]}, {"files": {"b": ""}, "exec": "true"}]}`)
	result, err := d.Run(t.Context(), task, nil)
	if err != nil || !reflect.DeepEqual(result.Files, []string{"b", "a", "c"}) {
		t.Errorf("got %v, %v", result.Files, err)
	}
	info, err := os.Stat(filepath.Join(task.Dir, "a"))
	if err != nil || info.Mode().Perm()&^0o022 != 0o644 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	task.Round = 2
	if result, err := d.Run(t.Context(), task, nil); err != nil || result.Files != nil {
		t.Errorf("after an exec nobody knows the files: %v, %v", result.Files, err)
	}
}

// TestPlantedLinksDoNotLeadOut has the tree of a previous step hold links to the outside.
func TestPlantedLinksDoNotLeadOut(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{`"files": {"folder/file": "x"}`, `"files": {"file": "x"}`, `"delete": ["folder/file"]`} {
		task := task(t)
		for name, target := range map[string]string{"folder": outside, "file": filepath.Join(outside, "file")} {
			if err := os.Symlink(target, filepath.Join(task.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := parse(t, `{"slug": [{`+step+`}]}`).Run(t.Context(), task, nil)
		if driver.ClassOf(err) != driver.Crashed {
			t.Errorf("%s: got %v, want crashed", step, err)
		}
		if got := content(t, outside, "file"); got != "mine" {
			t.Errorf("%s: the file outside holds %q", step, got)
		}
	}
}

func TestExec(t *testing.T) {
	for _, test := range []struct {
		exec  string
		class driver.Class
		say   string // part of the error
		out   string
	}{
		{`"echo $GREETING $AESOP_ITEM $AESOP_SLUG $AESOP_WAVE $AESOP_ATTEMPT_ID; test -d $AESOP_ATTEMPT_DIR"`, "", "", "hello i-1 slug w-1 a-1\n"},
		{`["printf", "%s-", "a b", "$GREETING"]`, "", "", "a b-$GREETING-"},
		{`"echo out; echo bad >&2; exit 4"`, driver.Crashed, "exit code 4: bad", "out\nbad\n"},
		{`["no-such-program"]`, driver.Crashed, "no-such-program", ""},
		{`"cat"`, "", "", ""}, // standard input ends
	} {
		d := parse(t, `{"slug": [{"exec": `+test.exec+`, "say": "after", "usage": {"input": 1, "output": 1}}]}`)
		result, err := d.Run(t.Context(), task(t), nil)
		if driver.ClassOf(err) != test.class || err != nil && !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: got %v", test.exec, err)
		}
		if string(result.Output) != test.out {
			t.Errorf("%s: output %q, want %q", test.exec, result.Output, test.out)
		}
		if after := result.Summary == "after" && result.Metered; after != (err == nil) {
			t.Errorf("%s: later steps happened: %v", test.exec, after)
		}
	}
}

func TestExecEmitsLines(t *testing.T) {
	var texts []string
	d := parse(t, `{"slug": [{"exec": "echo one; printf two"}]}`)
	if _, err := d.Run(t.Context(), task(t), func(e driver.Event) { texts = append(texts, e.Kind+" "+e.Text) }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(texts, []string{"text one", "text two"}) {
		t.Errorf("got %q", texts)
	}
}

func TestSleepIsBounded(t *testing.T) {
	for _, test := range []struct {
		name   string
		budget driver.Budget
		cancel time.Duration
		want   driver.Class
		took   time.Duration
	}{
		{"no limit", driver.Budget{}, 0, "", time.Hour},
		{"roomy limits", driver.Budget{Timeout: 2 * time.Hour, Idle: 2 * time.Hour}, 0, "", time.Hour},
		{"total", driver.Budget{Timeout: time.Minute, Idle: 2 * time.Minute}, 0, driver.Timeout, time.Minute},
		{"idle", driver.Budget{Timeout: 2 * time.Minute, Idle: time.Minute}, 0, driver.Idle, time.Minute},
		{"cancelled", driver.Budget{Timeout: 2 * time.Minute}, time.Second, driver.Cancelled, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			task := task(t)
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.cancel > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.cancel)
					defer cancel()
				}
				task.Budget = test.budget
				began := time.Now()
				_, err := parse(t, `{"slug": [{"sleep": "1h", "files": {"after": ""}}]}`).Run(ctx, task, nil)
				if driver.ClassOf(err) != test.want || time.Since(began) != test.took {
					t.Errorf("got %v after %s, want %q after %s", err, time.Since(began), test.want, test.took)
				}
				_, statErr := os.Stat(filepath.Join(task.Dir, "after"))
				if (statErr == nil) != (err == nil) {
					t.Errorf("the step after the sleep: %v", statErr)
				}
			})
		})
	}
}

// TestExecHasWhatTheSleepLeft gives both together less than each alone may take.
func TestExecHasWhatTheSleepLeft(t *testing.T) {
	task := task(t)
	task.Budget.Timeout = 1200 * time.Millisecond
	d := parse(t, `{"slug": [{"sleep": "1100ms", "exec": "sleep 1; touch done"}]}`)
	if _, err := d.Run(t.Context(), task, nil); driver.ClassOf(err) != driver.Timeout {
		t.Errorf("got %v, want timeout", err)
	}
	if _, err := os.Stat(filepath.Join(task.Dir, "done")); err == nil {
		t.Error("the exec step had its whole time")
	}
}

func TestInfo(t *testing.T) {
	for text, metered := range map[string]bool{
		`{}`: false,
		`{"a": [{"usage": {"input": 1, "output": 1}}]}`:                                   true,
		`{"a": [{"usage": {"input": 1, "output": 1}}, {}]}`:                               false,
		`{"a": [{"usage": {"input": 1, "output": 1}}], "b": [{"fail": "auth"}]}`:          false,
		`{"a": [{"usage": {"input": 0, "output": 0}, "fail": "refused"}], /* end */ }   `: true,
	} {
		want := driver.Info{Name: "script", Tier: 4, Metered: metered}
		if got := parse(t, text).Info(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

func TestDamagedScripts(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{``, "s.json:1: the file is empty (restore it from a backup or write a new one)"},
		{`[]`, "s.json:1: is an array, must be an object"},
		{`{"a": {}}`, "s.json:1: a: is an object, must be an array"},
		{`{"a": []}`, "s.json:1: a: is empty, must hold an attempt"},
		{`{"a": [7]}`, "s.json:1: a[0]: is a number, must be an object"},
		{"{\"a\": [{}],\n\"a\": [{}]}", "s.json:2: a: the key stands twice, first on line 1 (remove one of them)"},
		{"{\"a\": [{},\n{\"file\": {}}]}", `s.json:2: a[1].file: no such key (did you mean "files"?)`},
		{`{"a": [{"sleep": 2}]}`, "s.json:1: a[0].sleep: is a number, must be a string"},
		{`{"a": [{"sleep": "2"}]}`, `s.json:1: a[0].sleep: "2" is no duration (write one such as 1.5s or 2m)`},
		{`{"a": [{"sleep": "-2s"}]}`, `s.json:1: a[0].sleep: "-2s" is no duration (write one such as 1.5s or 2m)`},
		{`{"a": [{"files": ["x"]}]}`, "s.json:1: a[0].files: is an array, must be an object"},
		{`{"a": [{"files": {"x": null}}]}`, "s.json:1: a[0].files.x: is null, must be a string"},
		{`{"a": [{"delete": "x"}]}`, "s.json:1: a[0].delete: is a string, must be an array"},
		{`{"a": [{"exec": {}}]}`, "s.json:1: a[0].exec: is an object, must be a string (for sh -c) or an array of strings"},
		{`{"a": [{"exec": " "}]}`, "s.json:1: a[0].exec: names no program"},
		{`{"a": [{"exec": []}]}`, "s.json:1: a[0].exec: names no program"},
		{`{"a": [{"exec": [""]}]}`, "s.json:1: a[0].exec: names no program"},
		{`{"a": [{"exec": ["x", 1]}]}`, "s.json:1: a[0].exec[1]: is a number, must be a string"},
		{`{"a": [{"say": 1}]}`, "s.json:1: a[0].say: is a number, must be a string"},
		{`{"a": [{"usage": {"output": 1}}]}`, `s.json:1: a[0].usage: the key "input" is missing`},
		{`{"a": [{"usage": {"input": 1, "output": 1, "tokens": 1}}]}`, "s.json:1: a[0].usage.tokens: no such key (known keys: " +
			"model, input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning)"},
		{`{"a": [{"usage": {"input": 1.5, "output": 1}}]}`, "s.json:1: a[0].usage.input: is 1.5, must be a whole number"},
		{`{"a": [{"usage": {"input": -1, "output": 1}}]}`, "s.json:1: a[0].usage: usage: input is -1, must not be negative"},
		{`{"a": [{"fail": "overload"}]}`, `s.json:1: a[0].fail: "overload" is no error class (did you mean "overloaded"? classes: ` +
			"refused, truncated, rate_limited, overloaded, auth, timeout, idle, cancelled, invalid_output, crashed)"},
		{`{"a": [{"fail": ""}]}`, `s.json:1: a[0].fail: "" is no error class (classes: ` +
			"refused, truncated, rate_limited, overloaded, auth, timeout, idle, cancelled, invalid_output, crashed)"},
	} {
		_, err := script.Parse("s.json", []byte(test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestPathsStayInTheTree(t *testing.T) {
	for _, path := range []string{"", ".", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a/.."} {
		name, _ := json.Marshal(path)
		for _, text := range []string{`{"a": [{"files": {` + string(name) + `: "x"}}]}`, `{"a": [{"delete": [` + string(name) + `]}]}`} {
			var e *document.Error
			if _, err := script.Parse("s.json", []byte(text)); !errors.As(err, &e) || !strings.Contains(e.Message, "no path inside the tree") {
				t.Errorf("%s: got %v", text, err)
			}
		}
	}
	parse(t, `{"a": [{"files": {".git/config": "x", "unowned/é": "y"}}]}`) // for the engine to refuse, not for the script
}

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "script.json")
	_, err := script.Open(name)
	var e *document.Error
	if !errors.As(err, &e) || e.Code != "missing" || e.File != name || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := script.Open(filepath.Dir(name)); !errors.As(err, &e) || e.Code != "unreadable" {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(name, []byte("\ufeff{\"slug\": [{\"say\": \"hi\"},],} // fine\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := script.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if result, err := d.Run(t.Context(), task(t), nil); err != nil || result.Summary != "hi" {
		t.Errorf("got %+v, %v", result, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a": [{"sleep": "2s", "files": {"p": "t"}, "delete": ["p"], "exec": "x", "say": "y", "usage": {"input": 1, "output": 1}, "fail": "auth"}]}`,
		`{"a": [{"exec": ["x", "y"]}, {}]} // end`, `{"a": [{"files": {"../p": "t"}}]}`, `{`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := script.Parse("s.json", data)
		var e *document.Error
		if err != nil && (!errors.As(err, &e) || e.File != "s.json" || e.Message == "") {
			t.Errorf("got %#v", err)
		}
		if (d == nil) != (err != nil) {
			t.Errorf("got %v beside %v", d, err)
		}
	})
}

func TestTokenBudget(t *testing.T) {
	d := parse(t, `{"slug": [{"usage": {"input": 1, "cacheRead": 2, "cacheWrite5m": 4, "cacheWrite1h": 8, "output": 16, "reasoning": 16}}]}`)
	for limit, want := range map[int64]driver.Class{0: "", 30: driver.Truncated, 31: ""} {
		task := task(t)
		task.Budget.Tokens = limit
		result, err := d.Run(t.Context(), task, nil)
		if got := driver.ClassOf(err); got != want {
			t.Errorf("a limit of %d: %v, want %q", limit, err, want)
		}
		if result.Usage().Tokens() != 31 {
			t.Errorf("a limit of %d: the usage is %+v", limit, result.Usage())
		}
	}
}
