package aesop

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"aesop/internal/git"
	"aesop/tracker"
	"aesop/wave"
)

// Completion says that a remote holds the work of a claimed item.
type Completion struct {
	Item   string // id
	Token  string // of its claim
	Remote string // name or URL, as the repository of the place understands it; outside a repository only URLs can be asked
	Ref    string // full name, such as refs/heads/BRANCH
	Commit string // with all digits
}

// NotOnRemoteError says that the remote does not hold what was said.
type NotOnRemoteError struct {
	Remote string // without its login
	Ref    string
	Commit string // that the ref was to hold
	Found  string // what it holds instead; "": the remote has no such ref
}

func (e *NotOnRemoteError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("%s has no %s", e.Remote, e.Ref)
	}
	return fmt.Sprintf("%s of %s is %s, not %s", e.Ref, e.Remote, e.Found, e.Commit)
}

// Complete settles an item as done and shipped once the remote itself says that the ref is at that very commit. The same
// completion again is no error. Where it is not so, nothing is changed: *NotOnRemoteError; a *tracker.LostError where the token
// holds nothing; a *wave.SetupError where the remote cannot be asked (remote_unreachable) or a name is not a full one (usage).
func (p Place) Complete(ctx context.Context, backlog Tracker, c Completion) error {
	if err := c.check(); err != nil {
		return err
	}
	item, err := itemOf(ctx, backlog, c.Item)
	if err != nil {
		return err
	}
	if tracker.AuthorityOf(item, tracker.AttemptID(c.Token)) != tracker.ByHolder {
		return c.unlessMade(item)
	}
	if err := p.ask(ctx, c); err != nil {
		return err
	}
	shipped := tracker.Shipped{Wave: item.Claim.Wave, Branch: strings.TrimPrefix(c.Ref, "refs/heads/"), Commit: c.Commit}
	err = backlog.Settle(ctx, tracker.Settlement{ID: c.Item, Token: c.Token, Request: tracker.Complete, Shipped: &shipped})
	if _, lost := errors.AsType[*tracker.LostError](err); !lost {
		return err
	}
	if item, err = itemOf(ctx, backlog, c.Item); err != nil { // perhaps the same completion came in between
		return err
	}
	return c.unlessMade(item)
}

func (c Completion) check() error {
	usage := func(hint, format string, args ...any) error {
		return &wave.SetupError{Code: "usage", Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch {
	case c.Token == "":
		return usage("give the one that the claim came with", "no token is given")
	case !strings.HasPrefix(c.Ref, "refs/"):
		return usage("write refs/heads/ before a branch", "ref %q is not a full name", c.Ref)
	case !regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`).MatchString(c.Commit):
		return usage("git rev-parse prints it", "commit %q is not a full id", c.Commit)
	}
	return nil
}

// unlessMade is nil where the completion was made already, after which nobody holds the item. The claim, and with it the token,
// has left no trace: the commit tells.
func (c Completion) unlessMade(i tracker.Item) error {
	if i.Claim == nil && i.Status == tracker.Done && i.Shipped != nil && i.Shipped.Commit == c.Commit {
		return nil
	}
	return &tracker.LostError{IDs: []string{c.Item}}
}

func itemOf(ctx context.Context, from Tracker, id string) (tracker.Item, error) {
	backlog, err := from.Backlog(ctx)
	if err != nil {
		return tracker.Item{}, err
	}
	for _, item := range backlog.Items {
		if item.ID == id {
			return item, nil
		}
	}
	return tracker.Item{}, &tracker.LostError{IDs: []string{id}}
}

// ask is nil where the remote's ref holds that very commit.
func (p Place) ask(ctx context.Context, c Completion) error {
	program, err := git.Find(ctx)
	if err != nil {
		return err
	}
	sha, err := program.AskRef(ctx, p.Repo, c.Remote, c.Ref)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &wave.SetupError{Code: "remote_unreachable", Hint: "nothing is changed; try again",
			Message: fmt.Sprintf("ask %s for %s: %s", withoutLogin(c.Remote), c.Ref, gitSaid(err))}
	case sha != c.Commit:
		return &NotOnRemoteError{Remote: withoutLogin(c.Remote), Ref: c.Ref, Commit: c.Commit, Found: sha}
	}
	return nil
}

// gitSaid is the first line that git complained with. The whole error has the arguments, of which the URL may hold a secret.
func gitSaid(err error) string {
	failed, ok := errors.AsType[*git.Error](err)
	if !ok {
		return err.Error()
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n"); line != "" {
		return line
	}
	if failed.Err != nil {
		return failed.Err.Error()
	}
	return fmt.Sprintf("git exits with %d", failed.Code)
}

// withoutLogin is a remote as it may be shown.
func withoutLogin(remote string) string {
	u, err := url.Parse(remote)
	if err != nil || u.User == nil {
		return remote
	}
	u.User = nil
	return u.String()
}
