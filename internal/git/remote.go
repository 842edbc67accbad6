package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aesop/driver/process"
)

// Remote is a remote of the user's repository, reached with the user's own configuration and credentials.
type Remote struct {
	user *User
	Name string
	url  string // where pushes go, as git itself rewrote it
	own  bool   // fetches come from elsewhere
	// Mark marks the processes that talk to the remote, so that a later run can end what an earlier one left behind.
	Mark string
}

// ErrSeveralPushURLs says that pushes by the remote's name go to more than one place. Here they could land in one and fail in
// the next, so one has to be named.
var ErrSeveralPushURLs = errors.New("it has several push URLs; name a remote that has one")

// Remote names a remote of the repository. Its error can be ErrSeveralPushURLs.
func (u *User) Remote(ctx context.Context, name, mark string) (*Remote, error) {
	urls := func(flags ...string) ([]string, error) {
		out, err := u.run(ctx, slices.Concat([]string{"remote", "get-url", "--all"}, flags, []string{"--", name})...)
		return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
	}
	push, err := urls("--push")
	if err != nil {
		return nil, err
	}
	if len(push) > 1 {
		return nil, fmt.Errorf("remote %s: %w", name, ErrSeveralPushURLs)
	}
	fetch, err := urls()
	if err != nil {
		return nil, err
	}
	return &Remote{user: u, Name: name, url: push[0], own: fetch[0] != push[0], Mark: mark}, nil
}

// Local is the repository itself in the place of a remote.
func (u *User) Local(mark string) *Remote {
	return &Remote{user: u, Name: LocalName, url: u.Common, Mark: mark}
}

// LocalName is what git calls the repository itself where a remote could stand.
const LocalName = "."

// pushPlace stands for the URL that pushes go to. By name, a push would move the user's remote-tracking branches, to objects
// that are not in their repository; and a URL that git has rewritten must not be rewritten again. So talk tells git to rewrite
// this word to that URL.
const pushPlace = "aesop://push"

// URL is where pushes go; it can hold credentials.
func (r *Remote) URL() string { return r.url }

// places are what the remote can be asked by.
func (r *Remote) places() []string {
	if r.own {
		return []string{r.Name, pushPlace}
	}
	return []string{r.Name}
}

// Refs are the refs of a remote at one moment.
type Refs struct {
	Head string         // the branch that HEAD names, "" where it names none that exists
	All  map[string]SHA // by full name
}

// Branches are the names below refs/heads, sorted.
func (r Refs) Branches() []string {
	var names []string
	for ref := range r.All {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// List asks the remote for its refs.
func (r *Remote) List(ctx context.Context) (Refs, error) { return r.list(ctx, r.Name) }

// ListPushed asks the place that pushes go to, where that is another.
func (r *Remote) ListPushed(ctx context.Context) (Refs, error) { return r.list(ctx, pushPlace) }

func (r *Remote) list(ctx context.Context, place string) (Refs, error) {
	out, err := r.talk(ctx, nil, "ls-remote", "--symref", place)
	if err != nil {
		return Refs{}, err
	}
	refs := Refs{All: map[string]SHA{}}
	for row := range strings.Lines(string(out)) {
		left, name, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if !ok {
			continue
		}
		if target, symbolic := strings.CutPrefix(left, "ref: refs/heads/"); symbolic && name == "HEAD" {
			refs.Head = target
			continue
		}
		if strings.HasPrefix(name, "refs/") && !strings.HasSuffix(name, "^{}") {
			refs.All[name] = left
		}
	}
	if _, exists := refs.All["refs/heads/"+refs.Head]; !exists {
		refs.Head = ""
	}
	return refs, nil
}

// Update is one ref to push: New to Ref, which must be at Old, or absent where Old is "". With New "" the ref goes.
type Update struct {
	Ref string
	Old SHA
	New SHA
}

// Push moves all refs or none, each only from its old value. The objects come from the repository in the folder from.
func (r *Remote) Push(ctx context.Context, from string, updates []Update) error {
	args := []string{"push", "--atomic", "--porcelain", "--no-follow-tags", "--recurse-submodules=no"}
	for _, u := range updates {
		args = append(args, "--force-with-lease="+u.Ref+":"+u.Old)
	}
	args = append(args, pushPlace)
	for _, u := range updates {
		args = append(args, u.New+":"+u.Ref)
	}
	said, err := r.talk(ctx, r.objects(filepath.Join(from, "objects")), args...)
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.Rejected = rejected(said)
	}
	return err
}

// rejected reads the rows of a push's porcelain: a flag, the refs and what was said of them.
func rejected(said []byte) (refs []string) {
	for row := range strings.Lines(string(said)) {
		parts := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(parts) != 3 || parts[0] != "!" || !strings.HasPrefix(parts[2], "[remote rejected]") || strings.Contains(parts[2], "atomic") {
			continue
		}
		if _, ref, ok := strings.Cut(parts[1], ":"); ok {
			refs = append(refs, ref)
		}
	}
	return refs
}

// objects lets git see the objects of a folder beside the user's. What it has to add, as when it asks a remote for what a partial
// clone left out, goes to the folder.
func (r *Remote) objects(dir string) []string {
	return []string{"GIT_OBJECT_DIRECTORY=" + dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + listed(filepath.Join(r.user.Common, "objects"))}
}

// listed writes a folder as the one entry of a list of folders.
func listed(dir string) string {
	if strings.ContainsAny(dir, "\"\n"+string(filepath.ListSeparator)) {
		return quotePath(dir)
	}
	return dir
}

// talk runs a git command that may use the network, as a process tree that can be killed.
func (r *Remote) talk(ctx context.Context, env []string, args ...string) ([]byte, error) {
	return r.input(ctx, "", env, args...)
}

func (r *Remote) input(ctx context.Context, stdin string, env []string, args ...string) ([]byte, error) {
	argv := []string{r.user.program.path}
	if r.url != "" { // the value by environment: git takes the key up to the last "=", and a URL can have one
		argv = append(argv, "--config-env=url."+r.url+".insteadOf=AESOP_PUSH_PLACE")
		env = append(env[:len(env):len(env)], "AESOP_PUSH_PLACE="+pushPlace)
	}
	var stdout capped
	result, err := process.Run(ctx, process.Command{
		Argv: append(argv, args...), Dir: r.user.Root, Env: r.user.env(env...), Stdin: strings.NewReader(stdin), Stdout: &stdout,
		Mark: r.Mark, Timeout: patience,
	})
	if err != nil {
		return nil, err
	}
	if !result.OK() {
		e := &Error{Args: args, Code: result.Code, Stderr: tail(result.Stderr.Text, 4096)}
		switch result.Reason {
		case process.Cancelled:
			e.Code, e.Err = -1, context.Cause(ctx)
		case process.TimedOut:
			e.Code, e.Err = -1, fmt.Errorf("no answer within %v", patience)
		}
		return stdout.data, e
	}
	if stdout.over {
		return nil, &Error{Args: args, Code: -1, Err: fmt.Errorf("more than %d bytes of output", maxListing)}
	}
	return stdout.data, nil
}

// patience bounds one conversation with a remote.
const patience = 10 * time.Minute

// capped keeps what a remote lists, up to a bound that no real list reaches.
type capped struct {
	data []byte
	over bool // there was more
}

const maxListing = 256 << 20

func (c *capped) Write(p []byte) (int, error) {
	if c.over = c.over || len(c.data)+len(p) > maxListing; !c.over {
		c.data = append(c.data, p...)
	}
	return len(p), nil
}
