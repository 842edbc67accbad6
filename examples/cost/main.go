// Cost is the example binary that counts what agents use, and says how that stands against limits.
package main

import (
	"os"

	"aesop/examples/internal/cli"
)

func main() { os.Exit(run()) }

const description = `Count what agents use, in tokens and money, and say where that stands and where it is going.

	What waves spent:              cost summary --by wave,model
	What all agents here spent:    cost ingest && cost summary --by day
	Before something starts:       cost ceiling --check
	A ledger of your own:          cost record --ledger calls.jsonl --model MODEL --input 900 --output 40

Exit codes: 0 good, 1 something was found (a limit is reached, lines are corrupt), 2 usage or it could not
be evaluated, 3 interrupted, 4 refused: another call has the id.`

type grammar struct {
	Record  recordCommand  `cmd:"" help:"Record a call, or many from standard input."`
	Import  importCommand  `cmd:"" help:"Record the calls of a file."`
	Export  exportCommand  `cmd:"" help:"Write the calls of the ledger."`
	Ingest  ingestCommand  `cmd:"" help:"Record what the sessions of Claude Code and Codex on this machine used."`
	Summary summaryCommand `cmd:"" help:"Add up what was used."`
	Project projectCommand `cmd:"" help:"Say where spending is going, and tell of limits that come near."`
	Ceiling ceilingCommand `cmd:"" help:"Say whether a limit is reached."`
	Prices  pricesCommand  `cmd:"" help:"Show the prices, or look for what is wrong with them."`
	Compare compareCommand `cmd:"" help:"Compare what two ways of doing the same work took."`
}

func run() int { return cli.Main("cost", description, &grammar{}, os.Args[1:]) }
