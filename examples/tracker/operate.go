package main

import (
	"strings"

	"aesop/examples/internal/cli"
	"aesop/tracker"
)

type retryCommand struct {
	cli.Common
	Item string `arg:"" help:"Id or slug of the item."`
}

func (cmd retryCommand) Run(c *cli.Context) error {
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		item, err := d.find(cmd.Item)
		if err != nil {
			return err
		}
		return d.operate("retry", tracker.Order{ID: item.ID, Request: tracker.Reopen})
	})
}

type blockCommand struct {
	cli.Common
	held
	Reason string `arg:"" help:"Why; shown with the item."`
}

// Run blocks as the holder where a token is given, and otherwise as an operator.
func (cmd blockCommand) Run(c *cli.Context) error {
	if strings.TrimSpace(cmd.Reason) == "" {
		return &cli.Problem{Code: "usage", Message: "the reason is empty", Hint: "say why, for who finds it"}
	}
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		item, err := d.find(cmd.Item)
		if err != nil {
			return err
		}
		if cmd.Token == "" {
			return d.operate("block", tracker.Order{ID: item.ID, Request: tracker.Block, Reason: cmd.Reason})
		}
		err = d.file.Settle(d, tracker.Settlement{ID: item.ID, Token: cmd.Token, Request: tracker.Block, Reason: cmd.Reason})
		return d.ended("block", item.ID, cmd.Token, err, func(i tracker.Item) bool {
			return i.Status == tracker.Blocked && i.StatusReason == cmd.Reason
		})
	})
}

// operate carries out an operator's order and says how the item stands.
func (d *desk) operate(verb string, order tracker.Order) error {
	if err := d.file.Operate(d, order); err != nil {
		return d.explain(verb, err)
	}
	return d.printNow(order.ID)
}
