// Package claude is the driver for Claude Code, the program claude of the package @anthropic-ai/claude-code. It runs it in print mode
// (claude -p) at the root of the tree, with the prompt on standard input, and reads its stream of JSON lines.
//
// The program uses the login of the user who runs the engine: a key in the environment, or what /login left in the home folder.
//
// It works unattended, so it may run any command and write any file without asking; what it changed outside the owned paths is
// found afterwards by the engine, and what it can reach at all is a matter of confinement, not of this driver. A read-only task
// gets no tool that could write.
//
// A session can be continued from another directory; the program tells the model that the directory changed. Usage comes from
// the counts per model at the end of a run, which include sub-agents; a run that is ended early has the calls that were seen,
// and is not metered.
package claude

import (
	"context"
	"os"
	"time"

	"aesop/driver"
	"aesop/internal/agentproc"
)

// Config says what to run. The zero Config is good.
type Config struct {
	Program string // file, or name in the PATH of the task; "": claude
}

// Driver runs claude.
type Driver struct {
	program string
	linger  time.Duration
	now     func() time.Time
}

// New returns a driver. It looks at nothing outside, so that a program that is missing is noticed when it is run.
func New(c Config) (*Driver, error) {
	d := &Driver{program: c.Program, now: time.Now}
	if d.program == "" {
		d.program = "claude"
	}
	return d, nil
}

// Info describes the driver: most trusted, metered, and able to continue sessions.
func (*Driver) Info() driver.Info {
	return driver.Info{Name: "claude", Tier: 1, Metered: true, Resumes: true, Environment: []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL",
		"ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL",
		"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_MAX_RETRIES", "API_TIMEOUT_MS",
		// The general keys of a cloud are not among them: they open more than a model.
		"CLAUDE_CODE_USE_BEDROCK", "AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK",
		"CLAUDE_CODE_USE_VERTEX", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE",
	}}
}

// Probe says how to get claude where it is missing.
func (d *Driver) Probe(env []string) error { return named().Probe(d.program, env) }

// named is the program as people know it.
func named() agentproc.Program {
	return agentproc.Program{Name: "claude", Install: "install it with: npm install -g @anthropic-ai/claude-code"}
}

// Run runs claude once; twice only where it no longer knows the session of the task.
func (d *Driver) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	if emit == nil {
		emit = func(driver.Event) {}
	}
	session := t.Session
	if !agentproc.IsSessionID(session) {
		session = ""
	}
	return agentproc.Converse(ctx, t, session, agentproc.Program{
		Name: named().Name, Install: named().Install, Env: environment(), Linger: d.linger,
		Open: func(session string) ([]string, agentproc.Talk) {
			return d.arguments(t, session), &talk{task: t, resumed: session != "", emit: emit, now: d.now, calls: newCalls()}
		},
	}, emit)
}

func (d *Driver) arguments(t driver.Task, session string) []string {
	// Without partial messages a long answer is silence, and the tokens of a message are known only at the end of the run.
	argv := []string{d.program, "-p", "--output-format=stream-json", "--verbose", "--include-partial-messages"}
	if t.ReadOnly {
		argv = append(argv, "--permission-mode=dontAsk", "--tools=Read,Grep,Glob", "--strict-mcp-config")
	} else {
		argv = append(argv, "--permission-mode=bypassPermissions")
	}
	if t.Model != "" {
		argv = append(argv, "--model="+t.Model)
	}
	if t.Schema != nil {
		argv = append(argv, "--json-schema="+string(t.Schema))
	}
	if session != "" {
		argv = append(argv, "--resume="+session)
	}
	return argv
}

// environment is what keeps claude to its task.
func environment() []string {
	env := []string{"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	if os.Geteuid() == 0 {
		env = append(env, "IS_SANDBOX=1") // without it, claude refuses to work for root unattended
	}
	return env
}
