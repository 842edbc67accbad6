package cost_test

import (
	"context"
	"fmt"
	"time"

	"aesop/cost"
)

// Calls go into a Book, and every question about what was spent is a query of it.
func ExampleBook() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	price := cost.Dollar / 4
	var book cost.Book
	book.Add(
		cost.Call{ID: "1", At: now.Add(-2 * time.Hour), Wave: "w1", Usage: cost.Usage{Model: "large", Input: 900, Output: 100, Metered: true}, Cost: &price},
		cost.Call{ID: "2", At: now.Add(-time.Hour), Wave: "w1", Usage: cost.Usage{Model: "local", Input: 500, Metered: true}}, // has no price
	)
	today := cost.Query{Window: cost.Day(now), Wave: "w1"}
	total := book.Total(today)
	fmt.Printf("%d calls, %d tokens, $%s and %d without a price\n", total.Calls, total.Charge().Tokens, total.Cost, total.Unpriced)
	for _, group := range book.Groups(today, cost.ByModel) {
		fmt.Println(group.Key[cost.ByModel], group.Total.Charge().Tokens)
	}
	// Output:
	// 2 calls, 1500 tokens, $0.25 and 1 without a price
	// large 1000
	// local 500
}

// Items that are open will cost what finished ones did, less what was spent on them.
func ExampleProjector() {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var book cost.Book
	for n, dollars := range []cost.Money{1, 1, 2, 2, 4} {
		price := dollars * cost.Dollar
		book.Add(cost.Call{ID: fmt.Sprint(n), At: now, Wave: "w1", Item: fmt.Sprint("item-", n), Cost: &price, Usage: cost.Usage{Metered: true}})
	}
	projector := cost.Projector{Book: &book, Now: now}
	end := projector.Project(cost.Aim{Query: cost.Query{Wave: "w1"}, Open: []string{"item-8", "item-9"}})
	fmt.Printf("%s: spent $%s, at the end $%s to $%s\n", end.State, end.Spent.Cost, end.Money.Low, end.Money.High)

	guess := projector.Project(cost.Aim{Query: cost.Query{Wave: "w2"}, Open: []string{"item-1"}})
	fmt.Println(guess.State, guess.Money == nil, guess.Reason)
	// Output:
	// ok: spent $10.00, at the end $12.00 to $14.00
	// insufficient true there is no finished item to judge the open ones by
}

// marks remember in memory; a program keeps them where its ledger is.
type marks map[string]bool

func (m marks) Marked(_ context.Context, key string) (bool, error)    { return m[key], nil }
func (m marks) Mark(_ context.Context, key string, _ time.Time) error { m[key] = true; return nil }

func ExampleAlerts() {
	alerts := cost.Alerts{Marks: marks{}, Sink: cost.AlertFunc(func(_ context.Context, a cost.Alert) error {
		fmt.Println(a)
		return nil
	})}
	gauge := cost.Gauge{Wave: "w1", Limit: "wave", Ceiling: cost.Amount{Money: 5 * cost.Dollar}}
	for _, spent := range []cost.Money{3 * cost.Dollar, 4 * cost.Dollar, 5 * cost.Dollar} {
		gauge.Spent.Money = spent
		results, err := alerts.Check(context.Background(), gauge)
		for _, r := range results {
			fmt.Println("$"+spent.String(), r.Threshold, r.State)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// spending of wave "w1" has reached 70 % of limit "wave": $4.00 of $5.00
	// $4.00 70 fired
	// spending of wave "w1" has reached 90 % of limit "wave": $5.00 of $5.00
	// spending of wave "w1" has reached 100 % of limit "wave": $5.00 of $5.00
	// $5.00 70 already
	// $5.00 90 fired
	// $5.00 100 fired
}
