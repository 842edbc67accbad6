package price

import (
	"fmt"
	"slices"
	"time"
)

// Difference is a price that two tables say differently of a model.
type Difference struct {
	Model string `json:"model"`
	What  string `json:"what"` // input, output, cacheRead, cacheWrite5m, cacheWrite1h, with the size of a tier before it
	Ours  Price  `json:"ours"`
	Other Price  `json:"other"`
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s is $%s here and $%s there", d.Model, d.What, d.Ours, d.Other)
}

// Differences compares what counts at a time of the models that both tables have. What one of them does not know is no difference.
// common is how many models that are.
func (t Table) Differences(other Table, at time.Time) (all []Difference, common int) {
	all = []Difference{}
	for _, ours := range t.Current(at) {
		theirs, both := other.Price(ours.Model, at)
		if !both {
			continue
		}
		common++
		all = append(all, differences(ours.Model, "", ours.Prices, theirs.Prices)...)
		for _, tier := range ours.Tiers {
			i := slices.IndexFunc(theirs.Tiers, func(t Tier) bool { return t.Above == tier.Above })
			if i >= 0 {
				all = append(all, differences(ours.Model, fmt.Sprintf("above %d: ", tier.Above), tier.Prices, theirs.Tiers[i].Prices)...)
			}
		}
	}
	return all, common
}

func differences(model, tier string, a, b Prices) (all []Difference) {
	for _, x := range []struct {
		what        string
		ours, other Price
	}{{"input", a.Input, b.Input}, {"output", a.Output, b.Output}, {"cacheRead", a.CacheRead, b.CacheRead},
		{"cacheWrite5m", a.CacheWrite5m, b.CacheWrite5m}, {"cacheWrite1h", a.CacheWrite1h, b.CacheWrite1h}} {
		if x.ours.known && x.other.known && x.ours != x.other {
			all = append(all, Difference{model, tier + x.what, x.ours, x.other})
		}
	}
	return all
}
