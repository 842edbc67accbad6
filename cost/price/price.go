package price

import (
	"encoding/json"
	"fmt"

	"aesop/cost"
)

// Price is what a million tokens of one class cost, exact to the micro-dollar. The zero Price is not known, which is not
// free.
type Price struct {
	micro int64
	known bool
}

// most is far above any price of a token, so that what is more is a mistake of the unit.
const most = 10_000 * cost.Dollar

// ParsePrice reads a decimal number of dollars for a million tokens, such as 3, 0.125 or 0. More than six decimals, a sign,
// an exponent, and more than 10,000 dollars are errors.
func ParsePrice(text string) (Price, error) {
	nano, err := cost.ParseMoney(text)
	switch {
	case err != nil:
		return Price{}, fmt.Errorf("%.40q is not a price in dollars for a million tokens, such as 3 or 0.125", text)
	case nano%1000 != 0:
		return Price{}, fmt.Errorf("%.40q has more than six decimals", text)
	case nano > most:
		return Price{}, fmt.Errorf("%.40q dollars for a million tokens are more than anyone asks; is it per million?", text)
	}
	return Price{micro: int64(nano / 1000), known: true}, nil
}

// Micro is the price in micro-dollars for a million tokens, which is pico-dollars for one; not ok where the price is not
// known.
func (p Price) Micro() (micro int64, ok bool) { return p.micro, p.known }

// String is the price in dollars for a million tokens, such as 0.125; "-" where it is not known.
func (p Price) String() string {
	if !p.known {
		return "-"
	}
	return cost.Money(p.micro * 1000).String()
}

// MarshalJSON writes the decimal in a string, and null for what is not known.
func (p Price) MarshalJSON() ([]byte, error) {
	if !p.known {
		return []byte("null"), nil
	}
	return json.Marshal(p.String())
}

// Prices are those of the classes of a cost.Usage. Each is a number of its own: vendors' ratios differ by model.
type Prices struct {
	Input        Price `json:"input"`
	Output       Price `json:"output"`
	CacheRead    Price `json:"cacheRead"`
	CacheWrite5m Price `json:"cacheWrite5m"`
	CacheWrite1h Price `json:"cacheWrite1h"`
}

// class is one class of tokens with its price.
type class struct {
	name  string
	count int64
	price Price
}

// classes pairs the prices with the counts of u.
func (p Prices) classes(u cost.Usage) [5]class {
	return [5]class{{"input", u.Input, p.Input}, {"output", u.Output, p.Output}, {"cacheRead", u.CacheRead, p.CacheRead},
		{"cacheWrite5m", u.CacheWrite5m, p.CacheWrite5m}, {"cacheWrite1h", u.CacheWrite1h, p.CacheWrite1h}}
}

// Factor multiplies all prices of a request, in thousandths. The zero Factor is not known.
type Factor int64

// standard is the factor of the service that has no name.
const standard Factor = 1000

// ParseFactor reads a decimal such as 0.5 or 2, above 0 and at most 100, with at most three decimals.
func ParseFactor(text string) (Factor, error) {
	nano, err := cost.ParseMoney(text)
	if err != nil || nano%1_000_000 != 0 || nano == 0 || nano > 100*cost.Dollar {
		return 0, fmt.Errorf("%.40q is not a factor, such as 0.5, above 0 and at most 100, with at most three decimals", text)
	}
	return Factor(nano / 1_000_000), nil
}

// MarshalJSON writes the decimal in a string, and null for what is not known.
func (f Factor) MarshalJSON() ([]byte, error) {
	if f == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(cost.Money(f * 1_000_000).String())
}
