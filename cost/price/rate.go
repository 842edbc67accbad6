package price

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"aesop/cost"
)

// Rate is a row of a Table: what a model's tokens cost, from a date on.
type Rate struct {
	Model   string   `json:"model"`
	Aliases []string `json:"aliases,omitempty"` // other names of the model
	From    string   `json:"from,omitempty"`    // first UTC date on which the row counts, as 2026-11-30; "": since ever
	Checked string   `json:"checked"`           // date on which its table was compared with its sources
	Source  string   `json:"source"`            // where the prices were read
	Prices
	Tiers []Tier `json:"tiers,omitempty"` // ascending
	Batch Factor `json:"batch"`
	Fast  Factor `json:"fast"`
}

// Tier are the prices of a whole request whose prompt, caches included, has more than Above tokens.
type Tier struct {
	Above int64 `json:"above"`
	Prices
}

// ErrUnpriced is what every error of pricing wraps: what the tokens cost is not known. It is not zero.
var ErrUnpriced = errors.New("unpriced")

func (r Rate) unpriced(format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", r.Model, fmt.Sprintf(format, args...), ErrUnpriced)
}

// Cost is what one request costs that used u, rounded once, half up, to the nano-dollar. The service is that of a cost.Call:
// "", batch or fast. Usage that is unmetered, that used a class without a price, or of a service without a factor is
// unpriced.
func (r Rate) Cost(u cost.Usage, service string) (cost.Money, error) {
	return r.cost(r.at(u), u, service)
}

// CostOfSum is what several requests cost that used u together: between low and high, which differ only where a tier may
// apply to some of them.
func (r Rate) CostOfSum(u cost.Usage, service string) (low, high cost.Money, err error) {
	if low, err = r.cost(r.Prices, u, service); err != nil {
		return 0, 0, err
	}
	high = low
	for _, t := range r.Tiers {
		if prompt(u) <= t.Above {
			break
		}
		money, err := r.cost(t.Prices, u, service)
		if err != nil {
			return 0, 0, err
		}
		low, high = min(low, money), max(high, money)
	}
	return low, high, nil
}

// of is what a call costs.
func (r Rate) of(c cost.Call) (cost.Money, error) {
	if !c.Summed {
		return r.Cost(c.Usage, c.Service)
	}
	low, high, err := r.CostOfSum(c.Usage, c.Service)
	if err == nil && low != high {
		err = r.unpriced("it cost between $%s and $%s, by the sizes of its requests, which are not known", low, high)
	}
	return high, err
}

func (r Rate) cost(prices Prices, u cost.Usage, service string) (cost.Money, error) {
	factor, err := r.factor(service)
	if err != nil {
		return 0, err
	}
	if !u.Metered {
		return 0, r.unpriced("its usage is not known")
	}
	if err := u.Check(); err != nil {
		return 0, r.unpriced("%v", err)
	}
	var hi, lo uint64 // femto-dollars: a count is at most 2^40, and a price with its factor below 2^51
	for _, c := range prices.classes(u) {
		if c.count == 0 {
			continue
		}
		if !c.price.known {
			return 0, r.unpriced("it used %d tokens of %s, which has no price", c.count, c.name)
		}
		h, l := bits.Mul64(uint64(c.count), uint64(c.price.micro)*uint64(factor))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	nano, ok := divide(hi, lo, 1_000_000)
	if !ok {
		return 0, r.unpriced("it used more than money can count")
	}
	return cost.Money(nano), nil
}

// factor is that of a service.
func (r Rate) factor(service string) (Factor, error) {
	known, ok := map[string]Factor{"": standard, "batch": r.Batch, "fast": r.Fast}[service]
	switch {
	case !ok:
		return 0, r.unpriced("there is no service %.40q", service)
	case known == 0:
		return 0, r.unpriced("the %s service has no price", service)
	}
	return known, nil
}

// at are the prices for a request of u's size.
func (r Rate) at(u cost.Usage) Prices {
	prices := r.Prices
	for _, t := range r.Tiers {
		if prompt(u) > t.Above {
			prices = t.Prices
		}
	}
	return prices
}

// prompt is the size of a request, caches included.
func prompt(u cost.Usage) int64 { return u.Tokens() - u.Output }

// divide is the 128-bit number by d, rounded half up; not ok where that is more than an int64.
func divide(hi, lo, d uint64) (int64, bool) {
	if hi >= d {
		return 0, false
	}
	q, rest := bits.Div64(hi, lo, d)
	if rest >= d-rest {
		q++
	}
	return int64(q), q <= math.MaxInt64
}
