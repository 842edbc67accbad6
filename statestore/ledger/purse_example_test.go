package ledger_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/tracker"
)

// Agents claim jobs, and what each may use is reserved in the transaction of its claim. A Purse says who asks for how much, so one is made
// for each ask; the Ledger in it is one for all.
func ExamplePurse() {
	ctx := context.Background()
	store := statestore.NewMemory(statestore.MemoryConfig{})
	defer store.Close()
	calls := ledger.New(store)
	limits := []cost.Limit{{Scope: cost.PerWave, Tokens: 1000}}

	claim := func(id string) (token string, err error) {
		if token, err = tracker.NewToken(rand.Reader); err != nil { // the worker's, by which its requests are known
			return "", err
		}
		return token, store.Update(ctx, func(tx statestore.Tx) error {
			purse := ledger.Purse{Ledger: calls, Limits: limits,
				Ask: cost.Ask{Subject: cost.Subject{Wave: "w1", Item: id, Model: "large"}, Most: cost.Amount{Tokens: 600}}}
			for _, request := range []job.Request{
				job.Create{ID: id, Item: id, Wave: "w1", Seat: "worker"},
				job.Claim{ID: id, Token: token, Deadline: tx.Now().Add(time.Hour), Reserve: purse},
			} {
				decision, err := job.Apply(tx, request)
				switch {
				case err != nil:
					return err
				case decision.Ceiling != nil:
					return decision.Ceiling // so that nothing of it commits
				case !decision.OK():
					return errors.New(decision.Text)
				}
			}
			return nil
		})
	}
	token, err := claim("first")
	fmt.Println("first:", err)
	_, err = claim("second")
	fmt.Println("second:", err)
	fmt.Println("it is the ceiling:", errors.Is(err, cost.ErrCeiling))

	// When an agent ends, its row takes the place of the reservation, in one transaction.
	err = store.Update(ctx, func(tx statestore.Tx) error {
		used := cost.Call{ID: "first/1", At: tx.Now(), Wave: "w1", Item: "first", Usage: cost.Usage{Model: "large", Input: 300, Output: 50, Metered: true}}
		if err := ledger.Append(tx, used); err != nil {
			return err
		}
		decision, err := job.Apply(tx, job.Complete{ID: "first", By: job.Worker{Token: token}})
		if err == nil && !decision.OK() {
			err = errors.New(decision.Text)
		}
		return err
	})
	fmt.Println("first ended:", err)
	_, err = claim("second")
	fmt.Println("second:", err)
	// Output:
	// first: <nil>
	// second: waveTokens is 1000 tokens, 0 tokens spent, 600 tokens reserved by agents that run, and this needs 600 tokens
	// it is the ceiling: true
	// first ended: <nil>
	// second: <nil>
}
