// Package policy says how much proof the work of a driver needs: a table by tier, what a configuration overrides of it, and which
// items are chosen where only a share of them is looked at. It is pure: it reads and writes nothing.
package policy

import (
	"errors"
	"fmt"
)

// Policy is how much proof verified work needs, and how much patience work that fails gets.
type Policy struct {
	SpotCheck float64 // share of the verified items, in [0,1], that are verified once more
	Repairs   int     // how often a failed commit goes back to the driver
	Review    float64 // share of the verified items, in [0,1], that an independent reviewer must see, where there is one
}

// LeastTrusted is the last of the tiers, which begin with 1, trusted most.
const LeastTrusted = 4

// For is the policy of a tier. What is no tier is trusted least.
func For(tier int) Policy {
	table := [LeastTrusted]Policy{
		{SpotCheck: 0.10, Repairs: 1, Review: 0},
		{SpotCheck: 0.50, Repairs: 2, Review: 0.10},
		{SpotCheck: 1, Repairs: 2, Review: 0.20},
		{SpotCheck: 1, Repairs: 3, Review: 0.30},
	}
	if tier < 1 || tier > LeastTrusted {
		tier = LeastTrusted
	}
	return table[tier-1]
}

// maxRepairs bounds the rounds of one item: more have never helped an agent, and each is paid.
const maxRepairs = 10

// Check says what is wrong with a policy, or nil.
func (p Policy) Check() error {
	return errors.Join(checkShare("spotCheck", p.SpotCheck), checkRepairs(p.Repairs), checkShare("review", p.Review))
}

func checkShare(name string, share float64) error {
	if !(share >= 0 && share <= 1) { // also what is no number
		return fmt.Errorf("%s is %v, must be from 0 to 1", name, share)
	}
	return nil
}

func checkRepairs(n int) error {
	if n < 0 || n > maxRepairs {
		return fmt.Errorf("repairs is %d, must be from 0 to %d", n, maxRepairs)
	}
	return nil
}
