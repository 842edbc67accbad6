package policy_test

import (
	"fmt"

	"aesop/wave/policy"
)

func Example() {
	p := policy.For(2)
	verified := []string{"add-greeting", "count-lines", "say-goodbye"}
	again := policy.Choose([]byte("secret of the state"), "20261130-091500-7f3a", policy.SpotCheck, policy.Count(p.SpotCheck, len(verified)), verified)
	fmt.Printf("%d of %d items are verified once more, and each may be repaired %d times\n", len(again), len(verified), p.Repairs)
	// Output: 2 of 3 items are verified once more, and each may be repaired 2 times
}
