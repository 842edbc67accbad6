package drop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore/job"
	"aesop/statestore/job/drop"
)

const attempt = "00112233aabbccdd"

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, drop.Name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, dir string, d drop.Drop) drop.Drop {
	t.Helper()
	d.Attempt = attempt
	got, err := drop.Write(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	read, err := drop.Read(dir, attempt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, read); diff != "" {
		t.Errorf("written (-), read (+):\n%s", diff)
	}
	return got
}

// TestALaterOneAddsFieldsAndReplacesTheStatus, and leaves the status alone where it has none.
func TestALaterOneAddsFieldsAndReplacesTheStatus(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, drop.Drop{Fields: json.RawMessage(`{"a":1,"b":"x"}`)})
	put(t, dir, drop.Drop{Status: job.Failed, Reason: "no disk"})
	put(t, dir, drop.Drop{Fields: json.RawMessage(`{"a":2}`)})
	got := put(t, dir, drop.Drop{})
	if got.Status != job.Failed || got.Reason != "no disk" || string(got.Fields) != `{"a":2,"b":"x"}` {
		t.Errorf("it says %+v", got)
	}
	if got = put(t, dir, drop.Drop{Status: job.Completed}); got.Status != job.Completed || got.Reason != "" {
		t.Errorf("it says %+v", got)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("in the folder are %v, %v", left, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, drop.Name))
	if want := `{"schemaVersion":1,"attempt":"` + attempt + `","status":"completed","reason":"","fields":{"a":2,"b":"x"}}` + "\n"; err != nil || string(text) != want {
		t.Errorf("the file has %s, %v", text, err)
	}
}

func TestWhatCannotBeImportedIsNotWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		drop  drop.Drop
		field string
	}{
		"no attempt":       {drop.Drop{Status: job.Completed}, "attempt"},
		"a status of none": {drop.Drop{Attempt: attempt, Status: "done"}, "status"},
		"running":          {drop.Drop{Attempt: attempt, Status: job.Running}, "status"},
		"timed out":        {drop.Drop{Attempt: attempt, Status: job.TimedOut}, "status"},
		"smuggled status":  {drop.Drop{Attempt: attempt, Fields: json.RawMessage(`{"status":"completed"}`)}, "fields"},
		"no object":        {drop.Drop{Attempt: attempt, Fields: json.RawMessage(`[]`)}, "fields"},
		"large fields":     {drop.Drop{Attempt: attempt, Fields: json.RawMessage(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`)}, "fields"},
		"long reason":      {drop.Drop{Attempt: attempt, Status: job.Failed, Reason: strings.Repeat("x", drop.MaxText+1)}, "reason"},
		"control":          {drop.Drop{Attempt: attempt, Status: job.Failed, Reason: "a\x1bb"}, "reason"},
		"not UTF-8":        {drop.Drop{Attempt: attempt, Status: job.Failed, Reason: "a\xff"}, "reason"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := drop.Write(dir, tt.drop)
			if wrong, ok := errors.AsType[*drop.Error](err); !ok || wrong.Field != tt.field {
				t.Errorf("error %v", err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("in the folder is %v", left)
			}
		})
	}
	dir := t.TempDir()
	half := json.RawMessage(`{"a":"` + strings.Repeat("x", 40<<10) + `"}`)
	put(t, dir, drop.Drop{Fields: half})
	if _, err := drop.Write(dir, drop.Drop{Attempt: attempt, Fields: json.RawMessage(strings.Replace(string(half), "a", "b", 1))}); err == nil {
		t.Error("two halves that are too large together were taken")
	}
}

// TestTheLargestOneCanBeReadBack: what Write takes, Read does.
func TestTheLargestOneCanBeReadBack(t *testing.T) {
	fields := map[string]int{}
	for i := range 5000 {
		fields[fmt.Sprint("f", i)] = i
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	put(t, t.TempDir(), drop.Drop{Status: job.Failed, Reason: strings.Repeat("\u2028", drop.MaxText/3), Fields: text})
}

func document(change func(map[string]any)) string {
	members := map[string]any{"schemaVersion": 1, "attempt": attempt, "status": "completed", "reason": "", "fields": map[string]any{}}
	change(members)
	text, _ := json.Marshal(members)
	return string(text)
}

func without(key string) string { return document(func(m map[string]any) { delete(m, key) }) }

func with(key string, value any) string { return document(func(m map[string]any) { m[key] = value }) }

// damaged are files of which each has one thing wrong.
func damaged() map[string]string {
	good := with("status", "failed")
	return map[string]string{
		"empty": "", "no object": "[]", "text": "completed", "torn": good[:len(good)-5], "two": good + good, "comment": "// x\n" + good,
		"comma": strings.Replace(good, `"failed"}`, `"failed",}`, 1), "mark": "\ufeff" + good, "twice": strings.Replace(good, `{"attempt`, `{"status":"completed","attempt`, 1),
		"more": with("final", true), "newer": with("schemaVersion", 2), "version": with("schemaVersion", "1"), "other attempt": with("attempt", "other"),
		"status": with("status", "done"), "no status": with("status", nil), "number": with("reason", 1), "fields": with("fields", []int{}), "no fields": with("fields", nil),
		"smuggled": with("fields", map[string]any{"transition_seq": 9}), "reason": with("reason", strings.Repeat("x", drop.MaxText+1)),
		"without version": without("schemaVersion"), "without attempt": without("attempt"), "without status": without("status"), "without reason": without("reason"),
		"without fields": without("fields"), "huge": with("reason", strings.Repeat(" ", drop.MaxSize)), "deep": strings.Repeat("[", 100_000),
	}
}

// TestWhatIsNotExactlyADropDoesNotCount, and is not written over.
func TestWhatIsNotExactlyADropDoesNotCount(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, with("status", ""))
	if _, err := drop.Read(dir, attempt); err != nil {
		t.Fatal(err)
	}
	for name, text := range damaged() {
		write(t, dir, text)
		_, err := drop.Read(dir, attempt)
		wrong, ok := errors.AsType[*drop.Error](err)
		if !ok || wrong.File != filepath.Join(dir, drop.Name) || wrong.Message == "" {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := drop.Write(dir, drop.Drop{Attempt: attempt, Status: job.Completed}); err == nil {
			t.Errorf("%s is written over", name)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, drop.Name)); string(got) != text {
			t.Errorf("%s is changed", name)
		}
	}
}

// TestWhatStandsInThePlaceOfADropIsNotFollowed: a link is neither read nor written through, a folder is no file.
func TestWhatStandsInThePlaceOfADropIsNotFollowed(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte(with("status", "completed")), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(outside, path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		if err := place(filepath.Join(dir, drop.Name)); err != nil {
			t.Skipf("not applicable: no links here: %v", err)
		}
		if got, err := drop.Read(dir, attempt); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: read %+v, %v", name, got, err)
		}
		if got, err := drop.Write(dir, drop.Drop{Attempt: attempt, Status: job.Failed}); err == nil {
			t.Errorf("%s: written %+v", name, got)
		}
	}
	if text, _ := os.ReadFile(outside); string(text) != with("status", "completed") {
		t.Errorf("what the link points to has %s", text)
	}
}

func TestNothingAndNoFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := drop.Read(dir, attempt); !errors.Is(err, drop.ErrNone) {
		t.Errorf("error %v", err)
	}
	gone := filepath.Join(dir, "gone")
	if _, err := drop.Read(gone, attempt); err == nil || errors.Is(err, drop.ErrNone) {
		t.Errorf("error %v", err)
	}
	if _, err := drop.Write(gone, drop.Drop{Attempt: attempt}); err == nil {
		t.Error("it was written into no folder")
	}
}

// TestAFolderThatCannotBeWrittenIsAnError and the drop that is there stays.
func TestAFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("not applicable: root can write everywhere")
	}
	dir := t.TempDir()
	put(t, dir, drop.Drop{Status: job.Failed})
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := drop.Write(dir, drop.Drop{Attempt: attempt, Status: job.Completed}); err == nil {
		t.Error("it was written")
	}
	if d, err := drop.Read(dir, attempt); err != nil || d.Status != job.Failed {
		t.Errorf("it says %+v, %v", d, err)
	}
}

// FuzzRead: what is read could have been written, and is the same when it is written again.
func FuzzRead(f *testing.F) {
	f.Add(with("status", "failed"))
	for _, text := range damaged() {
		f.Add(text[:min(len(text), 2000)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		write(t, dir, text)
		d, err := drop.Read(dir, attempt)
		if err != nil {
			return
		}
		if d.Status != "" && d.Request("j", "t", nil) == nil {
			t.Errorf("its status is %q", d.Status)
		}
		again := t.TempDir()
		put(t, again, d)
	})
}

// Example is an agent that publishes, and the engine that hears of it.
func Example() {
	dir, err := os.MkdirTemp("", "attempt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if _, err := drop.Write(dir, drop.Drop{Attempt: "a1", Status: job.Completed, Reason: "all is done", Fields: json.RawMessage(`{"tests": 12}`)}); err != nil {
		fmt.Println(err)
	}
	d, err := drop.Read(dir, "a1")
	fmt.Println(d.Status, d.Reason, string(d.Fields), err)
	_, err = drop.Read(dir, "a2")
	fmt.Println(strings.TrimPrefix(err.Error(), dir+string(filepath.Separator)))
	// Output:
	// completed all is done {"tests":12} <nil>
	// publish.json: attempt: is "a1", wanted is "a2"
}
