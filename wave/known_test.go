package wave_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// knowing makes a scheduler's redactor one that knows the word.
func knowing(t *testing.T) option { return func(c *wave.Config) { c.Redactor = eraser(t) } }

// TestNoAgentIsGivenAKnownSecret: an item that owns a file with one ends before any agent is started, in whatever form the file has it; the
// others of the wave ship, and so does one that only lies beside such a file.
func TestNoAgentIsGivenAKnownSecret(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not applicable: makes symbolic links")
	}
	w := newWorld(t)
	w.write("plain.txt", "x="+word+"\n")
	w.write("folder/deep/encoded.txt", base64.StdEncoding.EncodeToString([]byte("it is "+word)))
	must(t, os.Symlink("../"+word, filepath.Join(w.repo, "link.txt")))
	w.write("safe.txt", "nothing\n")
	w.commit("Files")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	w.items(item{"id": "plain", "ownsFiles": []string{"plain.txt"}}, item{"id": "encoded", "ownsFiles": []string{"folder/"}},
		item{"id": "link", "ownsFiles": []string{"link.txt"}}, item{"id": "safe", "ownsFiles": []string{"safe.txt"}})
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, put(task, "safe.txt", "good\n")
	}}
	report := w.run(with(played), knowing(t))
	wantOutcome(t, report, journal.Partial)
	wantState(t, report, "safe", journal.StateShipped)
	for id, path := range map[string]string{"plain": "plain.txt", "encoded": "folder/deep/encoded.txt", "link": "link.txt"} {
		i := wantState(t, report, id, journal.StateSecretFound)
		if i.Failure == nil || i.Failure.Step != "scan" || !strings.HasSuffix(i.Reason, ": "+path) || !strings.Contains(i.Failure.Tail, path) {
			t.Errorf("%s: reason %q, failure %s", id, i.Reason, asJSON(i.Failure))
		}
		if a := i.Attempts; len(a) != 1 || a[0].Outcome != journal.OutcomeSecret || !a[0].Usage.Metered || a[0].Usage.Tokens() != 0 || a[0].Parked != nil {
			t.Errorf("%s: attempts %s", id, asJSON(a))
		}
		if i.Scan != nil {
			t.Errorf("%s: nothing was built, and scanned is %s", id, asJSON(i.Scan))
		}
		row := w.read(id)
		wantStatus(t, row, "failed")
		if row.Attempts != 1 || !strings.HasPrefix(row.StatusReason, "secret_found: ") {
			t.Errorf("%s in the backlog: %d attempts, %q", id, row.Attempts, row.StatusReason)
		}
	}
	if len(played.tasks) != 1 || played.tasks[0].Item != "safe" {
		t.Errorf("agents were started for %d items", len(played.tasks))
	}
	wantNoWord(t, "the report", report)
	w.wantNoWordInState()
}

// TestARepairIsGivenNoKnownSecretEither: an agent's own failed commit can hold one.
func TestARepairIsGivenNoKnownSecretEither(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		text := map[string]string{"a": "poor " + word, "b": "poor"}[task.Item]
		if task.Round > 1 {
			text = "good"
		}
		return driver.Result{}, put(task, task.Item+".txt", text)
	}}
	report := w.run(with(played), knowing(t), asks(policy.Policy{Repairs: 3}))
	i := wantState(t, report, "a", journal.StateSecretFound)
	if len(i.Attempts) != 2 || i.Attempts[0].Outcome != journal.OutcomeNotVerified || i.Attempts[1].Outcome != journal.OutcomeSecret {
		t.Errorf("attempts %s", asJSON(i.Attempts))
	}
	if i := wantState(t, report, "b", journal.StateShipped); len(i.Attempts) != 2 {
		t.Errorf("attempts %s", asJSON(i.Attempts))
	}
	if len(played.tasks) != 3 {
		t.Errorf("agents were started %d times", len(played.tasks))
	}
}

// TestWhatOnlyLooksLikeASecretIsGiven: a shape is no known secret, and what is carried is a person's own decision.
func TestWhatOnlyLooksLikeASecretIsGiven(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		carry []string
	}{"a shape": {secretShaped(1), nil}, "carried": {word, []string{"settings/"}}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("settings/local.conf", tt.text+"\n")
			if tt.carry != nil {
				w.write(".gitignore", "tracker.json\nsettings/\n")
			}
			w.commit("Settings")
			w.git(w.repo, "push", "--quiet", "origin", "main")
			w.items(item{"id": "a", "ownsFiles": []string{"a.txt", "**/*.conf"}})
			saw := ""
			played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
				data, err := os.ReadFile(filepath.Join(task.Dir, "settings", "local.conf"))
				if saw = string(data); err != nil {
					return driver.Result{}, err
				}
				return driver.Result{}, put(task, "a.txt", "good\n")
			}}
			report := w.run(with(played), knowing(t), func(c *wave.Config) { c.Carry = tt.carry })
			if wantState(t, report, "a", journal.StateShipped); saw != tt.text+"\n" {
				t.Errorf("the agent saw %q", saw)
			}
		})
	}
}

// TestEnvironmentIsKnown: what a secret's variable of the driver or of passEnv has, no owned file may hold; another variable's value may.
func TestEnvironmentIsKnown(t *testing.T) {
	w := newWorld(t)
	values := map[string]string{"DRIVER_API_KEY": "walrus-and-carpenter", "PASSED_TOKEN": "cabbages-and-kings", "OTHER_TOKEN": "shoes-and-ships", "LEVEL": "sealing-wax-and"}
	rows := []item{}
	for name, value := range values {
		w.write(name+".txt", value)
		rows = append(rows, item{"id": strings.ToLower(name), "ownsFiles": []string{name + ".txt"}, "testCmd": "grep -q good " + name + ".txt"})
	}
	w.commit("Files")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	w.items(rows...)
	played := &agent{info: driver.Info{Name: "played", Tier: 1, Environment: []string{"DRIVER_API_KEY"}}}
	played.work = func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, put(task, task.Owns[0], "good")
	}
	report := w.run(with(played), func(c *wave.Config) {
		c.PassEnv = []string{"PASSED_TOKEN", "LEVEL"}
		c.Lookup = func(name string) (string, bool) {
			if value, ok := values[name]; ok {
				return value, true
			}
			return w.lookup(name)
		}
	})
	for id, state := range map[string]journal.State{"driver_api_key": journal.StateSecretFound, "passed_token": journal.StateSecretFound, "other_token": journal.StateShipped,
		"level": journal.StateShipped} {
		wantState(t, report, id, state)
	}
}
