package git

import (
	"context"
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
	push string // where pushes go
	// Mark marks the processes that talk to the remote, so that a later run can end what an earlier one left behind.
	Mark string
}

// Remote names a remote of the repository.
func (u *User) Remote(ctx context.Context, name, mark string) (*Remote, error) {
	out, err := u.run(ctx, "remote", "get-url", "--push", name)
	if err != nil {
		return nil, err
	}
	return &Remote{user: u, Name: name, push: strings.TrimSuffix(string(out), "\n"), Mark: mark}, nil
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
func (r *Remote) ListPushed(ctx context.Context) (Refs, error) { return r.list(ctx, r.push) }

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

// Update is one ref to push: New to Ref, which must be at Old, or absent where Old is "".
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
	// By URL: a push by name would move the user's remote-tracking branches, to objects that are not in their repository.
	args = append(args, r.push)
	for _, u := range updates {
		args = append(args, u.New+":"+u.Ref)
	}
	_, err := r.talk(ctx, []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(from, "objects")}, args...)
	return err
}

// talk runs a git command that may use the network, as a process tree that can be killed.
func (r *Remote) talk(ctx context.Context, env []string, args ...string) ([]byte, error) {
	var stdout capped
	result, err := process.Run(ctx, process.Command{
		Argv: append([]string{r.user.program.path}, args...), Dir: r.user.Root, Env: r.user.env(env...),
		Stdout: &stdout, Mark: r.Mark, Timeout: patience,
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
