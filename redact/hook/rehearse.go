package hook

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a rehearsal may take.
const patience = 2 * time.Minute

// rehearse pushes with the hook: something clean, a secret, and to a protected branch.
func (v *verification) rehearse(ctx context.Context, s Settings) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var r rehearsal
	v.check("clean_push_passes", "binary_present", func() error {
		var err error
		if r, err = newRehearsal(ctx, s); err != nil {
			return err
		}
		if err := r.commit(ctx, "clean.txt", "nothing to hide\n"); err != nil {
			return err
		}
		return r.push(ctx, "refs/heads/clean", Clean)
	})
	if r.dir != "" {
		defer os.RemoveAll(r.dir)
	}
	v.check("secret_push_refused", "clean_push_passes", func() error {
		// The shape of a key; where it is put together no scanner sees it.
		if err := r.commit(ctx, "secret.txt", "key = "+"AK"+"IA"+rand.Text()[:16]+"\n"); err != nil {
			return err
		}
		return r.push(ctx, "refs/heads/secret", SecretFound)
	})
	v.check("protected_push_refused", "clean_push_passes", func() error { return r.push(ctx, "refs/heads/main", ProtectedBranch) })
}

// rehearsal is a repository with a remote whose default branch is main.
type rehearsal struct {
	dir string
	log *Log
}

func newRehearsal(ctx context.Context, s Settings) (rehearsal, error) {
	dir, err := os.MkdirTemp("", "aesop-hook-")
	if err != nil {
		return rehearsal{}, err
	}
	r := rehearsal{dir, OpenLog(filepath.Join(dir, "state"))}
	s.State = r.log.dir
	text, err := s.script()
	if err != nil {
		return r, err
	}
	if _, err := put(filepath.Join(dir, "hooks"), text); err != nil {
		return r, err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", filepath.Join(dir, "remote.git")},
		{"init", "--quiet", "--initial-branch=work", filepath.Join(dir, "repo")},
		{"remote", "add", "origin", filepath.Join(dir, "remote.git")},
		{"commit", "--quiet", "--allow-empty", "--message=Begin"},
		{"push", "--quiet", "origin", "HEAD:refs/heads/main"},
		{"remote", "set-head", "origin", "main"},
		{"config", "core.hooksPath", filepath.Join(dir, "hooks")},
	} {
		if out, err := r.git(ctx, args...); err != nil {
			return r, fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return r, nil
}

// git runs in the repository, once that is there, away from the user's identity and configuration.
func (r rehearsal) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	if cmd.Dir = filepath.Join(r.dir, "repo"); args[0] == "init" {
		cmd.Dir = r.dir
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "AESOP_") && name != "HOME" && name != "XDG_CONFIG_HOME" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+r.dir, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=aesop", "GIT_AUTHOR_EMAIL=aesop@localhost", "GIT_COMMITTER_NAME=aesop", "GIT_COMMITTER_EMAIL=aesop@localhost")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (r rehearsal) commit(ctx context.Context, name, text string) error {
	if err := os.WriteFile(filepath.Join(r.dir, "repo", name), []byte(text), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "--all"}, {"commit", "--quiet", "--message=Add"}} {
		if out, err := r.git(ctx, args...); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// push pushes to a branch, and says in how far it did not go as it must: for that reason, by the log, and so that the remote has it or not.
func (r rehearsal) push(ctx context.Context, ref string, reason Reason) error {
	out, pushed := r.git(ctx, "push", "origin", "HEAD:"+ref)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	head, err := r.git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	there, err := r.git(ctx, "ls-remote", "origin", ref)
	if err != nil {
		return err
	}
	arrived := strings.HasPrefix(there, head)
	if allowed := reason == Clean; arrived != allowed || (pushed == nil) != allowed {
		return fmt.Errorf("the push was allowed: %v; the remote has it: %v; git said: %s", pushed == nil, arrived, out)
	}
	if last, err := r.last(); err != nil || last != reason {
		return errors.Join(fmt.Errorf("the audit log gives the reason %q, and %q is right", last, reason), err)
	}
	return nil
}

// last is the reason of the last entry of the log.
func (r rehearsal) last() (reason Reason, err error) {
	file, err := os.Open(r.log.Path())
	if err != nil {
		return "", err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e Entry
		if err := strict(lines.Bytes(), &e); err != nil {
			return "", err
		}
		reason = Reason(e.Reason)
	}
	return reason, nil
}
