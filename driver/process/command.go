package process

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// markVariable is the environment variable that carries Command.Mark.
const markVariable = "AESOP_MARK"

// check refuses a command that makes no sense and returns the path of its program.
func (c *Command) check() (program string, err error) {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return "", errors.New("run a child: argv names no program")
	case !filepath.IsAbs(c.Dir):
		return "", fmt.Errorf("run %s: dir %q is not absolute", c.Argv[0], c.Dir)
	case c.Exclusive && filepath.Dir(filepath.Clean(c.Dir)) == filepath.Clean(c.Dir):
		return "", fmt.Errorf("run %s: dir %q cannot be exclusive", c.Argv[0], c.Dir)
	case c.Mark == "" || strings.ContainsAny(c.Mark, "\x00\n"):
		return "", fmt.Errorf("run %s: mark %q must be one line and not empty", c.Argv[0], c.Mark)
	case c.Timeout < 0 || c.Idle < 0 || c.Grace < 0 || c.Tail < 0:
		return "", fmt.Errorf("run %s: timeout, idle, grace and tail must not be negative", c.Argv[0])
	}
	return c.lookPath()
}

// lookPath finds the program in the PATH that the child will have, which need not be ours. Relative entries are passed over:
// they would name a folder that an agent can write.
func (c *Command) lookPath() (string, error) {
	name := c.Argv[0]
	if hasSeparator(name) {
		return name, nil
	}
	for _, dir := range filepath.SplitList(c.variable("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, ok := executable(filepath.Join(dir, name), c); ok {
			return path, nil
		}
	}
	return "", fmt.Errorf("run %s: %w", name, exec.ErrNotFound)
}

// Look finds a program as Run does: in the absolute folders of env's PATH, or by a path with a slash. Its error is exec.ErrNotFound where
// there is none.
func Look(program string, env []string) (string, error) {
	c := Command{Argv: []string{program}, Env: env}
	path, err := c.lookPath()
	if err == nil && hasSeparator(program) {
		if _, err := exec.LookPath(path); err != nil {
			return "", fmt.Errorf("run %s: %w", program, exec.ErrNotFound)
		}
	}
	return path, err
}

// variable is the value of a variable in Env, where the last of several entries counts.
func (c *Command) variable(name string) string {
	value := ""
	for _, entry := range c.Env {
		if key, v, ok := strings.Cut(entry, "="); ok && sameVariable(key, name) {
			value = v
		}
	}
	return value
}

// environment is Env with the mark, and no other mark.
func (c *Command) environment() []string {
	env := make([]string, 0, len(c.Env)+1)
	for _, entry := range c.Env {
		if key, _, _ := strings.Cut(entry, "="); !sameVariable(key, markVariable) {
			env = append(env, entry)
		}
	}
	return append(env, markVariable+"="+c.Mark)
}
