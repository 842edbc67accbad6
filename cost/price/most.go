package price

import "aesop/cost"

// Most is the most that a call can have cost which Charge could not price: by the dearest tier of its model, where that is known, else
// by the dearest model of the table. It is false where the table has no price for such usage.
func (t Table) Most(c cost.Call) (cost.Money, bool) {
	if rate, ok := t.Price(c.Usage.Model, c.At); ok {
		if _, high, err := rate.CostOfSum(c.Usage, c.Service); err == nil {
			return high, true
		}
	}
	most, found := cost.Money(0), false
	for model := range t.models {
		rate, ok := t.Price(model, c.At)
		if !ok {
			continue
		}
		if _, high, err := rate.CostOfSum(c.Usage, c.Service); err == nil {
			most, found = max(most, high), true
		}
	}
	return most, found
}
