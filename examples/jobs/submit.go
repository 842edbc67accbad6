package main

import (
	"cmp"
	"fmt"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
)

type submitCommand struct {
	cli.Common
	Item         string   `arg:"" help:"What the job is about; an item has one job at a time."`
	ID           given    `name:"id" help:"Id of the job (default: WAVE/ITEM)." placeholder:"ID"`
	Seat         given    `help:"Who is to claim it (default: worker)." default:"worker" placeholder:"SEAT"`
	Wave         given    `help:"What it belongs to (default: manual)." default:"manual" placeholder:"WAVE"`
	Type         string   `help:"One piece of work, or rounds of it: task, loop or discuss (default: task)." enum:"task,loop,discuss" default:"task" placeholder:"TYPE"`
	Iterations   *int     `help:"How many rounds it may have (default: 10 of a loop, 3 of a discuss, any of a task)." placeholder:"N"`
	AutoComplete bool     `help:"Its end may be inferred by aesop-jobs infer."`
	Field        []string `help:"What the job is told; its attempts add to that by publish --progress." placeholder:"NAME=VALUE" sep:"none"`
}

func (submitCommand) Help() string {
	return `Examples:

  aesop-jobs submit greet
  aesop-jobs submit greet --type loop --iterations 3 --field goal='all tests pass'

An item with a job that has not ended is refused with the name of that job. All rounds of a job keep its fields.`
}

func (cmd submitCommand) Run(c *cli.Context) error {
	request, err := cmd.request(c)
	if err != nil {
		return err
	}
	return decide(c, cmd.Common, func(tx statestore.Tx) (job.Decision, error) { return job.Apply(tx, request) })
}

func (cmd submitCommand) request(c *cli.Context) (job.Create, error) {
	clean := c.Redactor.String
	create := job.Create{ID: clean(string(cmd.ID)), Item: clean(cmd.Item), Wave: clean(string(cmd.Wave)), Seat: clean(string(cmd.Seat)), AutoComplete: cmd.AutoComplete}
	create.ID = cmp.Or(create.ID, create.Wave+"/"+create.Item)
	switch cmd.Type {
	case "loop":
		create.Type, create.MaxIterations = cmd.Type, 10
	case "discuss":
		create.Type, create.MaxIterations = cmd.Type, 3
	}
	if cmd.Iterations != nil {
		if create.MaxIterations = *cmd.Iterations; *cmd.Iterations < 1 {
			return create, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--iterations is %d", *cmd.Iterations), Hint: "give a number above 0"}
		}
	}
	var err error
	create.Fields, err = pairs(c, "field", cmd.Field)
	return create, err
}
