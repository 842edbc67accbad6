// Tracker is the example binary that reads and edits a backlog: items, claims and how they end.
package main

import (
	"os"

	"aesop/examples/internal/cli"
)

func main() { os.Exit(run()) }

const description = `Read a backlog, and change it safely beside people, editors and other programs.

	A worker:  tracker list; tracker claim ITEM --owner NAME
	           then renew, and in the end complete, release or block
	A person:  tracker template instantiate PRESET; tracker add; tracker show ITEM
	           tracker block ITEM REASON; tracker retry ITEM`

type grammar struct {
	List     listCommand     `cmd:"" help:"List the items."`
	Show     showCommand     `cmd:"" help:"Show all of an item."`
	Add      addCommand      `cmd:"" help:"Add an item at the end of the backlog."`
	Claim    claimCommand    `cmd:"" help:"Claim items, all or none; prints id and secret token of each."`
	Renew    renewCommand    `cmd:"" help:"Move the end of a claim's lease."`
	Release  releaseCommand  `cmd:"" help:"Give a claimed item back."`
	Complete completeCommand `cmd:"" help:"End a claim as done, once the remote holds the commit."`
	Retry    retryCommand    `cmd:"" help:"Open an item again that nobody holds, and forget its attempts."`
	Block    blockCommand    `cmd:"" help:"Block an item that nobody holds, or one's own with its token."`
	Template templateCommand `cmd:"" help:"Make a first backlog from a template."`
}

func run() int { return cli.Main("tracker", description, &grammar{}, os.Args[1:]) }
