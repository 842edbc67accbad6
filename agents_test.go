//go:build unix

package aesop_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aesop"
	"aesop/cost"
	"aesop/driver/drivertest/modelserver"
	"aesop/internal/agentproc/agenttest"
	"aesop/wave"
	"aesop/wave/journal"
)

// fleet is a repository and a user whose agent programs are real and whose models are played.
type fleet struct {
	driver string
	repo   string
	home   string
	server *modelserver.Server
	ended  *endings
}

// endings observes how attempts end.
type endings struct {
	mu  sync.Mutex
	all []journal.AttemptEnded
}

func (e *endings) Observe(_ *journal.Wave, event journal.Event) {
	if end, ok := event.(journal.AttemptEnded); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.all = append(e.all, end)
	}
}

// newFleet makes a backlog of items, which own a file of their name and are done when it says hello.
func newFleet(t *testing.T, driver, test string, items ...string) *fleet {
	t.Helper()
	program := agenttest.Installed(t, driver)
	f := &fleet{driver: driver, ended: &endings{}}
	f.repo, f.home = repository(t)
	f.server = playedModels(t, program, f.home)
	var backlog []map[string]any
	for _, item := range items {
		backlog = append(backlog, map[string]any{"id": item, "slug": item, "ownsFiles": []string{item + ".txt"}, "prompt": "The work named " + item + ".",
			"testCmd": strings.ReplaceAll(test, "FILE", item+".txt")})
	}
	data, err := json.Marshal(backlog)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(f.repo, "tracker.json"), string(data))
	return f
}

// playedModels gives the user with that home an agent program, and a server that plays its model. Programs log in by the environment.
func playedModels(t *testing.T, program, home string) *modelserver.Server {
	t.Helper()
	server := modelserver.New()
	t.Cleanup(server.Close)
	write(t, filepath.Join(home, ".codex", "config.toml"), server.Codex())
	t.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("OPENAI_API_KEY", modelserver.Key)
	for _, entry := range server.Claude() {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
	return server
}

// talk scripts the work on an item.
func (f *fleet) talk(item string, steps ...modelserver.Step) *modelserver.Talk {
	return f.server.Talk("The work named "+item+".", steps...)
}

// run runs a wave, in which every item must ship.
func (f *fleet) run(t *testing.T) (aesop.Report, *aesop.Engine) {
	t.Helper()
	engine, err := aesop.Open(t.Context(), aesop.Config{Repo: f.repo, Settings: aesop.Settings{Driver: f.driver}, Observers: []wave.Observer{f.ended}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	report, err := engine.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range report.Items {
		if item.State != journal.StateShipped {
			t.Errorf("%s is %s: %s %+v", item.ID, item.State, item.Reason, item.Failure)
		}
	}
	for _, stray := range f.server.Strays() {
		t.Errorf("a request that no script is for: %q", stray.Texts)
	}
	return report, engine
}

// says makes an agent write a file by a command.
func (f *fleet) says(file, text string) []modelserver.Call {
	command := fmt.Sprintf("echo %s >%s", text, file)
	if f.driver == "codex" {
		return []modelserver.Call{{Name: "exec_command", Input: map[string]any{"cmd": command}}}
	}
	return []modelserver.Call{{Name: "Bash", Input: map[string]any{"command": command}}}
}

// served is the sum of what the server said was used, without the model's name, which codex does not learn.
func served(talk *modelserver.Talk, from int) cost.Usage {
	sum := cost.Sum(talk.Served()[from:]...)
	sum.Model = ""
	return sum
}

func anonymous(u cost.Usage) cost.Usage {
	u.Model = ""
	return u
}

func tokens(n int64) cost.Usage {
	return cost.Usage{Input: 100 * n, CacheRead: 1000 * n, CacheWrite5m: 10 * n, Output: 7 * n, Reasoning: 3 * n, Metered: true}
}

const saysHello = "grep -q hello FILE"

// TestRealAgentsShip: the report's usage is what was served, for each item its own, though the agents run at once.
func TestRealAgentsShip(t *testing.T) {
	for driver, items := range map[string][]string{"codex": {"one", "two", "three"}, "claude": {"four"}} {
		t.Run(driver, func(t *testing.T) {
			f := newFleet(t, driver, saysHello, items...)
			talks := map[string]*modelserver.Talk{}
			for n, item := range items {
				talks[item] = f.talk(item, modelserver.Step{Calls: f.says(item+".txt", "hello"), Usage: tokens(int64(n + 1))},
					modelserver.Step{Text: "Done.", Usage: tokens(10)})
			}
			report, _ := f.run(t)
			if len(report.Items) != len(items) || report.Driver != driver {
				t.Fatalf("%d items by %s", len(report.Items), report.Driver)
			}
			for _, item := range report.Items {
				if want := served(talks[item.ID], 0); anonymous(item.Usage) != want || !want.Metered {
					t.Errorf("%s used %+v, and %+v was served", item.ID, item.Usage, want)
				}
			}
		})
	}
}

// TestRealAgentsRepairInTheirSession: the second dispatch starts in another folder and goes on with the first one's session; each
// attempt has its own usage.
func TestRealAgentsRepairInTheirSession(t *testing.T) {
	for _, driver := range []string{"codex", "claude"} {
		t.Run(driver, func(t *testing.T) {
			f := newFleet(t, driver, saysHello, "one")
			talk := f.talk("one", modelserver.Step{Calls: f.says("one.txt", "wrong"), Usage: tokens(1)}, modelserver.Step{Text: "My first try.", Usage: tokens(2)},
				modelserver.Step{Calls: f.says("one.txt", "hello"), Usage: tokens(3)}, modelserver.Step{Text: "Repaired.", Usage: tokens(4)})
			report, _ := f.run(t)
			attempts := report.Items[0].Attempts
			if attempts[0].Resumed || len(attempts) > 1 && !attempts[1].Resumed {
				t.Errorf("the report says of sessions: %+v", attempts)
			}
			if len(attempts) != 2 || len(talk.Requests()) != 4 {
				t.Fatalf("%d attempts, %d requests", len(attempts), len(talk.Requests()))
			}
			if texts := talk.Requests()[2].Texts; !slices.Contains(texts, "My first try.") {
				t.Errorf("the repair began another session: %q", texts)
			}
			if got, want := anonymous(attempts[1].Usage), served(talk, 2); got != want {
				t.Errorf("the repair used %+v, and %+v was served", got, want)
			}
			if got, want := anonymous(report.Items[0].Usage), served(talk, 0); got != want {
				t.Errorf("the item used %+v, and %+v was served", got, want)
			}
			if ends := f.ended.all; len(ends) != 2 || ends[0].Session == "" || !strings.Contains(ends[1].Session, ends[0].Session[:20]) {
				t.Errorf("the attempts ended as %+v", ends)
			}
		})
	}
}

// TestLoginsReachNoTest: a program gets its login, from the environment or from a file in the home folder; tests get neither.
func TestLoginsReachNoTest(t *testing.T) {
	const dump = `env; ls -AR "$HOME"; cat "$HOME"/.codex/auth.json "$HOME"/.claude/.credentials.json; grep -q hello FILE`
	const login = "login-of-the-user"
	for _, test := range []struct {
		driver, by string
		log        func(t *testing.T, f *fleet)
		header     string
	}{
		{"codex", "environment", func(t *testing.T, _ *fleet) { t.Setenv("OPENAI_API_KEY", login) }, "Authorization"},
		{"codex", "file", func(t *testing.T, f *fleet) {
			t.Setenv("OPENAI_API_KEY", "")
			write(t, filepath.Join(f.home, ".codex/auth.json"), `{"OPENAI_API_KEY": "`+login+`"}`)
			write(t, filepath.Join(f.home, ".codex/config.toml"), strings.ReplaceAll(f.server.Codex(), `env_key = "OPENAI_API_KEY"`, "requires_openai_auth = true"))
		}, "Authorization"},
		{"claude", "environment", func(t *testing.T, _ *fleet) { t.Setenv("ANTHROPIC_API_KEY", login) }, "X-Api-Key"},
		{"claude", "file", func(t *testing.T, f *fleet) {
			t.Setenv("ANTHROPIC_API_KEY", "")
			write(t, filepath.Join(f.home, ".claude/.credentials.json"),
				`{"claudeAiOauth": {"accessToken": "`+login+`", "refreshToken": "r", "expiresAt": 4102444800000, "scopes": ["user:inference"]}}`)
		}, "Authorization"},
	} {
		t.Run(test.driver+" by "+test.by, func(t *testing.T) {
			f := newFleet(t, test.driver, dump, "one")
			talk := f.talk("one", modelserver.Step{Calls: f.says("one.txt", "hello")}, modelserver.Step{Text: "Done."})
			test.log(t, f)
			report, engine := f.run(t)
			if got := talk.Requests()[0].Header.Get(test.header); !strings.Contains(got, login) {
				t.Errorf("the program sent %q and not its login", got)
			}
			log, err := os.ReadFile(filepath.Join(engine.State, report.Items[0].Log))
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{login, "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", f.home + "\n"} {
				if strings.Contains(string(log), secret) {
					t.Errorf("a test had %q:\n%s", secret, log)
				}
			}
			if n := strings.Count(string(log), "\nHOME="); n < 2 { // before the change, and after it
				t.Errorf("%d tests told their environment:\n%s", n, log)
			}
		})
	}
}
