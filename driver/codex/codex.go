// Package codex is the driver for OpenAI's Codex CLI, the program codex of the package @openai/codex. It runs codex exec at the
// root of the tree, with the prompt on standard input, and reads its JSON lines.
//
// The program uses the login and settings of the user who runs the engine: a key in the environment, or what codex login left
// in CODEX_HOME. Its own sandbox lets it write in the tree, the folder of the attempt and the temporary folder, and for a
// read-only task nowhere.
//
// A session can be continued from another directory. Codex counts the tokens of a session from its begin, so Result.Session
// carries, beside the id, what was counted already: as JSON, {"thread": ID, "used": USAGE}. Usage is said at the end of a turn
// only: a turn that failed or was ended early is not metered, and if its session is continued, its tokens are counted with
// those of the next turn.
package codex

import (
	"context"
	"fmt"
	"os"
	"time"

	"aesop/driver"
	"aesop/internal/agentproc"
)

// Config says what to run. The zero Config is good.
type Config struct {
	Program string // file, or name in the PATH of the task; "": codex
}

// Driver runs codex.
type Driver struct {
	program string
	linger  time.Duration
}

// New returns a driver. It looks at nothing outside, so that a program that is missing is noticed when it is run.
func New(c Config) (*Driver, error) {
	d := &Driver{program: c.Program}
	if d.program == "" {
		d.program = "codex"
	}
	return d, nil
}

// Info describes the driver: well trusted, metered, and able to continue sessions.
func (*Driver) Info() driver.Info {
	return driver.Info{Name: "codex", Tier: 2, Metered: true, Resumes: true, Environment: []string{
		"OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "AZURE_OPENAI_API_KEY", "CODEX_HOME",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE",
	}}
}

// Probe says how to get codex where it is missing.
func (d *Driver) Probe(env []string) error { return named().Probe(d.program, env) }

// named is the program as people know it.
func named() agentproc.Program {
	return agentproc.Program{Name: "codex", Install: "install it with: npm install -g @openai/codex"}
}

// Run runs codex once; twice only where it no longer knows the session of the task.
func (d *Driver) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	if emit == nil {
		emit = func(driver.Event) {}
	}
	schema, err := schemaFile(t)
	if err != nil {
		return driver.Result{Confinement: "none"}, &driver.Error{Class: driver.Crashed, Message: "write the schema", Err: err}
	}
	if schema != "" {
		defer os.Remove(schema)
	}
	past := parseSession(t.Session)
	return agentproc.Converse(ctx, t, past.Thread, agentproc.Program{
		Name: named().Name, Install: named().Install, Linger: d.linger,
		Open: func(thread string) ([]string, agentproc.Talk) {
			talk := &talk{task: t, emit: emit}
			if thread != "" {
				talk.before = past.Used
			}
			return d.arguments(t, thread, schema), talk
		},
	}, emit)
}

// schemaFile writes the schema of the answer outside the tree.
func schemaFile(t driver.Task) (string, error) {
	if t.Schema == nil {
		return "", nil
	}
	f, err := os.CreateTemp(t.AttemptDir, "schema-*.json")
	if err != nil {
		return "", err
	}
	_, err = f.Write(t.Schema)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), err
}

// arguments uses -c for the sandbox, for a resumed session takes no other way.
func (d *Driver) arguments(t driver.Task, thread, schema string) []string {
	argv := []string{d.program, "exec"}
	if thread != "" {
		argv = append(argv, "resume")
	}
	argv = append(argv, "--json", "--skip-git-repo-check", "-c", "analytics.enabled=false") // offline, analytics delay the end by seconds
	if t.ReadOnly {
		argv = append(argv, "-c", `sandbox_mode="read-only"`)
	} else {
		argv = append(argv, "-c", `sandbox_mode="workspace-write"`)
		if t.AttemptDir != "" {
			argv = append(argv, "-c", fmt.Sprintf("sandbox_workspace_write.writable_roots=[%q]", t.AttemptDir))
		}
	}
	if t.Model != "" {
		argv = append(argv, "--model="+t.Model)
	}
	if schema != "" {
		argv = append(argv, "--output-schema="+schema)
	}
	if thread != "" {
		argv = append(argv, thread)
	}
	return append(argv, "-") // the prompt comes on standard input
}
