//go:build unix

package codex_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/internal/agentproc/agenttest"
)

// outcome is what a run came to.
type outcome struct {
	driver.Result
	class  driver.Class
	err    *driver.Error
	events []driver.Event
	task   driver.Task
}

func (o outcome) told(kind, part string) bool {
	return slices.ContainsFunc(o.events, func(e driver.Event) bool { return e.Kind == kind && strings.Contains(e.Text, part) })
}

// play runs a task on a fake codex.
func play(t *testing.T, f agenttest.Fake, change ...func(*driver.Task)) outcome {
	t.Helper()
	o := outcome{task: agenttest.Task(t)}
	for _, c := range change {
		c(&o.task)
	}
	d := open(t, agenttest.Program(t, f)).With(300 * time.Millisecond)
	var err error
	o.Result, err = d.Run(t.Context(), o.task, func(e driver.Event) { o.events = append(o.events, e) })
	o.class = driver.ClassOf(err)
	errors.As(err, &o.err)
	return o
}

const completed = `{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":600,"cache_write_input_tokens":70,"output_tokens":42,"reasoning_output_tokens":30}}`

var used = cost.Usage{Input: 330, CacheRead: 600, CacheWrite5m: 70, Output: 42, Reasoning: 30, Metered: true}

func TestWhatAFailedTurnMeans(t *testing.T) {
	for _, test := range []struct {
		text  string
		class driver.Class
		again time.Duration
		words string
	}{
		{"exceeded retry limit, last status: 429 Too Many Requests", driver.RateLimited, 0, ""},
		{"Rate limit reached for x. Please try again in 11.5s. Visit", driver.RateLimited, 11500 * time.Millisecond, ""},
		{"You've hit your usage limit. Try again in 3 days 4 hours.", driver.RateLimited, 72 * time.Hour, ""},
		{"Usage limit reached. Try again in 250ms", driver.RateLimited, 250 * time.Millisecond, ""},
		{"Usage limit reached. try again in 5 minutes", driver.RateLimited, 5 * time.Minute, ""},
		{"Usage limit reached. try again in 2 months", driver.RateLimited, 0, ""},
		{"Quota exceeded. Check your plan and billing details.", driver.RateLimited, 0, ""},
		{"Your workspace is out of credits.", driver.RateLimited, 0, ""},
		{"We’re currently experiencing high demand, which may cause temporary errors.", driver.Overloaded, 0, ""},
		{"Selected model is at capacity. Please try a different model.", driver.Overloaded, 0, ""},
		{"unexpected status 529 <unknown status code>: no, url: http://localhost", driver.Overloaded, 0, ""},
		{"unexpected status 503 Service Unavailable: no", driver.Overloaded, 0, ""},
		{"stream disconnected before completion: Transport error: network error: error decoding response body", driver.Overloaded, 0, ""},
		{"stream disconnected before completion: Incomplete response returned, reason: content_filter", driver.Refused, 0, ""},
		{`{"error":{"code":"invalid_prompt","message":"Your prompt was flagged","param":null}}`, driver.Refused, 0, "Your prompt was flagged (invalid_prompt)"},
		{"Incomplete response returned, reason: max_output_tokens", driver.Truncated, 0, ""},
		{"Codex ran out of room in the model's context window. Start a new thread", driver.Truncated, 0, ""},
		{"unexpected status 401 Unauthorized: played error, url: http://localhost", driver.Auth, 0, "codex login"},
		{"unexpected status 403 Forbidden: played error", driver.Auth, 0, ""},
		{"Missing environment variable: `OPENAI_API_KEY`.", driver.Auth, 0, "CODEX_API_KEY"},
		{"Your access token could not be refreshed. Please log out and sign in again.", driver.Auth, 0, ""},
		{`{"error":{"code":"invalid_request_error","message":"bad request"}}` + "\n", driver.Crashed, 0, "bad request (invalid_request_error)"},
		{"unexpected status 404 Not Found: no such model", driver.Crashed, 0, ""},
		{"", driver.Crashed, 0, "the turn failed"},
	} {
		t.Run(test.text[:min(len(test.text), 80)], func(t *testing.T) {
			t.Parallel()
			for _, exit := range []int{1, 0} { // builds are known that exit 0
				o := play(t, agenttest.Fake{Exit: exit, Out: lines(started, turnStarted, failed(test.text))})
				if o.class != test.class || !strings.Contains(o.err.Error(), test.words) || o.err.RetryAfter != test.again {
					t.Errorf("got %+v, want %s after %s with %q", o.err, test.class, test.again, test.words)
				}
				if o.Metered || o.Usage().Metered || o.Session == "" {
					t.Errorf("nobody said the usage: %+v", o.Result)
				}
			}
		})
	}
}

// TestOutputThatIsNoSuccess: only a turn that was completed, and exit code 0.
func TestOutputThatIsNoSuccess(t *testing.T) {
	for name, test := range map[string]struct {
		fake  agenttest.Fake
		words string
	}{
		"empty, exit 0":       {agenttest.Fake{}, "without a result"},
		"bad flag":            {agenttest.Fake{Exit: 2, Err: "error: unexpected argument"}, "exit code 2: error: unexpected argument"},
		"no turn":             {agenttest.Fake{Out: lines(started)}, "without a result"},
		"no end":              {agenttest.Fake{Out: lines(started, turnStarted, said("done"))}, "without a result"},
		"completed, exit 1":   {agenttest.Fake{Out: lines(started, turnStarted, said("done"), completed), Exit: 1}, "exit code 1"},
		"torn":                {agenttest.Fake{Out: lines(started, turnStarted, said("done")) + completed[:30]}, "in the middle of a line"},
		"a turn of 9 MB":      {agenttest.Fake{Out: lines(started, turnStarted), Long: 9 << 20}, "were not read"},
		"another turn begins": {agenttest.Fake{Out: lines(started, turnStarted, completed, turnStarted)}, "without a result"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o := play(t, test.fake); o.class != driver.Crashed || !strings.Contains(o.err.Error(), test.words) {
				t.Errorf("got %v, want crashed with %q", o.err, test.words)
			}
		})
	}
}

// TestWarningsAreNoFailures: neither notices of retries, nor items of kind error, nor what stands on standard error.
func TestWarningsAreNoFailures(t *testing.T) {
	o := play(t, agenttest.Fake{Err: "WARNING: ERROR: Refusing to create helper binaries\n", Out: lines("noise", started,
		`{"type":"item.completed","item":{"type":"error","message":"Model metadata not found"}}`, turnStarted,
		`{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}`,
		`{"type":"item.completed","item":{"type":"todo_list","text":["a","b"]}}`, said("done"), completed)})
	if o.class != "" || o.Summary != "done" || o.Usage() != used || !o.Metered {
		t.Errorf("got %+v", o)
	}
	if !o.told("progress", "Reconnecting... 1/5") || !o.told("progress", "Model metadata not found") {
		t.Errorf("got %+v", o.events)
	}
}

// TestUsageWithACallThatWasLost: codex does not count a request whose answer broke off, but it was paid for.
func TestUsageWithACallThatWasLost(t *testing.T) {
	o := play(t, agenttest.Fake{Out: lines(started, turnStarted, `{"type":"error","message":"Reconnecting... 1/5 (stream disconnected before completion: x)"}`, completed)})
	if o.class != "" || o.Metered || o.Calls[0] != used {
		t.Errorf("got %+v", o)
	}
}

// TestUsageOfAThread: the counts are those of the thread, from its begin.
func TestUsageOfAThread(t *testing.T) {
	first := play(t, agenttest.Fake{Out: lines(started, turnStarted, completed)}, func(task *driver.Task) { task.Model = "gpt" })
	want := used
	want.Model = "gpt"
	if first.Usage() != want {
		t.Fatalf("got %+v", first.Usage())
	}
	turn := func(counts string) string {
		return lines(started, turnStarted, `{"type":"turn.completed","usage":{`+counts+`}}`)
	}
	continued := func(from string) func(*driver.Task) { return func(task *driver.Task) { task.Session = from } }
	second := play(t, agenttest.Fake{Out: turn(`"input_tokens":1500,"cached_input_tokens":900,"cache_write_input_tokens":70,"output_tokens":50,"reasoning_output_tokens":30`)},
		continued(first.Session))
	if want := (cost.Usage{Input: 200, CacheRead: 300, Output: 8, Metered: true}); second.Usage() != want {
		t.Errorf("got %+v, want %+v", second.Usage(), want)
	}
	third := play(t, agenttest.Fake{Out: turn(`"input_tokens":1501,"cached_input_tokens":900,"cache_write_input_tokens":70,"output_tokens":51,"reasoning_output_tokens":30`)},
		continued(second.Session))
	if want := (cost.Usage{Input: 1, Output: 1, Metered: true}); third.Usage() != want {
		t.Errorf("got %+v, want %+v", third.Usage(), want)
	}
	// A turn that failed says nothing; the next one says what both used.
	broken := play(t, agenttest.Fake{Out: lines(started, turnStarted, failed("boom"))}, continued(first.Session))
	if broken.Metered || broken.Session != first.Session {
		t.Errorf("got %+v after %s", broken.Result, first.Session)
	}
	after := play(t, agenttest.Fake{Out: turn(`"input_tokens":1100,"cached_input_tokens":600,"cache_write_input_tokens":70,"output_tokens":44,"reasoning_output_tokens":30`)},
		continued(broken.Session))
	if want := (cost.Usage{Input: 100, Output: 2, Metered: true}); after.Usage() != want {
		t.Errorf("got %+v, want %+v", after.Usage(), want)
	}
	// Counts that went down began anew.
	anew := play(t, agenttest.Fake{Out: turn(`"input_tokens":10,"output_tokens":500`)}, continued(first.Session))
	if want := (cost.Usage{Input: 10, Output: 500, Metered: true}); anew.Usage() != want {
		t.Errorf("got %+v, want %+v", anew.Usage(), want)
	}
}

// TestUsageThatMakesNoSense is not known; the next turn of the thread says what both used.
func TestUsageThatMakesNoSense(t *testing.T) {
	for _, counts := range []string{`{"input_tokens":-1,"output_tokens":2}`, `{"input_tokens":10,"cached_input_tokens":11,"output_tokens":2}`, `{"input_tokens":1}`,
		`{"input_tokens":1.5,"output_tokens":2}`, `5`, `null`} {
		bad := `{"type":"turn.completed","usage":` + counts + `}`
		if o := play(t, agenttest.Fake{Out: lines(started, turnStarted, said("done"), bad)}); o.class != "" || o.Metered || o.Usage().Metered || o.Session == "" {
			t.Errorf("%s: got %+v", counts, o.Result)
		}
		o := play(t, agenttest.Fake{Out: lines(started, turnStarted, completed, turnStarted, bad)})
		if o.class != "" || o.Metered || len(o.Calls) != 1 || o.Calls[0] != used {
			t.Errorf("%s after one that was good: got %+v", counts, o.Result)
		}
	}
}

func TestTokenBudget(t *testing.T) {
	for limit, class := range map[int64]driver.Class{1042: "", 1041: driver.Truncated} {
		o := play(t, agenttest.Fake{Out: lines(started, turnStarted, completed)}, func(task *driver.Task) { task.Budget.Tokens = limit })
		if o.class != class || o.Usage() != used {
			t.Errorf("%d: got %+v", limit, o)
		}
	}
}

// TestSchema: codex hands the schema on and checks nothing.
func TestSchema(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	withSchema := func(task *driver.Task) { task.Schema = json.RawMessage(`{"type":"object"}`) }
	o := play(t, agenttest.Fake{Seen: seen, Out: lines(started, turnStarted, said("first I looked"), said(`{"name":"Ann"}`), completed)}, withSchema)
	if o.class != "" || string(o.Answer) != `{"name":"Ann"}` {
		t.Errorf("got %+v", o)
	}
	file := ""
	for _, arg := range agenttest.ReadSeen(t, seen).Args {
		if name, ok := strings.CutPrefix(arg, "--output-schema="); ok {
			file = name
		}
	}
	if filepath.Dir(file) != o.task.AttemptDir {
		t.Errorf("the schema was in %q, want it in %s", file, o.task.AttemptDir)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file of the schema is left")
	}
	for _, text := range []string{"not json", "", `{"name":`} {
		if o := play(t, agenttest.Fake{Out: lines(started, turnStarted, said(text), completed)}, withSchema); o.class != driver.InvalidOutput || o.Answer != nil || !o.Metered {
			t.Errorf("%q: got %+v", text, o)
		}
	}
}

func TestItDoesNotExit(t *testing.T) {
	o := play(t, agenttest.Fake{Out: lines(started, turnStarted, said("done"), completed), Hang: true})
	if o.class != "" || o.Summary != "done" || !o.Metered {
		t.Errorf("got %+v", o)
	}
	o = play(t, agenttest.Fake{Out: lines(started, turnStarted, failed("last status: 429")), Hang: true})
	if o.class != driver.RateLimited {
		t.Errorf("got %+v", o.err)
	}
}

func TestLongLine(t *testing.T) {
	if o := play(t, agenttest.Fake{Long: 100 << 20, Out: lines(started, turnStarted, completed)}); o.class != "" || !o.Metered {
		t.Errorf("got %+v", o)
	}
}

func TestTroubleIsInTheError(t *testing.T) {
	waiting := `{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}`
	o := play(t, agenttest.Fake{Out: lines(started, turnStarted), Talk: waiting}, func(task *driver.Task) { task.Budget.Timeout = time.Second })
	if o.class != driver.Timeout || !strings.Contains(o.err.Error(), "waiting for network") {
		t.Errorf("got %v", o.err)
	}
}

func TestEvents(t *testing.T) {
	o := play(t, agenttest.Fake{Out: lines(started, turnStarted, said("hello"),
		`{"type":"item.started","item":{"type":"command_execution","command":"/bin/bash -lc 'go test ./...'"}}`,
		`{"type":"item.started","item":{"type":"mcp_tool_call","server":"s","tool":"u"}}`,
		`{"type":"item.started","item":{"type":"web_search","query":"q"}}`,
		`{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a.go"},{"path":"b.go"}]}}`, completed)})
	for _, want := range []driver.Event{{Kind: "text", Text: "hello"}, {Kind: "tool", Text: "/bin/bash -lc 'go test ./...'"}, {Kind: "tool", Text: "s u"},
		{Kind: "tool", Text: "web search q"}, {Kind: "tool", Text: "change a.go"}, {Kind: "tool", Text: "change b.go"}, {Kind: "usage", Usage: used}} {
		if !slices.Contains(o.events, want) {
			t.Errorf("%+v is missing in %+v", want, o.events)
		}
	}
}

// TestSessionThatIsGone: a new one is begun, whose usage counts from nothing.
func TestSessionThatIsGone(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	gone := agenttest.Fake{Exit: 1, Err: "Error: thread/resume failed: no rollout found for thread id"}
	from := `{"thread":"` + thread + `","used":{"input":5,"output":5,"metered":true}}`
	o := play(t, agenttest.Fake{Seen: seen, Out: lines(started, turnStarted, completed), Resumed: map[string]agenttest.Fake{"resume": gone}},
		func(task *driver.Task) { task.Session = from })
	if o.class != "" || o.Usage() != used || !o.told("progress", "a new one is begun") || agenttest.ReadSeen(t, seen).Stdin != "Do it." {
		t.Errorf("got %+v", o)
	}
}

func TestArguments(t *testing.T) {
	const base = "--json --skip-git-repo-check -c analytics.enabled=false "
	writing := base + `-c sandbox_mode="workspace-write" -c sandbox_workspace_write.writable_roots=["ATTEMPT"] `
	for name, test := range map[string]struct {
		change func(*driver.Task)
		want   string
	}{
		"plain":           {func(*driver.Task) {}, "exec " + writing + "-"},
		"no folder":       {func(t *driver.Task) { t.AttemptDir = "" }, "exec " + base + `-c sandbox_mode="workspace-write" -`},
		"read-only":       {func(t *driver.Task) { t.ReadOnly = true }, "exec " + base + `-c sandbox_mode="read-only" -`},
		"model":           {func(t *driver.Task) { t.Model = "-m" }, "exec " + writing + "--model=-m -"},
		"session":         {func(t *driver.Task) { t.Session = `{"thread":"` + thread + `"}` }, "exec resume " + writing + thread + " -"},
		"foreign session": {func(t *driver.Task) { t.Session = `{"thread":"--help"}` }, "exec " + writing + "-"},
		"no session":      {func(t *driver.Task) { t.Session = thread }, "exec " + writing + "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "seen")
			o := play(t, agenttest.Fake{Seen: file, Out: lines(started, turnStarted, completed)}, test.change)
			got := strings.Join(agenttest.ReadSeen(t, file).Args, " ")
			if want := strings.ReplaceAll(test.want, "ATTEMPT", o.task.AttemptDir); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestMissingProgram(t *testing.T) {
	task := agenttest.Task(t)
	task.Environment = []string{"PATH=" + t.TempDir()}
	_, err := open(t, "").Run(t.Context(), task, nil)
	if driver.ClassOf(err) != driver.Crashed || !strings.Contains(err.Error(), "codex is not installed") || !strings.Contains(err.Error(), "npm install") {
		t.Errorf("got %v", err)
	}
}
