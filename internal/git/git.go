// Package git drives the git command line for the engine: a private bare repository in which it builds commits, and the
// user's repository, which it reads and pushes from but never writes.
//
// No command here discovers a repository or reads configuration in a tree that an agent or a test could have written: every
// one names its GIT_DIR, and the engine's own repository sees neither system nor user configuration.
package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// SHA is an object id in hex.
type SHA = string

// IsSHA says whether a text is an object id written out: 40 or 64 digits of lower-case hex.
func IsSHA(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// Program is the git command line.
type Program struct {
	path string
}

// minimum is the oldest git that has every option used here.
var minimum = [2]int{2, 34}

// Find looks git up in PATH and checks its version.
func Find(ctx context.Context) (Program, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return Program{}, fmt.Errorf("git is not installed: %w", err)
	}
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return Program{}, fmt.Errorf("git version: %w", err)
	}
	var major, minor int
	if n, _ := fmt.Sscanf(string(out), "git version %d.%d", &major, &minor); n != 2 {
		return Program{}, fmt.Errorf("git version: cannot read %q", strings.TrimSpace(string(out)))
	}
	if major < minimum[0] || major == minimum[0] && minor < minimum[1] {
		return Program{}, fmt.Errorf("git is %d.%d, at least %d.%d is needed", major, minor, minimum[0], minimum[1])
	}
	return Program{path: path}, nil
}

// Error is a git command that failed.
type Error struct {
	Args   []string // without configuration and environment
	Code   int      // exit code, -1 where a signal ended it
	Stderr string   // its end
	Err    error
	// Rejected are the refs that a remote refused of itself in a push, as it does by its own rules; not those that only went down with
	// them, or that were elsewhere than expected.
	Rejected []string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("git %s: exit %d", strings.Join(e.Args, " "), e.Code)
	if e.Code < 0 && e.Err != nil {
		text = fmt.Sprintf("git %s: %v", strings.Join(e.Args, " "), e.Err)
	}
	if s := strings.TrimSpace(e.Stderr); s != "" {
		text += ": " + s
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// call is one local git command: quick, without network, without children of its own.
type call struct {
	env   []string // complete
	dir   string
	stdin []byte
	args  []string
}

func (p Program) run(ctx context.Context, c call) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.path, c.args...)
	cmd.Env, cmd.Dir = c.env, c.dir
	cmd.Stdin = bytes.NewReader(c.stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return stdout.Bytes(), &Error{Args: c.args, Code: cmd.ProcessState.ExitCode(), Stderr: tail(stderr.Bytes(), 4096), Err: err}
	}
	return stdout.Bytes(), nil
}

func tail(b []byte, n int) string {
	if len(b) > n {
		b = b[len(b)-n:]
	}
	return string(b)
}

// neutralEnv is the environment of commands on the engine's own repositories.
func neutralEnv(gitDir string, more ...string) []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0",
		"LC_ALL=C",
		// Whoever finds the engine's repository could leave a hook in it.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=" + os.DevNull,
		"HOME=" + os.DevNull,
		"PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(),
	}
	if gitDir != "" {
		env = append(env, "GIT_DIR="+gitDir)
	}
	return append(env, more...)
}

// splitZ splits NUL-terminated output.
func splitZ(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// Short is an id as people read it.
func Short(id SHA) string { return id[:min(len(id), 10)] }
