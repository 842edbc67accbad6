//go:build unix

package program_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"aesop/cost"
	"aesop/driver"
	"aesop/driver/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func task(t *testing.T) driver.Task {
	return driver.Task{
		Item: "i-1", Slug: "slug", Wave: "w-1", AttemptID: "a-1", Prompt: "Write a file.", Dir: t.TempDir(), AttemptDir: t.TempDir(),
		Mark:        "program-" + strconv.Itoa(os.Getpid()) + strings.ReplaceAll(t.Name(), "/", "-"),
		Environment: []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello", "AESOP_TOKEN=of-the-wave", "AESOP_ITEM=another"},
	}
}

func run(t *testing.T, task driver.Task, line string) (driver.Result, []driver.Event, error) {
	t.Helper()
	var events []driver.Event
	result, err := program.Run(t.Context(), task, func(e driver.Event) { events = append(events, e) }, "sh", "-c", line)
	return result, events, err
}

func TestEnvironment(t *testing.T) {
	task := task(t)
	t.Setenv("OF_THE_HOST", "1")
	result, _, err := run(t, task, "env | grep -v ^PWD= | grep -v ^_= | grep -v ^PATH= | grep -v ^SHLVL= | grep -v ^OLDPWD= | sort; pwd")
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := filepath.EvalSymlinks(task.Dir)
	want := []string{"AESOP_ATTEMPT_DIR=" + task.AttemptDir, "AESOP_ATTEMPT_ID=a-1", "AESOP_ITEM=i-1", "AESOP_MARK=" + task.Mark,
		"AESOP_SLUG=slug", "AESOP_WAVE=w-1", "GREETING=hello", dir}
	if got := strings.Split(result.Summary, "\n"); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestExitCodeIsInTheError(t *testing.T) {
	result, _, err := run(t, task(t), "echo some words; echo it went wrong >&2; exit 42")
	var e *driver.Error
	if !errors.As(err, &e) || e.Class != driver.Crashed || e.ExitCode == nil || *e.ExitCode != 42 {
		t.Fatalf("got %#v", err)
	}
	if e.Error() != "crashed: exit code 42: it went wrong" {
		t.Errorf("got %q", e)
	}
	if result.Summary != "some words" || string(result.Output) != "some words\nit went wrong\n" {
		t.Errorf("got %+v", result)
	}
}

func TestSignalIsInTheError(t *testing.T) {
	_, _, err := run(t, task(t), "kill -SEGV $$")
	var e *driver.Error
	if !errors.As(err, &e) || e.Class != driver.Crashed || e.ExitCode != nil || e.Error() != "crashed: ended by SIGSEGV" {
		t.Errorf("got %#v", err)
	}
}

func TestWordsOfErrorOnStderrDoNotFail(t *testing.T) {
	if _, _, err := run(t, task(t), "echo ERROR fatal panic >&2"); err != nil {
		t.Error(err)
	}
}

func TestSummaryIsBounded(t *testing.T) {
	result, _, err := run(t, task(t), `i=0; while [ $i -lt 2000 ]; do echo "äöü line $i"; i=$((i+1)); done`)
	if err != nil || len(result.Summary) > 4<<10 || !strings.HasSuffix(result.Summary, "line 1999") || strings.Contains(result.Summary, "\ufffd") {
		t.Errorf("%d bytes, %v: %q", len(result.Summary), err, result.Summary[:20])
	}
}

func TestUsageFile(t *testing.T) {
	for name, test := range map[string]struct {
		line   string
		usage  cost.Usage
		reason string // part of the event that says why it is not known
	}{
		"absent": {"true", cost.Usage{}, ""},
		"whole": {`echo '{"model": "m", "input": 1, "cacheRead": 2, "cacheWrite5m": 3, "cacheWrite1h": 4, "output": 6, "reasoning": 5}' >usage.json`,
			cost.Usage{Model: "m", Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 6, Reasoning: 5, Metered: true}, ""},
		"short":         {`echo '{"input": 1, "output": 6}' >usage.json`, cost.Usage{Input: 1, Output: 6, Metered: true}, ""},
		"after failure": {`echo '{"input": 1, "output": 6}' >usage.json; exit 1`, cost.Usage{Input: 1, Output: 6, Metered: true}, ""},
		"cut":           {`printf '{"input": 1, "out' >usage.json`, cost.Usage{}, "usage.json:1"},
		"empty":         {`: >usage.json`, cost.Usage{}, "the file is empty"},
		"no output":     {`echo '{"input": 1}' >usage.json`, cost.Usage{}, `the key "output" is missing`},
		"unknown key":   {`echo '{"input": 1, "output": 6, "inputs": 7}' >usage.json`, cost.Usage{}, `did you mean "input"?`},
		"negative":      {`echo '{"input": -1, "output": 6}' >usage.json`, cost.Usage{}, "must not be negative"},
		"link":          {`echo '{"input": 1, "output": 6}' >x; ln -s x usage.json`, cost.Usage{}, "not a regular file"},
		"fifo":          {`mkfifo usage.json`, cost.Usage{}, "not a regular file"},
		"folder":        {`mkdir usage.json`, cost.Usage{}, "not a regular file"},
		"huge":          {`head -c 100000 /dev/zero >usage.json`, cost.Usage{}, "at most 65536 bytes"},
		"no folder":     {`rm -rf "$AESOP_ATTEMPT_DIR"`, cost.Usage{}, ""},
		"no directory":  {`rm -rf "$AESOP_ATTEMPT_DIR"; : >"$AESOP_ATTEMPT_DIR"`, cost.Usage{}, "not"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, events, err := run(t, task(t), `cd "$AESOP_ATTEMPT_DIR"; `+test.line)
			if (err != nil) != strings.Contains(test.line, "exit 1") {
				t.Errorf("got %v", err)
			}
			if result.Usage() != test.usage || result.Metered != test.usage.Metered {
				t.Errorf("got %+v, want %+v", result.Usage(), test.usage)
			}
			reason := ""
			for _, e := range events {
				if e.Kind == "progress" {
					reason = e.Text
				}
			}
			if (reason == "") != (test.reason == "") || !strings.Contains(reason, test.reason) {
				t.Errorf("the reason is %q, want %q", reason, test.reason)
			}
			if test.usage.Metered && !slices.Contains(events, driver.Event{Kind: "usage", Usage: test.usage}) {
				t.Errorf("no event tells the usage: %+v", events)
			}
		})
	}
}

func TestUsageIsReadAfterATimeout(t *testing.T) {
	task := task(t)
	task.Budget.Timeout = time.Second
	result, _, err := run(t, task, `echo '{"input": 1, "output": 6}' >"$AESOP_ATTEMPT_DIR"/usage.json; sleep 3600`)
	if driver.ClassOf(err) != driver.Timeout || result.Usage() != (cost.Usage{Input: 1, Output: 6, Metered: true}) {
		t.Errorf("got %+v, %v", result.Usage(), err)
	}
}

func TestLongLinesAreCutInEvents(t *testing.T) {
	_, events, err := run(t, task(t), `head -c 1000000 /dev/zero | tr '\0' x; echo; echo end`)
	if err != nil || len(events) != 2 || len(events[0].Text) != 4<<10 || events[1].Text != "end" {
		t.Errorf("got %d events, %v", len(events), err)
	}
}

func TestBackgroundProgramsEndWithTheTask(t *testing.T) {
	task := task(t)
	done := make(chan error, 1)
	go func() {
		_, _, err := run(t, task, "sleep 3600 & echo started")
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the task waits for a program in the background")
	}
}

func TestTaskWithoutATree(t *testing.T) {
	task := task(t)
	task.Dir += "/absent"
	if result, _, err := run(t, task, "true"); driver.ClassOf(err) != driver.Crashed || result.Confinement != "none" {
		t.Errorf("got %+v, %v", result, err)
	}
}

// TestBudgetOfTokens: what is just met is kept, and what a failed program used says nothing more than its failure.
func TestBudgetOfTokens(t *testing.T) {
	const used = `echo '{"input": 1, "output": 6}' >"$AESOP_ATTEMPT_DIR"/usage.json; `
	for _, test := range []struct {
		line  string
		limit int64
		class driver.Class
	}{{used, 7, ""}, {used, 6, driver.Truncated}, {used, 0, ""}, {used + "exit 1", 6, driver.Crashed}, {"true", 1, ""}} {
		task := task(t)
		task.Budget.Tokens = test.limit
		if _, _, err := run(t, task, test.line); driver.ClassOf(err) != test.class {
			t.Errorf("%d tokens: got %v, want %q", test.limit, err, test.class)
		}
	}
}
