//go:build unix

package codex_test

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
	"aesop/driver/codex"
	"aesop/driver/drivertest"
	"aesop/driver/drivertest/modelserver"
	"aesop/internal/agentproc/agenttest"
)

// usage is what the played model says it used in each answer.
func usage() cost.Usage {
	return cost.Usage{Input: 100, CacheRead: 3000, CacheWrite5m: 70, Output: 42, Reasoning: 30, Metered: true}
}

func shell(command string) []modelserver.Call {
	return []modelserver.Call{{Name: "exec_command", Input: map[string]any{"cmd": command}}}
}

// real is the driver of the real codex, and a task whose model is played.
type real struct {
	*codex.Driver
	talk *modelserver.Talk
	task driver.Task
}

func newReal(t *testing.T, steps ...modelserver.Step) *real {
	t.Helper()
	r := &real{Driver: open(t, agenttest.Installed(t, "codex")), task: agenttest.Task(t)}
	server := modelserver.New()
	t.Cleanup(server.Close)
	r.talk = server.Talk(r.task.Prompt, steps...)
	r.task.Environment = append(r.task.Environment, environment(t, server)...)
	r.task.Budget = driver.Budget{Timeout: time.Minute, Idle: time.Minute}
	return r
}

// environment has a CODEX_HOME whose configuration points at the server.
func environment(t *testing.T, server *modelserver.Server) []string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(server.Codex()), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"CODEX_HOME=" + home, "OPENAI_API_KEY=" + modelserver.Key}
}

func (r *real) run(t *testing.T) outcome {
	t.Helper()
	return r.runIn(t, t.Context())
}

func (r *real) runIn(t *testing.T, ctx context.Context) outcome {
	t.Helper()
	o := outcome{task: r.task}
	var err error
	o.Result, err = r.Run(ctx, r.task, func(e driver.Event) { o.events = append(o.events, e) })
	o.class = driver.ClassOf(err)
	errors.As(err, &o.err)
	for pid, name := range drivertest.Running(r.task.Mark) {
		t.Errorf("process %d (%s) is left", pid, name)
	}
	return o
}

// served is what the model server said was used, as codex can know it: it learns no model.
func (r *real) served(from int) cost.Usage {
	sum := cost.Sum(r.talk.Served()[from:]...)
	sum.Model = ""
	return sum
}

func TestRealSuite(t *testing.T) {
	program := agenttest.Installed(t, "codex")
	drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
		switch {
		case play.Prompt != "":
			t.Skip("not applicable: a model cannot copy a prompt as large; TestRealPrompt looks at the request")
		case strings.Contains(t.Name(), "UsageIsUnknownWhenNotSaid"):
			t.Skip("not applicable: codex always says a usage")
		case slices.Contains([]driver.Class{driver.Timeout, driver.Idle, driver.Cancelled}, play.Fail):
			t.Skip("not applicable: only the driver itself ends a task so")
		case play.Fail == driver.InvalidOutput:
			t.Skip("not applicable: only an answer to a schema can be invalid")
		}
		server := modelserver.New()
		t.Cleanup(server.Close)
		server.Talk("", steps(play)...)
		return withEnvironment{open(t, program), append(environment(t, server), "TMPDIR="+t.TempDir())}
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
		all = append(all, modelserver.Step{Calls: shell(command)})
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
		last.Calls = shell("sleep 0.1")
	}
	if play.Fail != "" {
		last = map[driver.Class]modelserver.Step{driver.Refused: {Text: "no", Stop: modelserver.Refusal}, driver.Truncated: {Text: "long", Stop: modelserver.Limit},
			driver.RateLimited: {Status: 429}, driver.Overloaded: {Status: 503}, driver.Auth: {Status: 401}, driver.Crashed: {Status: 400}}[play.Fail]
	}
	return append(all, last)
}

func TestRealPrompt(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "done"})
	r.task.Prompt = "Do it.\n" + strings.Repeat("a line of a long task with 'quotes' and ümlauts\n", 10000) + "\t--help $(touch x)"
	if o := r.run(t); o.class != "" {
		t.Fatal(o.err)
	}
	if !slices.Contains(r.talk.Requests()[0].Texts, r.task.Prompt) {
		t.Error("the model got another prompt")
	}
}

func TestRealEdit(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "I write.", Calls: shell("echo hello >new.txt; echo note >$AESOP_ATTEMPT_DIR/progress.txt"), Usage: usage()},
		modelserver.Step{Text: "All done.", Usage: usage()})
	o := r.run(t)
	if o.class != "" || o.Summary != "All done." || o.Session == "" || !strings.Contains(o.Session, o.SessionID) || len(o.SessionID) != 36 {
		t.Errorf("got %+v", o)
	}
	for _, file := range []string{filepath.Join(r.task.Dir, "new.txt"), filepath.Join(r.task.AttemptDir, "progress.txt")} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if o.Usage() != r.served(0) || o.Usage().Input != 200 {
		t.Errorf("the usage is %+v, and %+v was served", o.Usage(), r.served(0))
	}
	if !o.told("text", "I write.") || !o.told("tool", "echo hello >new.txt") {
		t.Errorf("got %+v", o.events)
	}
}

func TestRealReadOnly(t *testing.T) {
	r := newReal(t, modelserver.Step{Calls: shell("touch written.txt")}, modelserver.Step{Text: `{"good":true}`})
	r.task.ReadOnly = true
	r.task.Schema = json.RawMessage(`{"type":"object","properties":{"good":{"type":"boolean"}},"required":["good"],"additionalProperties":false}`)
	if o := r.run(t); o.class != "" || string(o.Answer) != `{"good":true}` {
		t.Errorf("got %+v", o)
	}
	if files, _ := filepath.Glob(filepath.Join(r.task.Dir, "*")); len(files) != 0 {
		t.Errorf("the tree has %q", files)
	}
	if body := string(r.talk.Requests()[0].Body); !strings.Contains(body, `"json_schema"`) || !strings.Contains(body, `"good"`) {
		t.Error("the schema was not handed on")
	}
}

func TestRealSchema(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "no JSON", Usage: usage()})
	r.task.Schema = json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
	if o := r.run(t); o.class != driver.InvalidOutput || o.Usage() != r.served(0) {
		t.Errorf("got %+v, %v", o.Result, o.err)
	}
}

func TestRealFailures(t *testing.T) {
	agenttest.Installed(t, "codex")
	for name, test := range map[string]struct {
		step  modelserver.Step
		class driver.Class
	}{
		"400":     {modelserver.Step{Status: 400}, driver.Crashed},
		"401":     {modelserver.Step{Status: 401}, driver.Auth},
		"429":     {modelserver.Step{Status: 429}, driver.RateLimited},
		"500":     {modelserver.Step{Status: 500}, driver.Overloaded},
		"503":     {modelserver.Step{Status: 503}, driver.Overloaded},
		"529":     {modelserver.Step{Status: 529}, driver.Overloaded},
		"cut":     {modelserver.Step{Text: "half", Cut: true, Usage: usage()}, driver.Overloaded},
		"refusal": {modelserver.Step{Text: "I can not", Stop: modelserver.Refusal, Usage: usage()}, driver.Refused},
		"limit":   {modelserver.Step{Text: "long", Stop: modelserver.Limit, Usage: usage()}, driver.Truncated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t, test.step)
			if o := r.run(t); o.class != test.class || o.Metered || o.Usage().Metered {
				t.Errorf("got %+v, metered %v; want %s", o.err, o.Metered, test.class)
			}
		})
	}
}

func TestRealRetriesAreNoFailure(t *testing.T) {
	r := newReal(t, modelserver.Step{Status: 429, RetryAfter: time.Second}, modelserver.Step{Text: "done", Usage: usage()})
	config := filepath.Join(codexHome(r.task), "config.toml")
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, []byte(strings.ReplaceAll(string(text), "_max_retries = 0", "_max_retries = 2")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o := r.run(t); o.class != "" || o.Usage() != r.served(0) || !o.told("progress", "429") {
		t.Errorf("got %+v", o)
	}
}

func codexHome(task driver.Task) string {
	for _, entry := range task.Environment {
		if home, ok := strings.CutPrefix(entry, "CODEX_HOME="); ok {
			return home
		}
	}
	return ""
}

func TestRealNotLoggedIn(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "done"})
	r.task.Environment = slices.DeleteFunc(r.task.Environment, func(e string) bool { return strings.HasPrefix(e, "OPENAI_API_KEY=") })
	if o := r.run(t); o.class != driver.Auth || !strings.Contains(o.err.Error(), "codex login") {
		t.Errorf("got %v", o.err)
	}
}

func TestRealHangs(t *testing.T) {
	agenttest.Installed(t, "codex")
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
		if o := r.run(t); o.class != driver.Idle || o.Metered {
			t.Errorf("got %+v, %v", o.Result, o.err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		r := newReal(t, modelserver.Step{Calls: shell("sleep 3600 & sleep 3600")})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := r.Run(ctx, r.task, func(e driver.Event) {
			if e.Kind == "tool" {
				cancel()
			}
		})
		if driver.ClassOf(err) != driver.Cancelled {
			t.Errorf("got %v", err)
		}
		for pid, name := range drivertest.Running(r.task.Mark) {
			t.Errorf("process %d (%s) is left", pid, name)
		}
	})
}

// TestRealSession: from another directory, as the engine's repairs are, when the first is gone.
func TestRealSession(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "first answer", Usage: usage()}, modelserver.Step{Text: "second", Calls: shell("pwd >where.txt"), Usage: usage()},
		modelserver.Step{Text: "third", Usage: usage()})
	first := r.run(t)
	if first.class != "" || first.Usage() != r.served(0) {
		t.Fatalf("got %+v", first)
	}
	second := r.task
	second.Session, second.Dir, second.Prompt = first.Session, filepath.Join(filepath.Dir(r.task.Dir), "other"), "Repair it."
	if err := os.Rename(r.task.Dir, second.Dir); err != nil {
		t.Fatal(err)
	}
	r.task = second
	o := r.run(t)
	if o.class != "" || o.Usage() != r.served(1) || o.Usage().Input != 200 {
		t.Errorf("got %+v %v, want %+v", o.Usage(), o.err, r.served(1))
	}
	if text, _ := os.ReadFile(filepath.Join(second.Dir, "where.txt")); string(text) != second.Dir+"\n" {
		t.Errorf("it worked in %q", text)
	}
	texts := r.talk.Requests()[1].Texts
	if !slices.Contains(texts, "first answer") || !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, second.Dir) }) {
		t.Error("the model was told neither what it said before nor where it is now")
	}
}

// TestRealSessionThatIsGone: a repair never fails for want of a session.
func TestRealSessionThatIsGone(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "done", Usage: usage()})
	r.task.Session = fmt.Sprintf(`{"thread":%q}`, thread)
	if o := r.run(t); o.class != "" || strings.Contains(o.Session, thread) || o.Usage() != r.served(0) || !o.told("progress", "a new one is begun") {
		t.Errorf("got %+v", o)
	}
}

// TestRealSessionOfARunThatWasKilled: what the killed run used is not said, and counted with the next turn.
func TestRealSessionOfARunThatWasKilled(t *testing.T) {
	r := newReal(t, modelserver.Step{Text: "one", Calls: shell("true"), Usage: usage()}, modelserver.Step{Text: "half", Hang: modelserver.InStream, Usage: usage()},
		modelserver.Step{Text: "again", Usage: usage()})
	r.task.Budget = driver.Budget{Idle: 5 * time.Second}
	first := r.run(t)
	if first.class != driver.Idle || first.Session == "" || first.Metered {
		t.Fatalf("got %+v", first)
	}
	r.task.Session = first.Session
	if o := r.run(t); o.class != "" || o.Usage() != r.served(0) {
		t.Errorf("got %+v, %v; served %+v", o.Result, o.err, r.talk.Served())
	}
}
