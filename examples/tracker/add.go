package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"aesop/examples/internal/cli"
	"aesop/tracker"
)

type addCommand struct {
	cli.Common
	Slug      string   `required:"" help:"Name of the item in branches and messages." placeholder:"SLUG"`
	ID        string   `help:"What names the item for ever (default: the slug)." placeholder:"ID"`
	Title     string   `help:"Title, which becomes the commit's." placeholder:"TEXT"`
	Prompt    string   `required:"" help:"What the agent is told." placeholder:"TEXT"`
	TestCmd   string   `required:"" help:"Command for sh -c that exits 0 when the item is done." placeholder:"CMD"`
	Owns      []string `required:"" sep:"none" help:"Path, folder/ or glob it may change (repeatable)." placeholder:"PATH"`
	Priority  string   `enum:"P0,P1,P2,P3" default:"P3" help:"P0 (first) to P3 (last)." placeholder:"P3"`
	DependsOn []string `sep:"none" help:"Item whose work must be in the base before (repeatable)." placeholder:"ITEM"`
	Criterion []string `sep:"none" help:"What must hold in the end, in words (repeatable)." placeholder:"TEXT"`
	WorkDir   string   `help:"Folder of the repository to run the test in." placeholder:"DIR"`
	ItemRepo  string   `help:"Its repository, relative to the backlog, where items name theirs." placeholder:"DIR"`
	Model     string   `help:"Model to use." placeholder:"M"`
	Notes     string   `help:"Notes for people." placeholder:"TEXT"`
}

func (cmd addCommand) Run(c *cli.Context) error {
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		item := tracker.Item{
			ID: cmp.Or(cmd.ID, cmd.Slug), Slug: cmd.Slug, Title: cmd.Title, Priority: cmd.Priority, CreatedAt: time.Now(),
			OwnsFiles: cmd.Owns, Prompt: cmd.Prompt, TestCmd: tracker.Command{Shell: cmd.TestCmd}, WorkDir: cmd.WorkDir,
			Repo: cmd.ItemRepo, AcceptanceCriteria: cmd.Criterion, Model: cmd.Model, Notes: cmd.Notes,
		}
		for _, name := range cmd.DependsOn {
			other, err := d.find(name)
			if err != nil {
				return err
			}
			item.DependsOn = append(item.DependsOn, other.ID)
		}
		if err := d.file.Add(d, item); err != nil {
			return explainAdd(item, err)
		}
		return d.printNow(item.ID)
	})
}

func explainAdd(item tracker.Item, err error) error {
	if skip, ok := errors.AsType[*tracker.Skip](err); ok {
		return &cli.Problem{Code: string(skip.Reason), Message: fmt.Sprintf("%s is not added: %s", item.ID, skip.Detail)}
	}
	if _, ok := errors.AsType[*tracker.ConflictError](err); ok {
		return refuse(string(tracker.ConflictExists), "names that differ only by case are the same",
			"%s is not added: an item has the id %q or the slug %q already", item.ID, item.ID, item.Slug)
	}
	return err
}
