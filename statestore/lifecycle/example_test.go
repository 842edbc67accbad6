package lifecycle_test

import (
	"context"
	"fmt"
	"time"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/tracker"
)

// An agent beats, stops getting on, and is found by a sweep. Its history tells all of it.
func Example() {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	store := statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return now }})
	defer store.Close()
	ctx := context.Background()
	token, err := tracker.NewToken(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	beat := func(tx statestore.Tx) error {
		return lifecycle.Beat(tx, lifecycle.Heartbeat{Job: "w1/greet", Attempt: tracker.AttemptID(token), Note: "running tests"})
	}
	err = store.Update(ctx, func(tx statestore.Tx) error {
		for _, request := range []job.Request{
			job.Create{ID: "w1/greet", Item: "greet", Wave: "w1", Seat: "worker"}, job.Claim{ID: "w1/greet", Token: token},
		} {
			if _, err := job.Apply(tx, request); err != nil {
				return err
			}
		}
		return nil
	})
	for range 5 { // alive for 25 minutes, without any progress
		if err == nil {
			now = now.Add(5 * time.Minute)
			err = store.Update(ctx, beat)
		}
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	swept, err := lifecycle.Sweep(ctx, store, lifecycle.Thresholds{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range swept.Verdicts {
		fmt.Println(v.Job, v.Level, v.Reasons, v.Age, v.Next)
	}
	err = store.View(ctx, func(r statestore.Reader) error {
		a, err := lifecycle.Of(r, "w1/greet")
		for _, s := range a.History {
			fmt.Println(s.At.Format("15:04"), s.State)
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// w1/greet stalled [no_progress] 25m0s [message_to_resume stop_and_relaunch inspect_tail]
	// 03:00 queued
	// 03:00 dispatched
	// 03:05 working
	// 03:25 stalled
}
