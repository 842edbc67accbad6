//go:build unix

package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
}

func (o outcome) told(kind, part string) bool {
	return slices.ContainsFunc(o.events, func(e driver.Event) bool { return e.Kind == kind && strings.Contains(e.Text, part) })
}

// play runs a task on a fake claude.
func play(t *testing.T, f agenttest.Fake, change ...func(*driver.Task)) outcome {
	t.Helper()
	task := agenttest.Task(t)
	for _, c := range change {
		c(&task)
	}
	d := open(t, agenttest.Program(t, f)).With(300*time.Millisecond, time.Unix(1_800_000_000, 0))
	var o outcome
	var err error
	o.Result, err = d.Run(t.Context(), task, func(e driver.Event) { o.events = append(o.events, e) })
	o.class = driver.ClassOf(err)
	errors.As(err, &o.err)
	return o
}

func good(text string) string {
	return `{"is_error":false,"type":"result","subtype":"success","result":"` + text + `","session_id":"` + session + `",` +
		`"modelUsage":{"m":{"inputTokens":1,"outputTokens":2}},"model_usage_since_last_result":{"m":{"inputTokens":1,"outputTokens":2}}}`
}

// TestWhatAResultMeans: is_error, status and reasons decide, never the subtype.
func TestWhatAResultMeans(t *testing.T) {
	for _, test := range []struct {
		fields string
		class  driver.Class
		words  string
	}{
		{`"subtype":"success","is_error":false,"terminal_reason":"completed","result":"pong"`, "", ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"API Error: 400 bad"`, driver.Crashed, "400 bad"},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401,"result":"Failed"`, driver.Auth, "ANTHROPIC_API_KEY"},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":403,"result":"Failed"`, driver.Auth, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":402,"result":"no credit"`, driver.RateLimited, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":404,"result":"no such model"`, driver.Crashed, "no such model"},
		{`"subtype":"success","is_error":true,"terminal_reason":"image_error","api_error_status":413,"result":"too large"`, driver.Crashed, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"rejected"`, driver.RateLimited, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":500,"result":"server"`, driver.Overloaded, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":529,"result":"overloaded"`, driver.Overloaded, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"Not logged in · Please run /login"`,
			driver.Auth, "log in with claude and /login"},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","stop_reason":"refusal","result":"safeguards"`, driver.Refused, "safeguards"},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","result":"response exceeded the 128000 output token maximum"`, driver.Truncated, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","result":"Connection dropped (ECONNRESET)"`, driver.Overloaded, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"api_error","result":"Request timed out"`, driver.Overloaded, ""},
		{`"subtype":"success","is_error":true,"terminal_reason":"prompt_too_long","api_error_status":400,"result":"Prompt is too long"`, driver.Truncated, ""},
		{`"subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns"`, driver.Truncated, "max_turns"},
		{`"subtype":"error_max_budget_usd","is_error":true,"errors":["Reached maximum budget ($0.001)"]`, driver.Truncated, "maximum budget"},
		{`"subtype":"error_max_structured_output_retries","is_error":true,"errors":["must have name","x"]`, driver.InvalidOutput, "must have name; x"},
		{`"subtype":"error_during_execution","is_error":true,"errors":["boom"]`, driver.Crashed, "boom"},
		{`"subtype":"success","is_error":false,"terminal_reason":"aborted_streaming","result":"half"`, driver.Crashed, "half"},
		{`"subtype":"success","is_error":false,"result":{"an":"object"}`, driver.Crashed, "cannot be read"},
	} {
		t.Run(test.fields[:min(len(test.fields), 100)], func(t *testing.T) {
			t.Parallel()
			f := agenttest.Fake{Out: lines(initLine, `{`+test.fields+`,"type":"result","session_id":"`+session+`"}`)}
			if strings.Contains(test.fields, `"is_error":true`) {
				f.Exit = 1
			}
			o := play(t, f)
			if o.class != test.class || test.class != "" && !strings.Contains(o.err.Error(), test.words) {
				t.Errorf("got %v, want %s with %q", o.err, test.class, test.words)
			}
			if o.Session != session {
				t.Errorf("the session is %q", o.Session)
			}
		})
	}
}

// TestOutputThatIsNoSuccess: whatever the exit code, only a whole result that is content counts.
func TestOutputThatIsNoSuccess(t *testing.T) {
	for name, test := range map[string]struct {
		fake  agenttest.Fake
		words string
	}{
		"empty, exit 0":          {agenttest.Fake{}, "without a result"}, // after SIGINT
		"empty, exit 143":        {agenttest.Fake{Exit: 143}, "exit code 143"},
		"usage error":            {agenttest.Fake{Exit: 1, Err: "Error: unknown option"}, "exit code 1: Error: unknown option"},
		"no result":              {agenttest.Fake{Out: lines(initLine, assistant("done"))}, "without a result"},
		"result, exit 1":         {agenttest.Fake{Out: lines(initLine, good("done")), Exit: 1}, "exit code 1"},
		"torn result":            {agenttest.Fake{Out: lines(initLine) + good("done")[:60]}, "in the middle of a line"},
		"torn line at the end":   {agenttest.Fake{Out: lines(initLine, good("done")) + `{"type":"assist`}, "in the middle of a line"},
		"result that is no line": {agenttest.Fake{Out: lines(initLine, "Here it is: "+good("done"))}, "without a result"},
		"result of 9 MB":         {agenttest.Fake{Out: lines(initLine), Long: 9 << 20}, "1 lines of more than 8388608 bytes were not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := play(t, test.fake)
			if o.class != driver.Crashed || !strings.Contains(o.err.Error(), test.words) {
				t.Errorf("got %v, want crashed with %q", o.err, test.words)
			}
			if o.Metered && !strings.Contains(test.fake.Out, good("done")) {
				t.Error("nobody said the usage, and it is metered")
			}
		})
	}
}

func TestNoise(t *testing.T) {
	for name, out := range map[string]string{
		"not first":      lines(`{"type":"system","subtype":"ui_invalidate"}`, initLine, good("done")),
		"not JSON":       lines("hook says hello", "{broken", "", "null", "[1]", initLine, good("done"), "bye"),
		"unknown":        lines(initLine, `{"type":"news","message":5,"session_id":7}`, `{"type":"assistant","message":"text"}`, good("done")),
		"no end of line": lines(initLine) + good("done"),
		"CRLF":           initLine + "\r\n" + good("done") + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o := play(t, agenttest.Fake{Out: out, Err: "ERROR: fatal\n"}); o.class != "" || o.Summary != "done" || !o.Metered {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	withSchema := func(task *driver.Task) { task.Schema = json.RawMessage(`{"type":"object"}`) }
	o := play(t, agenttest.Fake{Out: lines(initLine, good("no structure"))}, withSchema)
	if o.class != driver.InvalidOutput || !o.Metered {
		t.Errorf("without structured output: %+v", o)
	}
	result := strings.Replace(good("x"), `"is_error"`, `"structured_output":{"name":"Ann"},"is_error"`, 1)
	if o := play(t, agenttest.Fake{Out: lines(initLine, result)}, withSchema); o.class != "" || string(o.Answer) != `{"name":"Ann"}` {
		t.Errorf("got %+v", o)
	}
}

// TestItDoesNotExit: after its result the program hangs, and its children hold the pipes.
func TestItDoesNotExit(t *testing.T) {
	o := play(t, agenttest.Fake{Out: lines(initLine, good("done")), Hang: true})
	if o.class != "" || o.Summary != "done" || !o.Metered {
		t.Errorf("got %+v", o)
	}
	// What comes after a result and is work keeps it alive; what is told of it is the last result.
	o = play(t, agenttest.Fake{Out: lines(initLine, good("first"), initLine), Talk: assistant("more")},
		func(task *driver.Task) { task.Budget.Timeout = 2 * time.Second })
	if o.class != driver.Timeout {
		t.Errorf("got %+v", o.err)
	}
	o = play(t, agenttest.Fake{Out: lines(initLine, `{"type":"system","subtype":"background_tasks_changed","tasks":[{}]}`, good("first")), Hang: true},
		func(task *driver.Task) { task.Budget.Idle = 2 * time.Second })
	if o.class != driver.Idle {
		t.Errorf("with a task in the background: %+v", o.err)
	}
}

func TestTwoResults(t *testing.T) {
	second := strings.Replace(good("second"), `"model_usage_since_last_result":{"m":{"inputTokens":1,"outputTokens":2}}`,
		`"model_usage_since_last_result":{"m":{"inputTokens":10,"outputTokens":20},"n":{"inputTokens":5,"outputTokens":0}}`, 1)
	o := play(t, agenttest.Fake{Out: lines(initLine, good("first"), initLine, second)})
	want := []cost.Usage{{Model: "m", Input: 11, Output: 22, Metered: true}, {Model: "n", Input: 5, Metered: true}}
	if o.class != "" || o.Summary != "second" || !slices.Equal(o.Calls, want) {
		t.Errorf("got %+v", o)
	}
}

// TestUsageOfAResumedSession: modelUsage counts from the begin of the session.
func TestUsageOfAResumedSession(t *testing.T) {
	resumed := func(task *driver.Task) { task.Session = session }
	whole := `{"type":"result","is_error":false,"result":"x","modelUsage":{"m":{"inputTokens":300,"outputTokens":200}}`
	o := play(t, agenttest.Fake{Out: lines(initLine, whole+`,"model_usage_since_last_result":{"m":{"inputTokens":100,"outputTokens":50}}}`)}, resumed)
	if want := (cost.Usage{Model: "m", Input: 100, Output: 50, Metered: true}); !o.Metered || o.Usage() != want {
		t.Errorf("got %+v, want %+v", o.Usage(), want)
	}
	// An old version does not say it: then only what was seen is known.
	if o := play(t, agenttest.Fake{Out: lines(initLine, whole+`}`)}, resumed); o.Metered || o.class != "" {
		t.Errorf("got %+v, want it to be unmetered", o)
	}
	if o := play(t, agenttest.Fake{Out: lines(initLine, whole+`}`)}); !o.Metered || o.Usage().Input != 300 {
		t.Errorf("a new session: %+v", o)
	}
}

// TestService: what costs another price than the standard one is told.
func TestService(t *testing.T) {
	for usage, want := range map[string]string{
		`{"speed":"standard","service_tier":"standard","inference_geo":""}`: "",
		`{"speed":"fast","service_tier":"standard"}`:                        "fast",
		`{"speed":"standard","service_tier":"batch"}`:                       "batch",
		`{"speed":"fast","inference_geo":"us"}`:                             "us",
		`{}`:                                                                "",
	} {
		line := `{"type":"result","is_error":false,"result":"x","modelUsage":{"m":{"inputTokens":3,"outputTokens":2}},"usage":` + usage + `}`
		if o := play(t, agenttest.Fake{Out: lines(initLine, line)}); o.Service != want || !o.Metered {
			t.Errorf("%s: service %q, %+v", usage, o.Service, o.Usage())
		}
	}
}

func stream(event string) string { return `{"type":"stream_event","event":` + event + `}` }

const atFirst = `{"input_tokens":100,"cache_read_input_tokens":7,"cache_creation_input_tokens":5,` +
	`"cache_creation":{"ephemeral_1h_input_tokens":2},"output_tokens":1}`

var (
	begin  = stream(`{"type":"message_start","message":{"id":"1","model":"m","usage":` + atFirst + `}}`)
	whole1 = `{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"text","text":"words"}],"usage":` + atFirst + `}}`
	delta  = stream(`{"type":"message_delta","usage":{"output_tokens":40,"output_tokens_details":{"thinking_tokens":30}}}`)
	stop   = stream(`{"type":"message_stop"}`)
	sub    = `{"type":"assistant","parent_tool_use_id":"t","message":{"id":"2","model":"small","usage":{"input_tokens":9,"output_tokens":3}}}`
)

// TestUsageWhileItRuns: a run that is ended early has what was seen, and is not metered.
func TestUsageWhileItRuns(t *testing.T) {
	o := play(t, agenttest.Fake{Out: lines(initLine, begin, whole1, delta, stop, sub), Hang: true},
		func(task *driver.Task) { task.Budget.Timeout = time.Second })
	want := []cost.Usage{{Model: "m", Input: 100, CacheRead: 7, CacheWrite5m: 3, CacheWrite1h: 2, Output: 40, Reasoning: 30, Metered: true},
		{Model: "small", Input: 9, Output: 3, Metered: true}}
	if o.class != driver.Timeout || o.Metered || !slices.Equal(o.Calls, want) || o.Summary != "words" || o.Session != session {
		t.Errorf("got %+v", o)
	}
	var told []int64
	for _, e := range o.events {
		if e.Kind == "usage" {
			told = append(told, e.Usage.Tokens())
		}
	}
	if !slices.Equal(told, []int64{152, 164, 164}) {
		t.Errorf("the usage that was told: %d", told)
	}
}

// TestUsageThatMakesNoSense costs no more than itself: what the agent did is known.
func TestUsageThatMakesNoSense(t *testing.T) {
	half := `{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"text","text":"words"}],"usage":{"input_tokens":1.5,"output_tokens":1}}}`
	o := play(t, agenttest.Fake{Out: lines(initLine, half), Hang: true}, func(task *driver.Task) { task.Budget.Timeout = time.Second })
	if o.Summary != "words" || len(o.Calls) != 0 || o.Metered {
		t.Errorf("got %+v", o.Result)
	}
	for _, counts := range []string{`{"inputTokens":-1,"outputTokens":2}`, `{"inputTokens":1}`, `5`, `{"inputTokens":1,"outputTokens":2.5}`} {
		for _, key := range []string{"modelUsage", "model_usage_since_last_result"} {
			o := play(t, agenttest.Fake{Out: lines(initLine, `{"type":"result","is_error":false,"result":"done","`+key+`":{"m":{"inputTokens":1,"outputTokens":2},"n":`+counts+`}}`)})
			if o.class != "" || o.Summary != "done" || o.Metered {
				t.Errorf("%s %s: got %+v", key, counts, o.Result)
			}
		}
	}
}

// TestCacheWritesAreNotSplitAtTheEnd: the end of a message gives their sum only, and no token is counted twice for it.
func TestCacheWritesAreNotSplitAtTheEnd(t *testing.T) {
	end := stream(`{"type":"message_delta","usage":{"input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":40}}`)
	o := play(t, agenttest.Fake{Out: lines(initLine, begin, whole1, end, stop), Hang: true}, func(task *driver.Task) { task.Budget.Timeout = time.Second })
	if want := (cost.Usage{Model: "m", Input: 100, CacheRead: 7, CacheWrite5m: 3, CacheWrite1h: 2, Output: 40, Metered: true}); len(o.Calls) != 1 || o.Calls[0] != want {
		t.Errorf("got %+v, want %+v", o.Calls, want)
	}
}

func TestTokenBudgetEndsTheRun(t *testing.T) {
	budget := func(limit int64) func(*driver.Task) { return func(task *driver.Task) { task.Budget.Tokens = limit } }
	out := lines(initLine, begin, whole1, delta, stop)
	if o := play(t, agenttest.Fake{Out: out, Hang: true}, budget(151)); o.class != driver.Truncated || o.Metered || o.Calls[0].Output != 40 {
		t.Errorf("got %+v", o)
	}
	if o := play(t, agenttest.Fake{Out: out + lines(good("done"))}, budget(152)); o.class != "" {
		t.Errorf("within the budget: %v", o.err)
	}
}

// TestUsageWithACallThatWasLost: claude does not count a request whose answer broke off, but it was paid for.
func TestUsageWithACallThatWasLost(t *testing.T) {
	for name, test := range map[string]struct {
		out     string
		metered bool
	}{
		"whole":        {lines(initLine, begin, delta, stop, good("x")), true},
		"cut":          {lines(initLine, begin, good("x")), false},
		"no answer":    {lines(initLine, `{"type":"system","subtype":"api_retry","error_status":null,"error":"unknown"}`, good("x")), false},
		"refused":      {lines(initLine, `{"type":"system","subtype":"api_retry","error_status":429,"error":"rate_limit"}`, good("x")), true},
		"dropped":      {lines(initLine, `{"type":"result","is_error":true,"result":"Connection dropped","modelUsage":{}}`), false},
		"turned away":  {lines(initLine, `{"type":"result","is_error":true,"api_error_status":529,"modelUsage":{}}`), true},
		"not said":     {lines(initLine, `{"type":"result","is_error":false,"result":"x"}`), false},
		"not any more": {lines(initLine, good("x"), `{"type":"result","is_error":false,"result":"x"}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o := play(t, agenttest.Fake{Out: test.out}); o.Metered != test.metered || o.Usage().Metered != test.metered {
				t.Errorf("got %+v", o.Result)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	limited := `{"type":"result","is_error":true,"api_error_status":429,"result":"limit"}`
	retry := `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":2340,"error_status":429,"error":"rate_limit"}`
	event := `{"type":"rate_limit_event","rate_limit_info":{"status":"%s","resetsAt":1800003600}}`
	for name, test := range map[string]struct {
		out  string
		want time.Duration
	}{
		"not said":     {lines(initLine, limited), 0},
		"by its waits": {lines(initLine, retry, limited), 2340 * time.Millisecond},
		"by the event": {lines(initLine, fmt.Sprintf(event, "rejected"), limited), time.Hour},
		"a warning":    {lines(initLine, fmt.Sprintf(event, "allowed_warning"), limited), 0},
	} {
		if o := play(t, agenttest.Fake{Out: test.out, Exit: 1}); o.class != driver.RateLimited || o.err.RetryAfter != test.want {
			t.Errorf("%s: got %+v", name, o.err)
		}
	}
}

func TestLongLine(t *testing.T) {
	o := play(t, agenttest.Fake{Long: 100 << 20, Out: lines(initLine, good("done"))})
	if o.class != "" || o.Summary != "done" {
		t.Errorf("got %+v", o)
	}
}

func TestTroubleIsInTheError(t *testing.T) {
	retry := `{"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"retry_delay_ms":9000,"error_status":529,"error":"overloaded"}`
	o := play(t, agenttest.Fake{Out: lines(initLine, retry), Hang: true}, func(task *driver.Task) { task.Budget.Idle = time.Second })
	if o.class != driver.Idle || !strings.Contains(o.err.Error(), "overloaded (529), try 3 of 10 again in 9s") {
		t.Errorf("got %v", o.err)
	}
}

func TestEvents(t *testing.T) {
	tool := `{"type":"assistant","message":{"id":"3","model":"m","content":[{"type":"tool_use","name":"Bash",` +
		`"input":{"command":"go test ./..."}},{"type":"tool_use","name":"Grep","input":{"pattern":"x"}}]}}`
	synthetic := `{"type":"assistant","message":{"id":"4","model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"usage":{"input_tokens":0}}}`
	denied := `{"type":"system","subtype":"permission_denied","tool_name":"Write","message":"not granted"}`
	o := play(t, agenttest.Fake{Out: lines(initLine, assistant("hello"), tool, synthetic, denied, good("done"))})
	for kind, part := range map[string]string{"text": "hello", "tool": "Bash go test ./...", "progress": "denied: not granted"} {
		if !o.told(kind, part) {
			t.Errorf("no event %s with %q: %+v", kind, part, o.events)
		}
	}
	if o.told("text", "API Error") || o.class != "" || !o.told("tool", `Grep {"pattern":"x"}`) {
		t.Errorf("got %+v", o)
	}
}

// TestSessionThatIsGone: a new one is begun, whose prompt is complete.
func TestSessionThatIsGone(t *testing.T) {
	for name, gone := range map[string]agenttest.Fake{
		"by a result": {Exit: 1, Out: lines(`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"]}`)},
		"by stderr":   {Exit: 1, Err: "No conversation found with session ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := filepath.Join(t.TempDir(), "seen")
			f := agenttest.Fake{Seen: seen, Out: lines(initLine, good("done")), Resumed: map[string]agenttest.Fake{"--resume": gone}}
			o := play(t, f, func(task *driver.Task) { task.Session = session })
			if o.class != "" || o.Summary != "done" || !o.Metered || !o.told("progress", "a new one is begun") {
				t.Errorf("got %+v", o)
			}
			if got := agenttest.ReadSeen(t, seen).Stdin; got != "Do it." {
				t.Errorf("the prompt is %q", got)
			}
		})
	}
	// One that was taken up and failed is not begun anew.
	failed := agenttest.Fake{Exit: 1, Out: lines(initLine, `{"type":"result","is_error":true,"api_error_status":529}`)}
	o := play(t, agenttest.Fake{Out: lines(initLine, good("done")), Resumed: map[string]agenttest.Fake{"--resume": failed}},
		func(task *driver.Task) { task.Session = session })
	if o.class != driver.Overloaded {
		t.Errorf("got %+v", o.err)
	}
}

func TestArgumentsAndEnvironment(t *testing.T) {
	sandbox := []string{}
	if os.Geteuid() == 0 {
		sandbox = append(sandbox, "IS_SANDBOX=1")
	}
	const base = "-p --output-format=stream-json --verbose --include-partial-messages "
	for name, test := range map[string]struct {
		change func(*driver.Task)
		want   string
	}{
		"plain":           {func(*driver.Task) {}, base + "--permission-mode=bypassPermissions"},
		"read-only":       {func(t *driver.Task) { t.ReadOnly = true }, base + "--permission-mode=dontAsk --tools=Read,Grep,Glob --strict-mcp-config"},
		"model":           {func(t *driver.Task) { t.Model = "-m" }, base + "--permission-mode=bypassPermissions --model=-m"},
		"schema":          {func(t *driver.Task) { t.Schema = json.RawMessage(`{}`) }, base + "--permission-mode=bypassPermissions --json-schema={}"},
		"session":         {func(t *driver.Task) { t.Session = session }, base + "--permission-mode=bypassPermissions --resume=" + session},
		"foreign session": {func(t *driver.Task) { t.Session = "--help" }, base + "--permission-mode=bypassPermissions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "seen")
			play(t, agenttest.Fake{Seen: file, Out: lines(initLine, good("done"))}, test.change, func(task *driver.Task) {
				task.Environment = append(task.Environment, "DISABLE_AUTOUPDATER=0", "ANTHROPIC_API_KEY=k")
			})
			seen := agenttest.ReadSeen(t, file)
			if got := strings.Join(seen.Args, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			for _, entry := range append(sandbox, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ANTHROPIC_API_KEY=k") {
				if !slices.Contains(seen.Env, entry) {
					t.Errorf("%s is not in %q", entry, seen.Env)
				}
			}
		})
	}
}

func TestMissingProgram(t *testing.T) {
	task := agenttest.Task(t)
	task.Environment = []string{"PATH=" + t.TempDir()}
	for _, program := range []string{"", filepath.Join(t.TempDir(), "claude")} {
		_, err := open(t, program).Run(t.Context(), task, nil)
		if driver.ClassOf(err) != driver.Crashed || !strings.Contains(err.Error(), "claude is not installed") || !strings.Contains(err.Error(), "npm install") {
			t.Errorf("got %v", err)
		}
	}
}

// TestSoftStopIsNoSuccess: cancelled in the middle, even where the program then prints a result.
func TestSoftStopIsNoSuccess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	task := agenttest.Task(t)
	d := open(t, agenttest.Program(t, agenttest.Fake{Out: lines(initLine, assistant("at work")), Hang: true}))
	result, err := d.Run(ctx, task, func(e driver.Event) { cancel() })
	if driver.ClassOf(err) != driver.Cancelled || result.Session != session || result.Metered {
		t.Errorf("got %+v, %v", result, err)
	}
}
