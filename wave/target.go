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

// target is a repository under work: where its items start from and ship to.
type target struct {
	journal.Repository
	user         *git.User
	engine       *git.Engine
	remote       *git.Remote
	shipper      Shipper
	tip          git.SHA // of the base branch, when it was opened
	refusesItems bool    // the remote was seen now to take no refs of items, only branches
}

// origin says where the work in a repository starts. Empty fields are found out.
type origin struct {
	remote  string
	branch  string
	commit  git.SHA
	guarded string  // what target.unchanged compares with
	over    git.SHA // commit to start from if the tip of the branch has nothing that it lacks
}

// maxDirty is how many changed paths of the user's work tree are named.
const maxDirty = 20

// open finds remote and base of a repository, and brings the base into the engine's own.
func (s *Scheduler) open(ctx context.Context, id string, place place, from origin) (*target, error) {
	user, err := s.userAt(ctx, place.path)
	if err != nil {
		return nil, err
	}
	if err := isRoot(place, user); err != nil {
		return nil, err
	}
	config, err := s.repository(user.Root)
	if err != nil {
		return nil, err
	}
	if ok, err := user.HasCommits(ctx); err != nil {
		return nil, err
	} else if !ok {
		return nil, &SetupError{Code: "no_commits", Message: user.Root + " has no commits", Hint: "commit something and push it first"}
	}
	t := &target{user: user, Repository: journal.Repository{Name: place.name, Path: user.Root, Branch: from.branch, Base: from.commit,
		Verify: journal.Command{Argv: config.Verify.Words(), Text: config.Verify.String()}, Prepare: config.Prepare, Carry: config.Carry,
		Guarded: from.guarded}}
	if err := t.unchanged(ctx); err != nil { // before git is run that obeys what stands there
		return nil, err
	}
	if from.remote == git.LocalName || from.remote == "" && config.Local {
		t.Origin, t.remote, t.Weak = git.LocalName, user.Local(s.mark(id, "remote")), true
	} else if err := t.findRemote(ctx, cmp.Or(from.remote, config.Remote), s.mark(id, "remote")); err != nil {
		return nil, err
	}
	if err := s.findBase(ctx, id, t, config.Base); err != nil {
		return nil, err
	}
	if err := t.startOver(ctx, from.over); err != nil {
		return nil, err
	}
	t.shipper = remoteShipper{t.remote}
	if s.config.Shipper != nil {
		t.shipper = s.config.Shipper(t.Repository)
	}
	t.Remote = t.shipper.Name()
	who, err := user.Identity(ctx)
	if err != nil {
		return nil, err
	}
	t.Who, t.Email = who.Name, who.Email
	if !t.Weak {
		if t.Weak, err = s.knownWeak(ctx, t.remote); err != nil {
			return nil, err
		}
	}
	t.Dirty, err = user.Dirty(ctx, maxDirty)
	return t, err
}

// isRoot refuses a place that the backlog names and that is only a folder of a repository: its items own paths of the root.
func isRoot(p place, user *git.User) error {
	if p.name == "." {
		return nil
	}
	root, err := filepath.EvalSymlinks(user.Root)
	if err == nil && root != p.path {
		err = &SetupError{Code: "not_a_repository", Message: fmt.Sprintf("%s is a folder of the repository %s", p.path, root), Hint: "name the root of a repository as repo"}
	}
	return err
}

func (s *Scheduler) userAt(ctx context.Context, path string) (*git.User, error) {
	user, err := s.program.OpenUser(ctx, path)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, &SetupError{Code: "not_a_repository", Message: err.Error(), Hint: "run git init there, or name the folder of a repository", Err: err}
	}
	return user, err
}

// findRemote opens the remote that is wanted, or the one that goes without saying.
func (t *target) findRemote(ctx context.Context, want, mark string) (err error) {
	if t.Origin, err = remoteName(ctx, t.user, want); err != nil {
		return err
	}
	t.remote, err = t.user.Remote(ctx, t.Origin, mark)
	if errors.Is(err, git.ErrSeveralPushURLs) {
		return &SetupError{Code: "no_remote", Message: err.Error(), Hint: "name a remote that pushes to one place", Err: err}
	}
	return err
}

// findBase asks the remote for the base and fetches it.
func (s *Scheduler) findBase(ctx context.Context, id string, t *target, want string) error {
	refs, err := t.remote.List(ctx)
	if err != nil {
		return &SetupError{Code: "remote_unreachable", Message: fmt.Sprintf("remote %s cannot be read: %v", t.Origin, err),
			Hint: "check git remote -v, the network and your credentials", Err: err}
	}
	if t.Branch == "" {
		if t.Branch, err = baseBranch(ctx, t, want, refs); err != nil {
			return err
		}
	}
	if refs.All["refs/heads/aesop"] != "" {
		return &SetupError{Code: "branch_in_the_way", Message: fmt.Sprintf("remote %s has a branch aesop, which leaves no room for branches of waves, aesop/WAVE", t.Origin),
			Hint: "rename that branch"}
	}
	if s.protected(Branch(id), t.Branch) {
		return &SetupError{Code: "protected_branch", Message: fmt.Sprintf("the wave's branch %s is protected", Branch(id)),
			Hint: "take the pattern that covers it out of protectedBranches"}
	}
	name := t.user.ID()
	if t.engine, err = s.program.OpenEngine(ctx, t.user, filepath.Join(s.config.State, "git", name+".git"), s.lockFile("git-"+name)); err != nil {
		return err
	}
	if err := s.freeEngine(ctx, id, t.engine); err != nil {
		return err
	}
	t.tip = refs.All["refs/heads/"+t.Branch]
	t.Base = cmp.Or(t.Base, t.tip)
	if err := t.engine.Fetch(ctx, t.remote, t.Base); err != nil {
		return &SetupError{Code: "remote_unreachable", Message: fmt.Sprintf("branch %s of remote %s cannot be fetched: %v", t.Branch, t.Origin, err),
			Hint: "check the network and your credentials", Err: err}
	}
	return nil
}

// startOver starts from over where that has all that the base has.
func (t *target) startOver(ctx context.Context, over git.SHA) error {
	if over == "" {
		return nil
	}
	ahead, err := t.engine.IsAncestor(ctx, t.Base, over)
	if ahead {
		t.Base = over
	}
	return err
}

func remoteName(ctx context.Context, user *git.User, want string) (string, error) {
	names, err := user.Remotes(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case want != "" && slices.Contains(names, want):
		return want, nil
	case want != "":
		return "", &SetupError{Code: "no_remote", Message: fmt.Sprintf("there is no remote %q in %s", want, user.Root),
			Hint: "known remotes: " + strings.Join(names, ", ")}
	case slices.Contains(names, "origin"):
		return "origin", nil
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", &SetupError{Code: "no_remote", Message: user.Root + " has no remote to ship to",
			Hint: "add one with git remote add origin URL, or set ship to local to have a branch in this repository"}
	}
	return "", &SetupError{Code: "no_remote", Message: user.Root + " has several remotes and none is called origin",
		Hint: "name one as remote: " + strings.Join(names, ", ")}
}

// baseBranch is the branch that waves start from: the configured one, the remote's default, its only one beside those of
// earlier waves, or the upstream of the branch that is checked out.
func baseBranch(ctx context.Context, t *target, want string, refs git.Refs) (string, error) {
	exists := func(branch string) bool { return refs.All["refs/heads/"+branch] != "" }
	if want != "" {
		if !exists(want) {
			return "", &SetupError{Code: "no_base", Message: fmt.Sprintf("remote %s has no branch %q", t.Origin, want),
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
		return "", &SetupError{Code: "no_base", Message: fmt.Sprintf("remote %s has no branch yet", t.Origin), Hint: "push your branch first"}
	}
	upstream, err := t.user.Upstream(ctx, t.Origin)
	if err != nil {
		return "", err
	}
	if upstream != "" && exists(upstream) {
		return upstream, nil
	}
	return "", &SetupError{Code: "no_base", Message: fmt.Sprintf("remote %s does not say which of its branches is the default", t.Origin),
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
