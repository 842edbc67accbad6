package wave

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"aesop/internal/git"
	"aesop/wave/journal"
)

// target is where a wave starts from and ships to.
type target struct {
	engine  *git.Engine
	remote  *git.Remote
	shipper Shipper
	branch  string  // the base's name on the remote
	base    git.SHA // commit that every item starts from
	dirty   []string
	guarded string // digest of the user's git configuration and hooks, before any agent worked
}

// origin says where a wave starts. Empty fields are found out.
type origin struct {
	remote string
	branch string
	commit git.SHA
}

// maxDirty is how many changed paths of the user's work tree are named.
const maxDirty = 20

// open finds remote and base, and brings the base into the engine's repository.
func (s *Scheduler) open(ctx context.Context, id string, from origin) (*target, error) {
	if ok, err := s.user.HasCommits(ctx); err != nil {
		return nil, err
	} else if !ok {
		return nil, &SetupError{Code: "no_commits", Message: s.user.Root + " has no commits", Hint: "commit something and push it first"}
	}
	name, err := s.remoteName(ctx, cmp.Or(from.remote, s.config.Remote))
	if err != nil {
		return nil, err
	}
	remote, err := s.user.Remote(ctx, name, s.mark(id, "remote"))
	if errors.Is(err, git.ErrSeveralPushURLs) {
		return nil, &SetupError{Code: "no_remote", Message: err.Error(), Hint: "name a remote that pushes to one place", Err: err}
	}
	if err != nil {
		return nil, err
	}
	refs, err := remote.List(ctx)
	if err != nil {
		return nil, &SetupError{Code: "remote_unreachable", Message: fmt.Sprintf("remote %s cannot be read: %v", name, err),
			Hint: "check git remote -v, the network and your credentials", Err: err}
	}
	t := &target{remote: remote, shipper: s.config.Shipper, branch: from.branch, base: from.commit}
	if t.branch == "" {
		if t.branch, err = s.baseBranch(ctx, name, refs); err != nil {
			return nil, err
		}
	}
	if s.protected(Branch(id), t.branch) {
		return nil, &SetupError{Code: "protected_branch", Message: fmt.Sprintf("the wave's branch %s is protected", Branch(id)),
			Hint: "take the pattern that covers it out of protectedBranches"}
	}
	tip := refs.All["refs/heads/"+t.branch]
	if t.engine, err = s.program.OpenEngine(ctx, s.user, filepath.Join(s.config.State, "git", s.user.ID()+".git"), s.lockFile("git")); err != nil {
		return nil, err
	}
	if err := s.freeEngine(ctx, id, t.engine); err != nil {
		return nil, err
	}
	if err := t.engine.Fetch(ctx, remote, cmp.Or(t.base, tip)); err != nil {
		return nil, &SetupError{Code: "remote_unreachable", Message: fmt.Sprintf("branch %s of remote %s cannot be fetched: %v", t.branch, name, err),
			Hint: "check the network and your credentials", Err: err}
	}
	t.base = cmp.Or(t.base, tip)
	if t.shipper == nil {
		t.shipper = remoteShipper{remote}
	}
	if t.guarded, err = s.user.Guarded(ctx); err != nil {
		return nil, err
	}
	t.dirty, err = s.user.Dirty(ctx, maxDirty)
	return t, err
}

func (s *Scheduler) remoteName(ctx context.Context, want string) (string, error) {
	names, err := s.user.Remotes(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case want != "" && slices.Contains(names, want):
		return want, nil
	case want != "":
		return "", &SetupError{Code: "no_remote", Message: fmt.Sprintf("there is no remote %q in %s", want, s.user.Root),
			Hint: "known remotes: " + strings.Join(names, ", ")}
	case slices.Contains(names, "origin"):
		return "origin", nil
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", &SetupError{Code: "no_remote", Message: s.user.Root + " has no remote to ship to",
			Hint: "add one with git remote add origin URL"}
	}
	return "", &SetupError{Code: "no_remote", Message: s.user.Root + " has several remotes and none is called origin",
		Hint: "name one as remote: " + strings.Join(names, ", ")}
}

// baseBranch is the branch that waves start from: the configured one, the remote's default, its only one beside those of
// earlier waves, or the upstream of the branch that is checked out.
func (s *Scheduler) baseBranch(ctx context.Context, remote string, refs git.Refs) (string, error) {
	exists := func(branch string) bool { return refs.All["refs/heads/"+branch] != "" }
	if want := s.config.Base; want != "" {
		if !exists(want) {
			return "", &SetupError{Code: "no_base", Message: fmt.Sprintf("remote %s has no branch %q", remote, want),
				Hint: "known branches: " + strings.Join(refs.Branches(), ", ")}
		}
		return want, nil
	}
	if refs.Head != "" {
		return refs.Head, nil
	}
	own := slices.DeleteFunc(refs.Branches(), func(b string) bool { return strings.HasPrefix(b, "aesop/") })
	if len(own) == 1 {
		return own[0], nil
	}
	if len(own) == 0 {
		return "", &SetupError{Code: "no_base", Message: fmt.Sprintf("remote %s has no branch yet", remote), Hint: "push your branch first"}
	}
	upstream, err := s.user.Upstream(ctx, remote)
	if err != nil {
		return "", err
	}
	if upstream != "" && exists(upstream) {
		return upstream, nil
	}
	return "", &SetupError{Code: "no_base", Message: fmt.Sprintf("remote %s does not say which of its branches is the default", remote),
		Hint: "set base to one of: " + strings.Join(own, ", ")}
}

// protected says whether a branch may never be pushed to.
func (s *Scheduler) protected(branch, base string) bool {
	if branch == base {
		return true
	}
	for _, pattern := range append([]string{"main", "master", "release/*"}, s.config.ProtectedBranches...) {
		if ok, err := doublestar.Match(pattern, branch); ok || err != nil {
			return true // a pattern that cannot be read protects everything
		}
	}
	return false
}

// remoteShipper ships to a remote of the user's repository.
type remoteShipper struct{ remote *git.Remote }

func (r remoteShipper) Name() string { return r.remote.Name }

func (r remoteShipper) Refs(ctx context.Context) (map[string]string, error) {
	refs, err := r.remote.ListPushed(ctx)
	return refs.All, err
}

func (r remoteShipper) Ship(ctx context.Context, objects string, updates []journal.Update) error {
	moves := make([]git.Update, len(updates))
	for i, u := range updates {
		moves[i] = git.Update(u)
	}
	return r.remote.Push(ctx, objects, moves)
}
