package job_test

import (
	"context"
	"fmt"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/tracker"
)

// A job is made, claimed with a token, and completed by whoever holds that. Somebody else's word does not count.
func Example() {
	store := statestore.NewMemory(statestore.MemoryConfig{})
	defer store.Close()
	token, err := tracker.NewToken(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, request := range []job.Request{
		job.Create{ID: "w1/greet", Item: "greet", Wave: "w1", Seat: "worker"},
		job.Claim{ID: "w1/greet", Token: token},
		job.Complete{ID: "w1/greet", By: job.Worker{Token: "a guess"}},
		job.Complete{ID: "w1/greet", By: job.Worker{Token: token}},
		job.Complete{ID: "w1/greet", By: job.Worker{Token: token}},
	} {
		var d job.Decision
		err := store.Update(context.Background(), func(tx statestore.Tx) (err error) {
			d, err = job.Apply(tx, request)
			return err
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%T: %s %s -> %s\n", request, d.Outcome, d.Reason, d.Record.Status)
	}
	// Output:
	// job.Create: applied  -> pending
	// job.Claim: applied  -> running
	// job.Complete: refused stale_attempt -> running
	// job.Complete: applied  -> completed
	// job.Complete: idempotent already_ended -> completed
}
