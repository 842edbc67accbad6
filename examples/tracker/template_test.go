package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/tracker"
	"aesop/tracker/template"
	"aesop/wave/journal"
)

// TestWavesPlanWhatTemplatesMake: the plan takes the first items, and what it leaves waits only for those.
func TestWavesPlanWhatTemplatesMake(t *testing.T) {
	dir := t.TempDir()
	repo, remote := filepath.Join(dir, "repo"), filepath.Join(dir, "remote.git")
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", remote}, {"init", "--quiet", "--initial-branch=main", repo},
		{"-C", repo, "-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "--quiet", "--allow-empty", "--message=Begin"},
		{"-C", repo, "remote", "add", "origin", remote}, {"-C", repo, "push", "--quiet", "origin", "main"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	for _, name := range template.Names() {
		preset, err := template.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := preset.Instantiate(template.Values{ProjectName: "shop", BaseDir: "services/shop"})
		if err != nil {
			t.Fatal(err)
		}
		backlog := filepath.Join(dir, name+".json")
		if err := cli.Create(backlog, text); err != nil {
			t.Fatal(err)
		}
		engine, err := aesop.Open(t.Context(), aesop.Config{Repo: repo,
			Settings: aesop.Settings{Tracker: backlog, State: filepath.Join(dir, "state"), Driver: "command", AgentCmd: "true"}})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := engine.Plan(t.Context())
		if err != nil || plan.Outcome != journal.Good {
			t.Errorf("%s: plan %+v (%v)", name, plan, err)
		}
		for _, s := range plan.Skipped {
			if s.Reason != string(tracker.BlockedBy) {
				t.Errorf("%s: %s is skipped: %s %s", name, s.ID, s.Reason, s.Detail)
			}
		}
		if err := engine.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
