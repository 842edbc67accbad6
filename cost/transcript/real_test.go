//go:build unix

package transcript_test

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/cost/transcript"
	"aesop/driver/drivertest/modelserver"
	"aesop/internal/agentproc/agenttest"
)

// program is a real program whose model is played.
type program struct {
	t           *testing.T
	path        string
	dir         string
	environment []string
}

func newProgram(t *testing.T, name string, environment ...string) *program {
	t.Helper()
	path := agenttest.Installed(t, name)
	home := t.TempDir()
	return &program{t, path, t.TempDir(), append(environment, "PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+t.TempDir())}
}

func (p *program) run(arguments ...string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, p.path, arguments...)
	command.Dir, command.Env = p.dir, p.environment
	if out, err := command.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", arguments, err, out)
	}
}

// used is the usage of each call, in an order of its own.
func used(calls []cost.Call) []cost.Usage {
	var all []cost.Usage
	for _, c := range calls {
		all = append(all, c.Usage)
	}
	return sorted(all)
}

func sorted(all []cost.Usage) []cost.Usage {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b cost.Usage) int { return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Input, b.Input)) })
	return all
}

// tool is the call of a tool with one argument.
func tool(name, argument, value string) []modelserver.Call {
	return []modelserver.Call{{Name: name, Input: map[string]any{argument: value}}}
}

func uses(input int64) cost.Usage {
	return cost.Usage{Input: input, CacheRead: 3000, CacheWrite5m: 1500, CacheWrite1h: 500, Output: 42, Reasoning: 30, Metered: true}
}

// TestRealClaude: a session with tools and a sub-agent, resumed, and forked, which copies it; and a request that fails.
func TestRealClaude(t *testing.T) {
	server := modelserver.New()
	t.Cleanup(server.Close)
	task := map[string]any{"description": "part", "prompt": "Your part.", "subagent_type": "general-purpose"}
	talk := server.Talk("The whole.", modelserver.Step{Text: "I begin.",
		Calls: slices.Concat(tool("Bash", "command", "echo a"), tool("Bash", "command", "echo b")), Usage: uses(10)},
		modelserver.Step{Calls: []modelserver.Call{{Name: "Task", Input: task}}, Usage: uses(11)}, modelserver.Step{Text: "done", Usage: uses(12)})
	part := server.Talk("Your part.", modelserver.Step{Text: "I look.", Calls: tool("Bash", "command", "true"), Usage: uses(50)},
		modelserver.Step{Text: "Mine is done.", Usage: uses(51)})
	server.Talk("It fails.", modelserver.Step{Status: 400})
	p := newProgram(t, "claude", append(server.Claude(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1",
		"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_CONFIG_DIR="+t.TempDir())...)
	c := transcript.Find(func(name string) string {
		for _, e := range p.environment {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	})
	c.Codex = nil
	c.Now = later
	served := func() []cost.Usage { return sorted(slices.Concat(talk.Served(), part.Served())) }
	var state transcript.State
	p.run("-p", "--permission-mode=bypassPermissions", "--model=claude-sonnet-5-5", "--session-id="+claudeSession, "The whole.")
	first, summary := ingest(t, c, &state)
	if diff := gocmp.Diff(served(), used(first)); diff != "" || len(summary.Problems) != 0 {
		t.Fatalf("%s%v", diff, summary.List)
	}
	agents := map[string]int{}
	for _, call := range first {
		agents[call.Agent]++
		if call.Session != claudeSession {
			t.Errorf("got %+v", call)
		}
	}
	if agents["general-purpose"] != len(part.Served()) || len(part.Served()) < 2 {
		t.Errorf("calls by agent: %v", agents)
	}
	p.run("-p", "--permission-mode=bypassPermissions", "--resume="+claudeSession, "The whole. Go on.")
	p.run("-p", "--permission-mode=bypassPermissions", "--resume="+claudeSession, "--fork-session", "The whole. Another way.")
	failing := exec.CommandContext(t.Context(), p.path, "-p", "It fails.")
	failing.Dir, failing.Env = p.dir, p.environment
	if err := failing.Run(); err == nil {
		t.Error("it did not fail")
	}
	second, _ := ingest(t, c, &state)
	if diff := gocmp.Diff(served(), used(slices.Concat(first, second))); diff != "" {
		t.Error(diff)
	}
	state = transcript.State{}
	if all, summary := ingest(t, c, &state); !slices.Equal(used(all), served()) || len(summary.Problems) != 0 {
		t.Errorf("all at once: %v, %v", used(all), summary.List)
	}
	third, _ := ingest(t, c, &state)
	if len(third) != 0 {
		t.Errorf("given again: %v", third)
	}
}

// TestRealCodex: a session with a tool, resumed, and forked.
func TestRealCodex(t *testing.T) {
	server := modelserver.New()
	t.Cleanup(server.Close)
	plain := func(input int64) cost.Usage {
		u := uses(input)
		u.CacheWrite5m, u.CacheWrite1h = u.CacheWrite5m+u.CacheWrite1h, 0 // it has one count for both
		return u
	}
	talk := server.Talk("The whole.", modelserver.Step{Text: "I begin.", Calls: tool("exec_command", "cmd", "echo a"), Usage: plain(10)},
		modelserver.Step{Text: "done", Usage: plain(11)}, modelserver.Step{Text: "more", Usage: plain(12)})
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(server.Codex()+"\n[analytics]\nenabled = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, "codex", "CODEX_HOME="+home, "OPENAI_API_KEY="+modelserver.Key)
	options := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}
	c := transcript.Config{Codex: []string{home}, Now: later}
	var state transcript.State
	p.run(append(options, "The whole.")...)
	calls, summary := ingest(t, c, &state)
	if diff := gocmp.Diff(sorted(talk.Served()), used(calls)); diff != "" || len(summary.Problems) != 0 || len(calls) != 2 {
		t.Fatalf("%s%v", diff, summary.List)
	}
	session := calls[0].Session
	p.run(append(options, "resume", session, "The whole. Go on.")...)
	more, _ := ingest(t, c, &state)
	p.run(append(options, "fork", session, "The whole. Another way.")...)
	forked, _ := ingest(t, c, &state)
	if diff := gocmp.Diff(sorted(talk.Served()), used(slices.Concat(calls, more, forked))); diff != "" || len(forked) == 0 || forked[0].Session == session {
		t.Errorf("%s%+v", diff, forked)
	}
	state = transcript.State{}
	if all, summary := ingest(t, c, &state); !slices.Equal(used(all), sorted(talk.Served())) || len(summary.Problems) != 0 {
		t.Errorf("all at once: %v, %v", used(all), summary.List)
	}
}
