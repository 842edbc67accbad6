package aesop_test

import (
	"context"
	"fmt"
	"log"

	"aesop"
)

// A complete program: run one wave of the backlog tracker.json in the current repository, with a program as the agent.
func Example() {
	ctx := context.Background()
	engine, err := aesop.Open(ctx, aesop.Config{
		Repo:     ".",
		Settings: aesop.Settings{Driver: "command", AgentCmd: "my-agent", MaxItems: 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	report, err := engine.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range report.Items {
		fmt.Println(item.ID, item.State, item.Reason)
	}
}
