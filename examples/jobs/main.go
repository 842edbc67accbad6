// Jobs is the example binary that makes jobs, claims them and says how they ended: the transition boundary by the command line.
// Shells have a command jobs of their own, so that it calls itself aesop-jobs: go build -o DIR/aesop-jobs ./examples/jobs.
package main

import (
	"os"

	"aesop/examples/internal/cli"
)

func main() { os.Exit(run()) }

const description = `Make jobs, claim them, and say how they ended. Every change passes one table of transitions.

	An orchestrator:  aesop-jobs submit ITEM; aesop-jobs watch JOB --until completed,failed
	                  then redispatch for another round, or finalize
	A worker:         aesop-jobs claim --next
	                  AESOP_TOKEN=TOKEN aesop-jobs publish --status completed
	An agent below a wave, which has AESOP_ATTEMPT_DIR and no token:
	                  aesop-jobs publish --status completed --finalize-report "$AESOP_ATTEMPT_DIR/report.md"
	After a crash:    aesop-jobs recover

Exit codes: 0 it is so now, also if it was so before; 1 a status that there is not, or something was found; 2 usage, or it
could not be evaluated; 3 timed out or interrupted; 4 refused, or the job is not as was expected. What is not 0 says why.`

type grammar struct {
	Submit     submitCommand     `cmd:"" help:"Make a job of an item."`
	Claim      claimCommand      `cmd:"" help:"Start an attempt at a job; prints job and secret token."`
	Publish    publishCommand    `cmd:"" help:"Say how an attempt goes on, or how it ended."`
	Status     statusCommand     `cmd:"" help:"Say how a job stands, or set it as an operator."`
	Redispatch redispatchCommand `cmd:"" help:"Send a job that ended into its next round."`
	Finalize   finalizeCommand   `cmd:"" help:"End a job for good."`
	Infer      inferCommand      `cmd:"" help:"Complete a job whose agent said nothing, by what it left."`
	Recover    recoverCommand    `cmd:"" help:"Put in order what a crash left: records, deadlines, news that is owed."`
	Show       showCommand       `cmd:"" help:"Show all of a job."`
	List       listCommand       `cmd:"" help:"List the jobs that are pending or running."`
	Watch      watchCommand      `cmd:"" help:"Wait until a job has a status."`
}

func run() int { return cli.Main("aesop-jobs", description, &grammar{}, os.Args[1:]) }
