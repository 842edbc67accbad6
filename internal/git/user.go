package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// User is the user's repository. Nothing here writes to it.
type User struct {
	program Program
	Root    string // top of the work tree; for a bare repository its directory
	GitDir  string // of this work tree, absolute and resolved
	Common  string // shared by all work trees
	Bare    bool
}

// ErrNotRepository says that a folder is not below a git repository.
var ErrNotRepository = errors.New("not a git repository")

// OpenUser finds the repository of dir.
func (p Program) OpenUser(ctx context.Context, dir string) (*User, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	out, err := p.run(ctx, call{env: userEnv(), dir: dir,
		args: []string{"rev-parse", "--path-format=absolute", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir"}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w (%s)", dir, ErrNotRepository, firstLine(err))
	}
	parts := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%s: unexpected answer of git rev-parse: %q", dir, out)
	}
	u := &User{program: p, Bare: parts[0] == "true", Root: parts[1]}
	if u.GitDir, err = filepath.EvalSymlinks(parts[1]); err != nil {
		return nil, err
	}
	if u.Common, err = filepath.EvalSymlinks(parts[2]); err != nil {
		return nil, err
	}
	if !u.Bare {
		top, err := p.run(ctx, call{env: userEnv(), dir: dir, args: []string{"rev-parse", "--show-toplevel"}})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		u.Root = strings.TrimSuffix(string(top), "\n")
	}
	return u, nil
}

// Holds says whether a path lies in the repository: in this work tree, in the main one, or in what git keeps itself. Links are followed
// as far as there is something.
func (u *User) Holds(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return true // nobody knows
	}
	folders := []string{u.Root, u.Common}
	if filepath.Base(u.Common) == ".git" {
		folders = append(folders, filepath.Dir(u.Common))
	}
	return slices.ContainsFunc(folders, func(folder string) bool {
		rel, err := filepath.Rel(resolved(folder), resolved(path))
		return err == nil && filepath.IsLocal(rel)
	})
}

// resolved is an absolute path without symbolic links in the part of it that exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

// Told checks that this is the repository that git works on when it runs a hook, by the GIT_DIR that it sets then, which counts from
// dir; "": it sets none.
func (u *User) Told(gitDir, dir string) error {
	if gitDir == "" {
		return nil
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, gitDir)
	}
	abs, err := filepath.Abs(gitDir)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(abs); err != nil || real != u.GitDir {
		return fmt.Errorf("git works on %s, and the repository of this folder is %s", abs, u.GitDir)
	}
	return nil
}

func firstLine(err error) string {
	var e *Error
	if errors.As(err, &e) {
		line, _, _ := strings.Cut(strings.TrimSpace(e.Stderr), "\n")
		return line
	}
	return err.Error()
}

// ID names the repository on this machine: 12 hex digits of the hash of its common git directory.
func (u *User) ID() string { return PlaceID(u.Common) }

// PlaceID names a folder, by its resolved path, on this machine.
func PlaceID(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}

// userEnv is the user's own environment with what would make git ask, write or look elsewhere switched off.
func userEnv(more ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
			"GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_QUARANTINE_PATH", "GIT_IMPLICIT_WORK_TREE",
			"GIT_OPTIONAL_LOCKS", "LC_ALL", "LANGUAGE", "GIT_TERMINAL_PROMPT":
			continue
		}
		env = append(env, kv)
	}
	return append(append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"), more...)
}

func (u *User) env(more ...string) []string {
	if u.GitDir == "" {
		return userEnv(more...) // outside of any repository
	}
	return userEnv(append([]string{"GIT_DIR=" + u.GitDir}, more...)...)
}

func (u *User) run(ctx context.Context, args ...string) ([]byte, error) {
	return u.program.run(ctx, call{env: u.env(), dir: u.Root, args: args})
}

// text runs a command whose failure with exit 1 means that there is nothing to say.
func (u *User) text(ctx context.Context, args ...string) (string, error) {
	out, err := u.run(ctx, args...)
	var e *Error
	if errors.As(err, &e) && e.Code == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// Branch is the branch that is checked out, or "" when HEAD is detached.
func (u *User) Branch(ctx context.Context) (string, error) {
	ref, err := u.text(ctx, "symbolic-ref", "--quiet", "HEAD") // the short form is another where a tag has the name too
	return strings.TrimPrefix(ref, "refs/heads/"), err
}

// Upstream is the branch that the checked-out branch follows on remote, or "".
func (u *User) Upstream(ctx context.Context, remote string) (string, error) {
	branch, err := u.Branch(ctx)
	if err != nil || branch == "" {
		return "", err
	}
	from, err := u.text(ctx, "config", "--get", "branch."+branch+".remote")
	if err != nil || from != remote {
		return "", err
	}
	merge, err := u.text(ctx, "config", "--get", "branch."+branch+".merge")
	return strings.TrimPrefix(merge, "refs/heads/"), err
}

// Remotes are the names of the configured remotes, sorted.
func (u *User) Remotes(ctx context.Context) ([]string, error) {
	out, err := u.text(ctx, "remote")
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// Dirty are the paths of the work tree that differ from HEAD, at most limit of them.
func (u *User) Dirty(ctx context.Context, limit int) ([]string, error) {
	if u.Bare {
		return nil, nil
	}
	out, err := u.program.run(ctx, call{env: u.env("GIT_WORK_TREE=" + u.Root), dir: u.Root,
		args: []string{"status", "--porcelain", "-z", "--no-renames"}})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, row := range splitZ(out) {
		if len(row) > 3 && len(paths) < limit {
			paths = append(paths, row[3:])
		}
	}
	return paths, nil
}

// HasCommits says whether any branch or HEAD points to a commit.
func (u *User) HasCommits(ctx context.Context) (bool, error) {
	refs, err := u.run(ctx, "for-each-ref", "--format=%(objectname)^{commit}")
	if err != nil {
		return false, err
	}
	// One ref that is broken says nothing about the others, so each is looked up by itself.
	types, err := u.program.types(ctx, call{env: u.env(), dir: u.Root}, append([]byte("HEAD^{commit}\n"), refs...))
	return slices.Contains(types, "commit"), err
}

// Identity is who commits.
type Identity struct {
	Name  string
	Email string
}

// Fallback is the identity where the user has configured none.
var Fallback = Identity{Name: "aesop", Email: "aesop@localhost"}

// Identity is the user's, from environment and configuration, or Fallback.
func (u *User) Identity(ctx context.Context) (Identity, error) {
	id := Identity{Name: os.Getenv("GIT_AUTHOR_NAME"), Email: os.Getenv("GIT_AUTHOR_EMAIL")}
	var err error
	if id.Name == "" {
		if id.Name, err = u.text(ctx, "config", "--get", "user.name"); err != nil {
			return id, err
		}
	}
	if id.Email == "" {
		if id.Email, err = u.text(ctx, "config", "--get", "user.email"); err != nil {
			return id, err
		}
	}
	clean := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == '<' || r == '>' {
				return -1
			}
			return r
		}, s))
	}
	id = Identity{Name: clean(id.Name), Email: clean(id.Email)}
	if id.Name == "" || id.Email == "" {
		return Fallback, nil
	}
	return id, nil
}
