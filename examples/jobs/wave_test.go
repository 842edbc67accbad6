package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aesop"
	"aesop/statestore/job"
	"aesop/wave"
)

// TestAnAgentBelowAWavePublishes: with nothing but what a wave gives to agents, also of an item whose id is no file name. The engine
// imports it, and the test decides.
func TestAnAgentBelowAWavePublishes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	repo := filepath.Join(dir, "repo")
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main", repo},
		{"-C", repo, "-c", "user.name=Tester", "-c", "user.email=tester@example.com", "commit", "--quiet", "--allow-empty", "--message=Begin"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	backlog := `[{"id": "Greet me", "slug": "greet", "ownsFiles": ["greeting.txt"], "prompt": "Greet.", "testCmd": "grep -q hello greeting.txt"}]`
	if err := os.WriteFile(filepath.Join(repo, "tracker.json"), []byte(backlog), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := `echo hello >greeting.txt && echo 'All done.' >"$AESOP_ATTEMPT_DIR/report.md" && ` +
		`aesop-jobs publish --status completed --progress tests=1 --finalize-report "$AESOP_ATTEMPT_DIR/report.md"`
	engine, err := aesop.Open(t.Context(), aesop.Config{Settings: aesop.Settings{Driver: "command", AgentCmd: agent, Ship: "local", State: filepath.Join(dir, "state")}, Repo: repo})
	if err != nil {
		t.Fatal(err)
	}
	report, err := engine.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	said := report.Items[0].Attempts[0].Said
	if report.Outcome != "good" || said == nil || said.Fault != nil || said.Status == nil || *said.Status != "completed" || said.Report == nil {
		t.Fatalf("the wave is %s, and the agent said %+v", report.Outcome, said)
	}
	var shown struct{ Job job.Record }
	document(t, &shown, 0, dir, "show", wave.JobID(report.Wave, "Greet me"), "--repo", repo)
	if shown.Job.Status != job.Completed || shown.Job.Report == nil || !strings.Contains(string(shown.Job.Progress), `"tests": "1"`) {
		t.Errorf("the job is %+v", shown.Job)
	}
}
