package aesop_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"aesop"
	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/wave"
	"aesop/wave/journal"
)

// repository makes a repository with a pushed commit, a backlog of one item, and the environment of a user with an empty home.
func repository(t *testing.T) (repo, home string) {
	t.Helper()
	dir := t.TempDir()
	repo, home = filepath.Join(dir, "repo"), filepath.Join(dir, "home")
	newUser(t, home)
	git(t, dir, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
	git(t, dir, "init", "--quiet", "--initial-branch=main", repo)
	git(t, repo, "-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "--quiet", "--allow-empty", "--message=Begin")
	git(t, repo, "remote", "add", "origin", "../remote.git")
	git(t, repo, "push", "--quiet", "origin", "main")
	const backlog = `[{"id": "greet", "slug": "greet", "ownsFiles": ["greeting.txt"], "prompt": "Say hello.", "testCmd": "grep -q hello greeting.txt"}]`
	write(t, filepath.Join(repo, "tracker.json"), backlog)
	return repo, home
}

// newUser makes the environment that of a user with an empty home and no configuration.
func newUser(t *testing.T, home string) {
	t.Helper()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

// git runs a command of git, and returns what it says.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runOne opens a configuration and runs a wave, which must ship its one item.
func runOne(t *testing.T, c aesop.Config) (aesop.Report, *aesop.Engine) {
	t.Helper()
	engine, err := aesop.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	report, err := engine.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Items) != 1 || report.Items[0].State != journal.StateShipped {
		t.Fatalf("outcome %s, items %+v", report.Outcome, report.Items)
	}
	return report, engine
}

// greeter is a driver of a program that uses the library.
type greeter struct{ prompts []string }

func (*greeter) Info() driver.Info { return driver.Info{Name: "greeter", Tier: 2} }

func (g *greeter) Run(_ context.Context, t driver.Task, _ func(driver.Event)) (driver.Result, error) {
	g.prompts = append(g.prompts, t.Prompt)
	return driver.Result{Summary: "done"}, os.WriteFile(filepath.Join(t.Dir, "greeting.txt"), []byte("hello\n"), 0o644)
}

func TestOpenWithAnAgentOfOnesOwn(t *testing.T) {
	repo, home := repository(t)
	agent := &greeter{}
	report, engine := runOne(t, aesop.Config{Repo: repo, Agent: agent, Settings: aesop.Settings{Driver: "is not asked"}})
	if report.Driver != "greeter" || report.Items[0].Tier != 2 || len(agent.prompts) != 1 || !strings.Contains(agent.prompts[0], "Say hello.") {
		t.Errorf("driver %s, tier %d, prompts %q", report.Driver, report.Items[0].Tier, agent.prompts)
	}
	if within := filepath.Join(home, ".local/state/aesop"); filepath.Dir(engine.State) != within {
		t.Errorf("state %s is not in %s", engine.State, within)
	}
	backlog, err := engine.Backlog.Backlog(t.Context())
	if err != nil || backlog.Items[0].Status != "done" {
		t.Errorf("backlog: %+v, %v", backlog.Items, err)
	}
}

func TestOpenWithNamedDrivers(t *testing.T) {
	t.Run("command", func(t *testing.T) {
		repo, _ := repository(t)
		report, _ := runOne(t, aesop.Config{Repo: repo, Settings: aesop.Settings{Driver: "command", AgentCmd: "grep -q 'Say hello' && echo hello > greeting.txt"}})
		if report.Driver != "command" {
			t.Errorf("driver %s", report.Driver)
		}
	})
	t.Run("script", func(t *testing.T) {
		repo, _ := repository(t)
		file := filepath.Join(t.TempDir(), "script.json")
		write(t, file, `{"greet": [{"files": {"greeting.txt": "hello\n"}}]}`)
		report, _ := runOne(t, aesop.Config{Repo: repo, Script: file, Settings: aesop.Settings{Driver: "script"}})
		if report.Driver != "script" {
			t.Errorf("driver %s", report.Driver)
		}
	})
}

func TestOpenTakesSettingsAndPartsToTheScheduler(t *testing.T) {
	repo, _ := repository(t)
	seen := map[string]int{}
	c := aesop.Config{Repo: repo, Agent: &greeter{}, Settings: aesop.Settings{Model: "m", State: filepath.Join(t.TempDir(), "state")},
		Gates: []wave.Gate{counted(seen)}, Reviewer: counted(seen), Approver: counted(seen), Prompts: counted(seen), Observers: []wave.Observer{counted(seen)}}
	report, engine := runOne(t, c)
	if report.Items[0].Model == nil || *report.Items[0].Model != "m" || engine.State != c.State || report.Prompt != "counted" {
		t.Errorf("model %v, state %s, prompt %s", report.Items[0].Model, engine.State, report.Prompt)
	}
	for _, part := range []string{"gate", "reviewer", "approver", "prompts", "observer"} {
		if seen[part] == 0 {
			t.Errorf("the %s was not asked", part)
		}
	}
}

// TestSupervisedWavesWaitAtTheDesk, unless somebody else is to be asked.
func TestSupervisedWavesWaitAtTheDesk(t *testing.T) {
	repo, _ := repository(t)
	seen := map[string]int{}
	runOne(t, aesop.Config{Repo: repo, Agent: &greeter{}, Settings: aesop.Settings{Supervise: true}, Approver: counted(seen)})
	if seen["approver"] != 1 {
		t.Error("the given approver was not asked")
	}

	repo, _ = repository(t)
	place, err := aesop.Locate(t.Context(), repo, aesop.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := place.OpenStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	approve := observer(func(e journal.Event) {
		if asked, ok := e.(journal.Asked); ok {
			if _, err := (wave.Desk{Store: store, By: "ann"}).Approve(t.Context(), wave.Seen{Item: asked.Item}); err != nil {
				t.Error(err)
			}
		}
	})
	report, _ := runOne(t, aesop.Config{Repo: repo, Agent: &greeter{}, Settings: aesop.Settings{Supervise: true}, Observers: []wave.Observer{approve}})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if j := report.Items[0].Judgements; len(j) != 1 || j[0].By != "ann" || report.Steps.Approve != "done" {
		t.Errorf("judgements %+v", j)
	}
}

type observer func(journal.Event)

func (o observer) Observe(_ *journal.Wave, e journal.Event) { o(e) }

// counted is every part that can be given, and counts how often it is asked.
type counted map[string]int

func (c counted) Name() string                            { return "counted" }
func (c counted) Version() string                         { return "counted" }
func (c counted) Check(context.Context, wave.Point) error { c["gate"]++; return nil }
func (c counted) Observe(*journal.Wave, journal.Event)    { c["observer"]++ }
func (c counted) Prompt(wave.PromptInput) (string, error) { c["prompts"]++; return "Say hello.", nil }
func (c counted) Review(context.Context, wave.Change) (wave.Judgement, error) {
	c["reviewer"]++
	return wave.Judgement{OK: true}, nil
}
func (c counted) Approve(context.Context, wave.Change) (wave.Judgement, error) {
	c["approver"]++
	return wave.Judgement{OK: true}, nil
}

func TestOpenRefuses(t *testing.T) {
	known := strings.Join(aesop.Drivers(), ", ")
	for name, tt := range map[string]struct {
		settings aesop.Settings
		code     string
		says     []string
	}{
		"no driver":            {aesop.Settings{}, "unknown_driver", []string{"no driver is named", known}},
		"unknown driver":       {aesop.Settings{Driver: "robot"}, "unknown_driver", []string{`no driver "robot"`, known}},
		"command without line": {aesop.Settings{Driver: "command"}, "usage", []string{"agentCmd"}},
		"script without file":  {aesop.Settings{Driver: "script"}, "usage", []string{"needs a script"}},
	} {
		t.Run(name, func(t *testing.T) {
			repo, _ := repository(t)
			tt.settings.State = filepath.Join(t.TempDir(), "state")
			engine, err := aesop.Open(t.Context(), aesop.Config{Repo: repo, Settings: tt.settings})
			setup, ok := errors.AsType[*wave.SetupError](err)
			if engine != nil || !ok || setup.Code != tt.code {
				t.Fatalf("error is %v", err)
			}
			for _, want := range tt.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if _, err := os.Stat(tt.settings.State); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a state was made: %v", err)
			}
		})
	}
	t.Run("no repository", func(t *testing.T) {
		repository(t)
		folder := t.TempDir()
		write(t, filepath.Join(folder, "tracker.json"), "[]")
		if _, err := aesop.Locate(t.Context(), t.TempDir(), aesop.Settings{}); err == nil || !strings.Contains(err.Error(), "git init") {
			t.Errorf("neither a repository nor a backlog: %v", err)
		}
		// Outside of any repository, only items that name theirs can be worked on.
		for _, state := range []string{"", t.TempDir()} {
			engine, err := aesop.Open(t.Context(), aesop.Config{Repo: folder, Agent: &greeter{}, Settings: aesop.Settings{State: state}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = engine.Plan(t.Context())
			if err := engine.Close(); err != nil {
				t.Fatal(err)
			}
			if setup, ok := errors.AsType[*wave.SetupError](err); !ok || setup.Code != "not_a_repository" || !strings.Contains(setup.Hint, "git init") {
				t.Errorf("state %q: error is %v", state, err)
			}
		}
	})
}

func TestCloseReleasesTheStore(t *testing.T) {
	repo, _ := repository(t)
	engine, err := aesop.Open(t.Context(), aesop.Config{Repo: repo, Agent: &greeter{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	if err := engine.Store.View(t.Context(), func(statestore.Reader) error { return nil }); !errors.Is(err, statestore.ErrClosed) {
		t.Errorf("the store after Close: %v", err)
	}
	if _, err := engine.Run(t.Context()); !errors.Is(err, statestore.ErrClosed) {
		t.Errorf("run after Close: %v", err)
	}
	runOne(t, aesop.Config{Repo: repo, Agent: &greeter{}})
}

// TestReadStoreMakesNothing: a state that is not there has nothing in it, and one that cannot be read is an error.
func TestReadStoreMakesNothing(t *testing.T) {
	ctx, place := t.Context(), aesop.Place{State: filepath.Join(t.TempDir(), "state")}
	rows := func() int {
		t.Helper()
		store, err := place.ReadStore(ctx)
		if err != nil {
			t.Fatal(err)
		}
		book, err := ledger.New(store).Book(ctx)
		if err = errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
		return book.Len()
	}
	if n := rows(); n != 0 {
		t.Errorf("%d rows", n)
	}
	if _, err := os.Lstat(place.State); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading made something: %v", err)
	}
	store, err := place.OpenStore(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ledger.New(store).Record(ctx, cost.Call{ID: "a", At: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)})
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	if n := rows(); n != 1 {
		t.Errorf("%d rows", n)
	}
	write(t, place.State+"-file", "no folder")
	if _, err := (aesop.Place{State: place.State + "-file"}).ReadStore(ctx); err == nil {
		t.Error("a state that is a file is empty")
	}
}

func TestLocate(t *testing.T) {
	repo, home := repository(t)
	write(t, filepath.Join(repo, "sub/deep/file"), "")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, repo, "worktree", "add", "--quiet", "--detach", linked)
	locate := func(dir string) aesop.Place {
		t.Helper()
		place, err := aesop.Locate(t.Context(), dir, aesop.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return place
	}
	place := locate(repo)
	id := filepath.Base(place.State)
	if filepath.Dir(place.State) != filepath.Join(home, ".local/state/aesop") || !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("state %s", place.State)
	}
	if place.Repo != repo || place.Backlog != filepath.Join(repo, "tracker.json") || place.Halt().Path() != filepath.Join(place.State, "HALT") {
		t.Errorf("place %+v", place)
	}
	for _, dir := range []string{filepath.Join(repo, "sub/deep"), linked} {
		if got := locate(dir).State; got != place.State {
			t.Errorf("from %s the state is %s, not %s", dir, got, place.State)
		}
	}
	t.Chdir(repo)
	if got := locate(""); got != place {
		t.Errorf("in the current folder: %+v", got)
	}
	other, _ := repository(t)
	if got := locate(other).State; filepath.Base(got) == id {
		t.Error("two repositories share a state")
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "xdg"))
	if got, want := locate(repo).State, filepath.Join(home, "xdg/aesop", id); got != want {
		t.Errorf("state %s, want %s", got, want)
	}
	t.Setenv("XDG_STATE_HOME", "relative") // is to be ignored, says the standard
	t.Setenv("HOME", home)
	if got := locate(repo).State; got != place.State {
		t.Errorf("state %s", got)
	}
	t.Setenv("HOME", "")
	_, err := aesop.Locate(t.Context(), repo, aesop.Settings{})
	if setup, ok := errors.AsType[*wave.SetupError](err); !ok || !strings.Contains(setup.Hint, "folder for the state") {
		t.Errorf("without a home: %v", err)
	}
	if _, err := aesop.Locate(t.Context(), repo, aesop.Settings{State: "/somewhere"}); err != nil {
		t.Errorf("without a home and with a state: %v", err)
	}
	if _, err := os.Stat(filepath.Join(home, ".local")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("locating made something: %v", err)
	}
}

// TestReadmeProgramIsTheExample: what readers copy is what the compiler checks, and short.
func TestReadmeProgramIsTheExample(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```go file=../waves/main.go\n")
	program, _, closed := strings.Cut(rest, "```")
	if !ok || !closed || strings.Contains(rest, "```go") {
		t.Fatal("README.md must hold one program")
	}
	if n := strings.Count(program, "\n"); n > 30 {
		t.Errorf("the program has %d lines", n)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if in, tested := body(t, program, "main"), body(t, string(example), "Example"); in != tested {
		t.Errorf("README.md has\n%s\nthe example is\n%s", in, tested)
	}
}

// body is the printed body of a function.
func body(t *testing.T, source, name string) string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	function, ok := file.Scope.Lookup(name).Decl.(*ast.FuncDecl)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	var b strings.Builder
	if err := printer.Fprint(&b, files, function.Body); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestMissingAgentProgram: a wave of a program that is not installed claims nothing, and says how to get it.
func TestMissingAgentProgram(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			repo, _ := repository(t)
			write(t, filepath.Join(repo, "tracker.json"), `[{"id": "a", "slug": "a", "ownsFiles": ["a"], "prompt": "Do it.", "testCmd": "true"}]`)
			git, err := exec.LookPath("git")
			if err != nil {
				t.Fatal(err)
			}
			bin := t.TempDir()
			if err := os.Symlink(git, filepath.Join(bin, "git")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin)
			engine, err := aesop.Open(t.Context(), aesop.Config{Repo: repo, Settings: aesop.Settings{Driver: name}})
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			if _, err := engine.Run(t.Context()); err == nil || !strings.Contains(err.Error(), name+" is not installed") || !strings.Contains(err.Error(), "npm install") {
				t.Errorf("error %v", err)
			}
		})
	}
}
