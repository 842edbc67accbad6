package main

import (
	"errors"

	"aesop"
	"aesop/examples/internal/cli"
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
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		item, err := d.find(cmd.Item)
		if err != nil {
			return err
		}
		err = d.place.Complete(d, d.file,
			aesop.Completion{Item: item.ID, Token: cmd.Token, Remote: cmd.Remote, Ref: cmd.Ref, Commit: cmd.Commit})
		if absent, ok := errors.AsType[*aesop.NotOnRemoteError](err); ok {
			hint := ""
			if absent.Found == "" {
				hint = "push it first"
			}
			return refuse("not_on_remote", hint, "nothing is changed: %v", absent)
		}
		return d.ended("complete", item.ID, cmd.Token, err, nil)
	})
}
