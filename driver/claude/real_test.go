//go:build unix

package claude_test

import (
	"context"
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
	"aesop/driver/claude"
	"aesop/driver/drivertest"
	"aesop/driver/drivertest/modelserver"
	"aesop/internal/agentproc/agenttest"
)

// usage is what the played model says it used in each answer.
func usage() cost.Usage {
	return cost.Usage{Input: 100, CacheRead: 3000, CacheWrite5m: 1500, CacheWrite1h: 500, Output: 42, Reasoning: 30, Metered: true}
}

func bash(command string) []modelserver.Call {
	return []modelserver.Call{{Name: "Bash", Input: map[string]any{"command": command}}}
}

// real is the driver of the real claude, and a task whose model is played.
type real struct {
	*claude.Driver
	talk *modelserver.Talk
	task driver.Task
}

func newReal(t *testing.T, steps ...modelserver.Step) *real {
	t.Helper()
	r := &real{Driver: open(t, agenttest.Installed(t, "claude")), task: agenttest.Task(t)}
	server := modelserver.New()
	t.Cleanup(server.Close)
	r.talk = server.Talk(r.task.Prompt, steps...)
	r.task.Environment = append(r.task.Environment, server.Claude()...)
	r.task.Environment = append(r.task.Environment, "CLAUDE_CODE_MAX_RETRIES=1")
	r.task.Budget = driver.Budget{Timeout: time.Minute, Idle: time.Minute}
	return r
}

func (r *real) run(t *testing.T) outcome {
	t.Helper()
	return r.runIn(t, t.Context())
}

func (r *real) runIn(t *testing.T, ctx context.Context) outcome {
	t.Helper()
	var o outcome
	var err error
	o.Result, err = r.Run(ctx, r.task, func(e driver.Event) { o.events = append(o.events, e) })
	o.class = driver.ClassOf(err)
	errors.As(err, &o.err)
	for pid, name := range drivertest.Running(r.task.Mark) {
		t.Errorf("process %d (%s) is left", pid, name)
	}
	return o
}

// served is what the model server said was used.
func (r *real) served() cost.Usage { return cost.Sum(r.talk.Served()...) }

func TestRealSuite(t *testing.T) {
	program := agenttest.Installed(t, "claude")
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		switch {
		case play.Prompt != "":
			t.Skip("not applicable: a model cannot copy a prompt as large; TestRealPrompt looks at the request")
		case strings.Contains(t.Name(), "UsageIsUnknownWhenNotSaid"):
			t.Skip("not applicable: claude always says a usage")
		case slices.Contains([]driver.Class{driver.Timeout, driver.Idle, driver.Cancelled}, play.Fail):
			t.Skip("not applicable: only the driver itself ends a task so")
		case play.Fail == driver.InvalidOutput:
			t.Skip("not applicable: only an answer to a schema can be invalid")
		}
		server := modelserver.New()
		t.Cleanup(server.Close)
		server.Talk("", steps(play)...)
		return withEnvironment{open(t, program), append(server.Claude(), "CLAUDE_CODE_MAX_RETRIES=0", "TMPDIR="+t.TempDir(), "CLAUDE_CONFIG_DIR="+t.TempDir())}
	})
}

// withEnvironment adds to the environment that the suite gives.
type withEnvironment struct {
	driver.Driver
	environment []string
}

func (d withEnvironment) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	t.Environment = append(slices.Clone(t.Environment), d.environment...)
	return d.Driver.Run(ctx, t, emit)
}

// steps are the answers that make the real program play play.
func steps(play drivertest.Play) []modelserver.Step {
	var all []modelserver.Step
	command := ""
	for name, text := range play.Files {
		command += "mkdir -p $(dirname " + name + "); printf '" + text + "' >" + name + "\n"
	}
	if command != "" {
		all = append(all, modelserver.Step{Calls: bash(command)})
	}
	last := modelserver.Step{Text: play.Say}
	if last.Text == "" {
		last.Text = "done"
	}
	if play.Usage != nil {
		last.Usage = *play.Usage
	}
	switch play.Hang {
	case drivertest.Silent:
		last.Hang = modelserver.BeforeHeaders
	case drivertest.Talking:
		last.Calls = bash("sleep 0.1")
	}
	if play.Fail != "" { // the usage is that of the call before
		all[0].Usage = last.Usage
		last = map[driver.Class]modelserver.Step{driver.Refused: {Text: "no", Stop: modelserver.Refusal}, driver.Truncated: {Text: "long", Stop: modelserver.Limit},
			driver.RateLimited: {Status: 429}, driver.Overloaded: {Status: 529}, driver.Auth: {Status: 401}, driver.Crashed: {Status: 400}}[play.Fail]
	}
	return append(all, last)
}

func TestRealPrompt(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "done"})
	r.task.Prompt = "Do it.\n" + strings.Repeat("a line of a long task with 'quotes' and ümlauts\n", 20000) + "\t--help $(touch x)"
	if o := r.run(t); o.class != "" {
		t.Fatal(o.err)
	}
	if !slices.Contains(r.talk.Requests()[0].Texts, r.task.Prompt) {
		t.Error("the model got another prompt")
	}
}

func TestRealEdit(t *testing.T) {
	write := []modelserver.Call{{Name: "Write", Input: map[string]any{"file_path": "new.txt", "content": "hello\n"}}}
	r := newReal(t, modelserver.Step{Text: "I write.", Calls: write, Usage: usage()},
		modelserver.Step{Calls: bash("cat new.txt new.txt >twice.txt"), Usage: usage()}, modelserver.Step{Text: "All done.", Usage: usage()})
	r.task.Model = "claude-sonnet-5-5"
	o := r.run(t)
	if o.class != "" || o.Summary != "All done." || o.Session == "" || !strings.Contains(o.Session, o.SessionID) || len(o.SessionID) != 36 {
		t.Errorf("got %+v", o)
	}
	if text, err := os.ReadFile(filepath.Join(r.task.Dir, "twice.txt")); err != nil || string(text) != "hello\nhello\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if o.Usage() != r.served() || o.Usage().Model != "claude-sonnet-5-5" || o.Usage().Input != 300 {
		t.Errorf("the usage is %+v, and %+v was served", o.Usage(), r.served())
	}
	if !o.told("text", "I write.") || !o.told("tool", "Write new.txt") || !o.told("tool", "Bash cat new.txt") {
		t.Errorf("got %+v", o.events)
	}
	for _, request := range r.talk.Requests() {
		if request.Header.Get("X-Api-Key") != modelserver.Key {
			t.Error("the key of the environment was not used")
		}
	}
}

func TestRealReadOnly(t *testing.T) {
	r := newReal(t, modelserver.Step{Calls: bash("touch by-bash.txt")},
		modelserver.Step{Calls: []modelserver.Call{{Name: "Write", Input: map[string]any{"file_path": "by-write.txt", "content": "x"}}}},
		modelserver.Step{Calls: []modelserver.Call{{Name: "Read", Input: map[string]any{"file_path": "given.txt"}}}},
		modelserver.Step{Calls: []modelserver.Call{{Name: "StructuredOutput", Input: map[string]any{"good": true}}}})
	if err := os.WriteFile(filepath.Join(r.task.Dir, "given.txt"), []byte("the text given\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.task.ReadOnly = true
	r.task.Schema = json.RawMessage(`{"type":"object","properties":{"good":{"type":"boolean"}},"required":["good"],"additionalProperties":false}`)
	if o := r.run(t); o.class != "" || string(o.Answer) != `{"good":true}` {
		t.Errorf("got %+v", o)
	}
	if files, _ := filepath.Glob(filepath.Join(r.task.Dir, "*")); len(files) != 1 {
		t.Errorf("the tree has %q", files)
	}
	requests := r.talk.Requests()
	if last := requests[len(requests)-1].Texts; !slices.ContainsFunc(last, func(text string) bool { return strings.Contains(text, "the text given") }) {
		t.Error("it could not read")
	}
}

func TestRealSchema(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "no structure", Usage: usage()})
	r.task.Schema = json.RawMessage(`{"type":"object","properties":{"good":{"type":"boolean"}},"required":["good"]}`)
	if o := r.run(t); o.class != driver.InvalidOutput || o.Usage() != r.served() {
		t.Errorf("got %+v, %v; served %+v", o.Result, o.err, r.served())
	}
}

func TestRealFailures(t *testing.T) {
	agenttest.Installed(t, "claude")
	for name, test := range map[string]struct {
		step    modelserver.Step
		class   driver.Class
		metered bool
	}{
		"400":     {modelserver.Step{Status: 400}, driver.Crashed, true},
		"401":     {modelserver.Step{Status: 401}, driver.Auth, true},
		"429":     {modelserver.Step{Status: 429, RetryAfter: time.Second}, driver.RateLimited, true},
		"500":     {modelserver.Step{Status: 500}, driver.Overloaded, true},
		"529":     {modelserver.Step{Status: 529}, driver.Overloaded, true},
		"cut":     {modelserver.Step{Text: "half", Cut: true, Usage: usage()}, driver.Overloaded, false},
		"refusal": {modelserver.Step{Text: "I can not", Stop: modelserver.Refusal, Usage: usage()}, driver.Refused, true},
		"limit":   {modelserver.Step{Text: "long", Stop: modelserver.Limit, Usage: usage()}, driver.Truncated, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t, test.step)
			o := r.run(t)
			if o.class != test.class || o.Metered != test.metered {
				t.Errorf("got %+v, metered %v; want %s", o.err, o.Metered, test.class)
			}
			if test.metered && o.Usage().Tokens() != r.served().Tokens() {
				t.Errorf("the usage is %+v, and %+v was served", o.Usage(), r.served())
			}
			if name == "429" && o.err.RetryAfter < time.Second {
				t.Errorf("again after %s, want at least the second that the server said", o.err.RetryAfter)
			}
		})
	}
}

func TestRealRetriesAreNoFailure(t *testing.T) {
	r := newReal(t, modelserver.Step{Status: 429, RetryAfter: time.Second}, modelserver.Step{Text: "done", Usage: usage()})
	if o := r.run(t); o.class != "" || o.Usage() != r.served() || !o.told("progress", "rate_limit (429)") {
		t.Errorf("got %+v", o)
	}
}

func TestRealNotLoggedIn(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "done"})
	r.task.Environment = slices.DeleteFunc(r.task.Environment, func(e string) bool { return strings.HasPrefix(e, "ANTHROPIC_API_KEY=") })
	if o := r.run(t); o.class != driver.Auth || !strings.Contains(o.err.Error(), "/login") {
		t.Errorf("got %v", o.err)
	}
}

func TestRealHangs(t *testing.T) {
	agenttest.Installed(t, "claude")
	t.Run("before headers", func(t *testing.T) {
		t.Parallel()
		r := newReal(t, modelserver.Step{Hang: modelserver.BeforeHeaders})
		r.task.Budget = driver.Budget{Timeout: 6 * time.Second}
		if o := r.run(t); o.class != driver.Timeout || o.Metered || o.Session == "" {
			t.Errorf("got %+v, %v", o.Result, o.err)
		}
	})
	t.Run("in the stream", func(t *testing.T) {
		t.Parallel()
		r := newReal(t, modelserver.Step{Text: "half", Hang: modelserver.InStream, Usage: usage()})
		r.task.Budget = driver.Budget{Idle: 5 * time.Second}
		if o := r.run(t); o.class != driver.Idle || o.Metered || len(o.Calls) != 1 || o.Calls[0].Input != 100 {
			t.Errorf("got %+v, %v", o.Result, o.err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		r := newReal(t, modelserver.Step{Calls: bash("sleep 3600 & sleep 3600")})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		emitted := false
		_, err := r.Run(ctx, r.task, func(e driver.Event) {
			if e.Kind == "tool" {
				emitted = true
				cancel()
			}
		})
		if driver.ClassOf(err) != driver.Cancelled || !emitted {
			t.Errorf("got %v", err)
		}
		for pid, name := range drivertest.Running(r.task.Mark) {
			t.Errorf("process %d (%s) is left", pid, name)
		}
	})
}

// TestRealSubAgents: their usage counts too, and the work ends with them.
func TestRealSubAgents(t *testing.T) {
	r := newReal(t, modelserver.Step{Calls: []modelserver.Call{{Name: "Task",
		Input: map[string]any{"description": "part", "prompt": "Your part.", "subagent_type": "general-purpose"}}}, Usage: usage()},
		modelserver.Step{Text: "done", Usage: usage()})
	if o := r.run(t); o.class != "" || o.Usage() != r.served() || len(r.talk.Served()) < 3 {
		t.Errorf("got %+v, served %+v", o.Usage(), r.talk.Served())
	}
}

// TestRealSession: from another directory, as the engine's repairs are, when the first is gone.
func TestRealSession(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "first answer", Usage: usage()}, modelserver.Step{Text: "second", Calls: bash("pwd >where.txt"), Usage: usage()},
		modelserver.Step{Text: "third", Usage: usage()})
	first := r.run(t)
	if first.class != "" || first.Usage() != r.served() {
		t.Fatalf("got %+v", first)
	}
	second := r.task
	second.Session, second.Dir, second.Prompt = first.Session, filepath.Join(filepath.Dir(r.task.Dir), "other"), "Repair it."
	if err := os.Rename(r.task.Dir, second.Dir); err != nil {
		t.Fatal(err)
	}
	r.task = second
	o := r.run(t)
	if want := cost.Sum(r.talk.Served()[1:]...); o.class != "" || o.Usage() != want || o.Session != first.Session {
		t.Errorf("got %+v %v, want %+v", o.Usage(), o.err, want)
	}
	if text, _ := os.ReadFile(filepath.Join(second.Dir, "where.txt")); string(text) != second.Dir+"\n" {
		t.Errorf("it worked in %q", text)
	}
	texts := r.talk.Requests()[1].Texts
	if !slices.Contains(texts, "first answer") || !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, second.Dir) }) {
		t.Error("the model was told neither what it said before nor where it is now")
	}
}

// TestRealSessionThatIsGone and TestRealSessionOfARunThatWasKilled: a repair never fails for want of a session.
func TestRealSessionThatIsGone(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "done", Usage: usage()})
	r.task.Session = session
	if o := r.run(t); o.class != "" || o.Session == session || o.Usage() != r.served() || !o.told("progress", "a new one is begun") {
		t.Errorf("got %+v", o)
	}
}

func TestRealSessionOfARunThatWasKilled(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "one", Calls: bash("true"), Usage: usage()}, modelserver.Step{Text: "half", Hang: modelserver.InStream, Usage: usage()},
		modelserver.Step{Text: "again", Usage: usage()})
	r.task.Budget = driver.Budget{Idle: 5 * time.Second}
	first := r.run(t)
	if first.class != driver.Idle || first.Session == "" {
		t.Fatalf("got %+v", first)
	}
	r.task.Session = first.Session
	if o := r.run(t); o.class != "" || o.Usage() != r.talk.Served()[1] {
		t.Errorf("got %+v, %v", o.Result, o.err)
	}
}
