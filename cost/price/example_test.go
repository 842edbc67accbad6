package price_test

import (
	"fmt"
	"time"

	"aesop/cost"
	"aesop/cost/price"
)

func Example() {
	table := price.Default()
	calls := []cost.Call{
		{Usage: cost.Usage{Model: "claude-sonnet-5-5", Input: 1200, CacheRead: 40_000, Output: 900, Metered: true}},
		{Usage: cost.Usage{Model: "claude-sonnet-5-5", Input: 1200, CacheRead: 40_000, Output: 900, Metered: true}, Service: "batch"},
		{Usage: cost.Usage{Model: "our-own-model", Input: 500, Output: 90, Metered: true}},
	}
	for _, call := range calls {
		call.At = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
		if err := table.Charge(&call); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("$%s by the prices of %s\n", call.Cost, call.Prices)
	}
	// Output:
	// $0.0154 by the prices of 2026-11-30
	// $0.0077 by the prices of 2026-11-30
	// no price of "our-own-model" is known: unpriced
}

// A file names the price of what the package does not know, or of what was agreed with the vendor.
func ExampleTable_With() {
	own, err := price.Load("prices.json", []byte(`{
		"schemaVersion": 1,
		"checked": "2026-11-30",
		"rows": [
			{"model": "our-own-model", "source": "runs on our machine", "input": "0", "output": "0"},
			{"model": "claude-opus-5-5", "source": "contract", "from": "2026-12-01", "input": "3.20", "output": "16"}, // no caching
		]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	table := price.Default().With(own)
	for _, month := range []time.Month{time.November, time.December} {
		rate, _ := table.Price("opus", time.Date(2026, month, 15, 0, 0, 0, 0, time.UTC))
		fmt.Println(rate.Input, rate.CacheRead, rate.Source)
	}
	// Output:
	// 4.00 0.20 measured from claude 2.1.332 (costBasis list)
	// 3.20 - contract
}
