package main

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"aesop/examples/internal/cli"
	"aesop/internal/git"
	"aesop/tracker"
)

type completeCommand struct {
	cli.Common
	held
	Remote string `required:"" help:"Remote to ask, by name or URL." placeholder:"R"`
	Ref    string `required:"" help:"Full name of the ref that holds the commit, such as refs/heads/BRANCH." placeholder:"REF"`
	Commit string `required:"" help:"The commit, with all digits." placeholder:"SHA"`
}

func (cmd completeCommand) Run(c *cli.Context) error {
	if err := cmd.check(); err != nil {
		return err
	}
	if err := cmd.checkNames(); err != nil {
		return err
	}
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		item, err := d.find(cmd.Item)
		if err != nil {
			return err
		}
		shipped := tracker.Shipped{Branch: strings.TrimPrefix(cmd.Ref, "refs/heads/"), Commit: cmd.Commit}
		switch {
		case tracker.AuthorityOf(item, tracker.AttemptID(cmd.Token)) == tracker.ByHolder:
			shipped.Wave = item.Claim.Wave
		case completed(item, cmd.Commit):
			return d.printNow(item.ID)
		default:
			return lostToken("complete", item, cmd.Token)
		}
		if err := cmd.askRemote(d); err != nil {
			return err
		}
		err = d.file.Settle(d, tracker.Settlement{ID: item.ID, Token: cmd.Token, Request: tracker.Complete, Shipped: &shipped})
		return d.ended("complete", item.ID, cmd.Token, err, func(i tracker.Item) bool { return completed(i, cmd.Commit) })
	})
}

// completed says whether an item that nobody holds was completed with the commit.
func completed(i tracker.Item, commit string) bool {
	return i.Claim == nil && i.Status == tracker.Done && i.Shipped != nil && i.Shipped.Commit == commit
}

func (cmd completeCommand) checkNames() error {
	if !strings.HasPrefix(cmd.Ref, "refs/") {
		message := fmt.Sprintf("ref %q is not a full name", cmd.Ref)
		return &cli.Problem{Code: "usage", Message: message, Hint: "write refs/heads/ before a branch"}
	}
	if !regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`).MatchString(cmd.Commit) {
		message := fmt.Sprintf("commit %q is not a full id", cmd.Commit)
		return &cli.Problem{Code: "usage", Message: message, Hint: "git rev-parse prints it"}
	}
	return nil
}

// askRemote is nil where the remote's ref holds that very commit.
func (cmd completeCommand) askRemote(d *desk) error {
	program, err := git.Find(d)
	if err != nil {
		return err
	}
	sha, err := program.AskRef(d, d.place.Repo, cmd.Remote, cmd.Ref)
	remote := withoutLogin(cmd.Remote)
	switch {
	case d.Err() != nil:
		return d.Err()
	case err != nil:
		return &cli.Problem{Code: "remote_unreachable", Message: fmt.Sprintf("ask %s for %s: %s", remote, cmd.Ref, gitSaid(err)),
			Hint: "nothing is changed; try again"}
	case sha == "":
		return refuse("not_on_remote", "push it first", "nothing is changed: %s has no %s", remote, cmd.Ref)
	case sha != cmd.Commit:
		return refuse("not_on_remote", "", "nothing is changed: %s of %s is %s, not %s", cmd.Ref, remote, sha, cmd.Commit)
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
