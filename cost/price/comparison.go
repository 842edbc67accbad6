package price

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"aesop/cost"
)

// Side is one of two ways of doing the same work, with what each of its requests used.
type Side struct {
	Name  string
	Calls []cost.Usage // each with its model
}

// Comparison is how many tokens two ways took. It says the raw counts, the counts weighted by price, how many trials that
// rests on and what speaks against it, all at once or not at all: a ratio alone is a claim that nobody can judge.
// Table.Compare makes it.
type Comparison struct {
	names         [2]string
	raw, weighted [2]int64
	base, prices  string
	trials        int
	caveats       []string
}

// Compare compares a with b over a number of trials each, such as tasks. A weighted token is one that costs as much as one
// of its class on the base model. It refuses fewer than one trial, no caveats, and usage that is unmetered, unpriced, or
// none.
func (t Table) Compare(base string, at time.Time, a, b Side, trials int, caveats ...string) (Comparison, error) {
	c := Comparison{names: [2]string{a.Name, b.Name}, trials: trials, caveats: slices.Clone(caveats)}
	for _, caveat := range caveats {
		if strings.TrimSpace(caveat) == "" {
			return Comparison{}, errors.New("compare: a caveat is empty")
		}
	}
	switch {
	case a.Name == "" || b.Name == "":
		return Comparison{}, errors.New("compare: a side has no name")
	case trials < 1:
		return Comparison{}, fmt.Errorf("compare: the number of trials is %d, must be at least 1", trials)
	case len(caveats) == 0:
		return Comparison{}, errors.New("compare: the caveats are missing")
	}
	baseRate, err := t.rate(base, at)
	if err != nil {
		return Comparison{}, fmt.Errorf("compare: %w", err)
	}
	c.base, c.prices = baseRate.Model, baseRate.Checked
	for i, side := range []Side{a, b} {
		for _, u := range side.Calls {
			r, err := t.rate(u.Model, at)
			if err != nil {
				return Comparison{}, fmt.Errorf("compare: %s: %w", side.Name, err)
			}
			weighted, err := weigh(u, r, baseRate)
			if err != nil {
				return Comparison{}, fmt.Errorf("compare: %s: %w", side.Name, err)
			}
			c.raw[i] += u.Tokens()
			c.weighted[i] += weighted
		}
		if c.raw[i] <= 0 || c.weighted[i] <= 0 || c.raw[i] > math.MaxInt64/100 || c.weighted[i] > math.MaxInt64/100 {
			return Comparison{}, fmt.Errorf("compare: %s: its tokens cannot be compared", side.Name)
		}
	}
	return c, nil
}

// weigh is the tokens of u, each times its price on r over that on base, rounded by class.
func weigh(u cost.Usage, r, base Rate) (int64, error) {
	if _, err := r.Cost(u, ""); err != nil {
		return 0, err
	}
	sum := int64(0)
	own, other := r.at(u).classes(u), base.at(u).classes(u)
	for i, c := range own {
		if c.count == 0 {
			continue
		}
		if other[i].price.micro == 0 {
			return 0, base.unpriced("as a base it needs a price of %s", c.name)
		}
		hi, lo := bits.Mul64(uint64(c.count), uint64(c.price.micro))
		tokens, ok := divide(hi, lo, uint64(other[i].price.micro))
		if !ok || tokens > math.MaxInt64-sum {
			return 0, r.unpriced("it weighs more than can be counted")
		}
		sum += tokens
	}
	return sum, nil
}

// String is all of the comparison.
func (c Comparison) String() string {
	if c.trials == 0 {
		return "no comparison"
	}
	raw := fmt.Sprintf("%d to %d tokens (%s)", c.raw[0], c.raw[1], times(c.raw[0], c.raw[1]))
	weighted := fmt.Sprintf("%d to %d (%s)", c.weighted[0], c.weighted[1], times(c.weighted[0], c.weighted[1]))
	return fmt.Sprintf("%s against %s: raw %s, weighted by price relative to %s, prices of %s, %s; n=%d; but: %s",
		c.names[0], c.names[1], raw, c.base, c.prices, weighted, c.trials, strings.Join(c.caveats, "; "))
}

// MarshalJSON writes all of it, or null where there is no comparison.
func (c Comparison) MarshalJSON() ([]byte, error) {
	if c.trials == 0 {
		return []byte("null"), nil
	}
	type side struct {
		Name     string `json:"name"`
		Raw      int64  `json:"rawTokens"`
		Weighted int64  `json:"weightedTokens"`
	}
	return json.Marshal(struct {
		Sides    [2]side  `json:"sides"`
		Raw      string   `json:"raw"`      // the first against the second
		Weighted string   `json:"weighted"` // by price
		Base     string   `json:"base"`     // the model whose tokens weigh 1
		Prices   string   `json:"prices"`   // date of its prices
		Trials   int      `json:"trials"`
		Caveats  []string `json:"caveats"`
	}{[2]side{{c.names[0], c.raw[0], c.weighted[0]}, {c.names[1], c.raw[1], c.weighted[1]}}, times(c.raw[0], c.raw[1]),
		times(c.weighted[0], c.weighted[1]), c.base, c.prices, c.trials, c.caveats})
}

// times is a/b with two decimals.
func times(a, b int64) string {
	hundredths := (a*100 + b/2) / b
	return fmt.Sprintf("%d.%02dx", hundredths/100, hundredths%100)
}
