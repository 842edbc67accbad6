package stateapi_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"aesop/stateapi"
	"aesop/statestore"
	"aesop/statestore/job"
)

// A hook says what the orchestrator does and notes it, once though it runs twice. A status line reads both. What nobody gave is no empty list.
func Example() {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	store := statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return now }})
	defer store.Close()
	ctx := context.Background()
	write, err := stateapi.NewWrite(stateapi.WriteConfig{Store: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	activity, phase := "builds three items", "build"
	for range 2 {
		_, err = write.SetStatus(ctx, stateapi.How{Key: "hook-17"}, stateapi.StatusChange{Activity: &activity, Phase: &phase})
		if err == nil {
			_, err = write.Note(ctx, stateapi.How{Key: "hook-17-note"}, "wave w1 began")
		}
		if err == nil {
			_, err = write.Do(ctx, stateapi.How{Key: "hook-17-job"}, job.Create{ID: "w1/greet", Item: "greet", Wave: "w1", Seat: "worker"})
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	now = now.Add(10 * time.Minute)
	read, err := stateapi.NewRead(stateapi.ReadConfig{Store: store})
	if err != nil {
		fmt.Println(err)
		return
	}
	status, err := read.Status(ctx, "")
	fmt.Println(status.Phase, status.Activity, status.Version, status.Fresh, err)
	agents, err := read.Agents(ctx, stateapi.AgentQuery{Live: true}, stateapi.Page{})
	for _, a := range agents.Entries {
		fmt.Println(a.Job, a.State, a.Verdict.Level)
	}
	fmt.Println(err)
	notes, err := read.Events(ctx, stateapi.EventQuery{Stream: stateapi.BuildLog}, stateapi.Page{})
	for _, e := range notes.Entries {
		fmt.Println(e.Type, string(e.Data))
	}
	fmt.Println(err)
	_, err = read.Waves(ctx, stateapi.Page{})
	fmt.Println(err, errors.Is(err, stateapi.ErrNotConfigured))
	// Output:
	// build builds three items 1 stale <nil>
	// w1/greet queued ok
	// <nil>
	// note.added {"text":"wave w1 began"}
	// <nil>
	// waves: not configured true
}
