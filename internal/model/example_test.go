package model_test

import (
	"fmt"

	"aesop/internal/model"
)

// Why a loser adopts: a wave whose lease has lapsed has shipped already, and the next one pushes over it.
func Example() {
	rules := model.AllRules()
	rules.Adopt = false
	result, err := model.Explore(model.Config{Rules: rules, Items: 1, MaxStates: 1_000_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range result.Violations {
		if v.Property == model.OneShipment {
			for _, move := range v.Trace {
				fmt.Println(move)
			}
		}
	}
	// Output:
	// wave A: plan
	// wave A: claim job
	// wave A: claim in tracker
	// wave A: read item ref
	// wave A: adopt
	// wave A: build
	// wave A: push intent
	// wave A: push
	// wave A: push lands
	// wave B: plan, the lease of A lapsed before ask remote
	// wave B: claim job, the lease of A lapsed before ask remote
	// wave B: claim in tracker, the lease of A lapsed before ask remote
	// wave B: read item ref
	// wave B: adopt
	// wave B: build
	// wave B: push intent
	// wave B: push
	// wave B: push lands
}
