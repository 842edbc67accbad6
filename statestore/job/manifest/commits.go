package manifest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"aesop/internal/git"
)

// askLimit is how long a resolver asks where its Timeout is 0.
const askLimit = 30 * time.Second

// Commits resolves the kind Commit. A reference is "REMOTE REF SHA": a name from Remotes, the full name of a ref there and the full id of a
// commit, as in "origin refs/heads/main 4b825dc6…". It holds where the remote says that the ref points to that commit itself, or, with an
// Engine, to one that has it in its history. No repository of the agent's is asked.
type Commits struct {
	// Remotes are the remotes that may be asked, by the name that references have for them: the URL, or the name of a remote of Dir.
	Remotes map[string]string
	// Dir is where git runs: a repository whose settings and credentials reach the remotes, or a folder in none, where only URLs can be
	// asked. Absolute, and never where an agent could write, for git obeys what it finds there.
	Dir string
	// Engine is a bare repository that has the history of the remotes, absolute, under the same condition; "": only what a ref points to
	// counts. Where it has not what the ref points to, nobody could look.
	Engine  string
	Timeout time.Duration // of a look at one reference; 0: 30 s
}

// Resolve implements Resolver.
func (c Commits) Resolve(ctx context.Context, ref string) error {
	parts := strings.Split(ref, " ")
	if len(parts) != 3 || !strings.HasPrefix(parts[1], "refs/") || strings.ContainsAny(parts[1], "*?[\\^:~\"") || !git.IsSHA(parts[2]) {
		return missing("is not a remote, the full name of a ref and the full id of a commit")
	}
	name, branch, commit := parts[0], parts[1], parts[2]
	remote := c.Remotes[name]
	if remote == "" {
		return missing("the remote %s may not be asked", name)
	}
	if !filepath.IsAbs(c.Dir) || c.Engine != "" && !filepath.IsAbs(c.Engine) {
		return errors.New("the folder in which git would run is not absolute")
	}
	limit, cancel := withLimit(ctx, c.Timeout)
	defer cancel()
	program, err := git.Find(limit)
	if err != nil {
		return err
	}
	at, err := program.AskRef(limit, c.Dir, remote, branch)
	switch {
	case err != nil: // git repeats the URL, which can hold a password
		return errors.New(strings.ReplaceAll(err.Error(), remote, name))
	case at == commit:
		return nil
	case at == "":
		return missing("the remote has no such ref")
	case c.Engine == "":
		return missing("the ref points to %s", at)
	}
	return c.reachable(limit, program, commit, at)
}

// reachable asks the engine's repository.
func (c Commits) reachable(ctx context.Context, program git.Program, commit, tip string) error {
	engine, err := program.OpenBare(ctx, c.Engine)
	if err != nil {
		return err
	}
	if known, err := engine.Has(ctx, tip); err != nil {
		return err
	} else if !known {
		return fmt.Errorf("the ref points to %s, which is not known here", tip)
	}
	in, err := engine.IsAncestor(ctx, commit, tip)
	if err == nil && !in {
		err = missing("the ref points to %s, which does not have it", tip)
	}
	return err
}

// withLimit bounds one look.
func withLimit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		timeout = askLimit
	}
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
}
