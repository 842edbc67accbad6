package trackertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"aesop/tracker"
)

// testRace lets callers claim, renew and settle the same items at once. Each item must be won once.
func testRace(t *testing.T, open Open) {
	const callers, count = 8, 24
	items := make([]tracker.Item, count)
	for i := range items {
		items[i] = Item(fmt.Sprintf("i%d", i))
	}
	f := start(t, open, items...)
	won := make(chan string, callers*count)
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range items {
				if id := items[(i+caller*3)%count].ID; f.race(id) {
					won <- id
				}
			}
		})
	}
	group.Wait()
	close(won)
	wins := map[string]int{}
	for id := range won {
		wins[id]++
	}
	for _, item := range items {
		got := f.item(item.ID)
		if wins[item.ID] != 1 || got.Status != tracker.Done || got.Epoch != 1 {
			t.Errorf("%s was won %d times and is %s in epoch %d", item.ID, wins[item.ID], got.Status, got.Epoch)
		}
	}
}

// race takes an item through its whole life, and says whether it was won.
func (f *fixture) race(id string) bool {
	ctx := f.t.Context()
	claims, err := f.tracker.Claim(ctx, tracker.Holder{Wave: "w", Owner: "same"}, lease, tracker.Want{ID: id})
	var conflict *tracker.ConflictError
	if errors.As(err, &conflict) {
		return false
	}
	if err == nil {
		err = f.tracker.Renew(ctx, lease, claims...)
	}
	if err == nil {
		err = f.tracker.Settle(ctx, tracker.Settlement{
			ID: id, Token: claims[0].Token, Request: tracker.Complete,
			Shipped: &tracker.Shipped{Wave: "w", Branch: "aesop/w", Commit: claims[0].Attempt},
		})
	}
	if err != nil {
		f.t.Errorf("%s: %v", id, err)
	}
	return true
}
