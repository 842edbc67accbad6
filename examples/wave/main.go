// Wave is the example binary that runs waves.
package main

import (
	"os"

	"aesop/examples/internal/cli"
)

func main() { os.Exit(run()) }

const description = `Give the items of a backlog to an agent, prove what it did, and push what is proven to a branch.

Try it with no set-up:

  wave demo

In a repository with a remote:

  wave init
  wave plan --driver command --agent-cmd 'my-agent'
  wave run --driver command --agent-cmd 'my-agent'

Exit codes: 0 good or nothing to do, 1 not all items are good, 2 usage or it could not be evaluated,
3 stopped, 4 refused.`

type grammar struct {
	Init    initCommand    `cmd:"" help:"Write a configuration and a backlog of one item; overwrites nothing."`
	Demo    demoCommand    `cmd:"" help:"Run a real wave in a temporary folder, with played agents."`
	Plan    planCommand    `cmd:"" help:"Say what a wave would do."`
	Run     runCommand     `cmd:"" help:"Finish waves that were left, then run one."`
	Resume  resumeCommand  `cmd:"" help:"Finish a wave that was stopped or killed."`
	Status  statusCommand  `cmd:"" help:"Say what is under way, halted, or left."`
	Show    showCommand    `cmd:"" help:"Say what happened to an item."`
	Diff    diffCommand    `cmd:"" help:"Show what an item's work changes."`
	Logs    logsCommand    `cmd:"" help:"Show what the agents and tests of an item said."`
	Report  reportCommand  `cmd:"" help:"Print the report of a wave."`
	Approve approveCommand `cmd:"" help:"Let verified items ship that wait for it."`
	Reject  rejectCommand  `cmd:"" help:"End an item that waits for approval."`
	Correct correctCommand `cmd:"" help:"Change an item that waits for approval; what comes of it is tested and waits again."`
	Halt    haltCommand    `cmd:"" help:"Stop all waves, or let them go on."`
	Prune   pruneCommand   `cmd:"" help:"Remove what finished waves left; never work that is not pushed, unless it is named."`
	Config  configCommand  `cmd:"" help:"Explain the settings: value and source of each."`
}

func run() int { return cli.Main("wave", description, &grammar{}, os.Args[1:]) }
