package price

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"

	"aesop/cost"
)

// Counterfactual is what calls cost, and what the same tokens would have cost on one other model.
type Counterfactual struct {
	Baseline string    `json:"baseline"` // the model
	Prices   string    `json:"prices"`   // date of its prices
	Models   []Instead `json:"models"`   // by model
	Total    Instead   `json:"total"`
}

// Instead compares calls of one model. Only those that have both prices are in Actual and Baseline; the others are always
// told beside.
type Instead struct {
	Model          string     `json:"model"` // "" of the total
	Calls          int        `json:"calls"`
	Actual         cost.Money `json:"actualUsd"`
	Baseline       cost.Money `json:"baselineUsd"`
	Savings        cost.Money `json:"savingsUsd"`     // of Actual against Baseline; negative where the calls cost more
	Unpriced       int        `json:"unpriced"`       // calls without one of the prices: they are in neither sum, and not zero
	UnpricedTokens int64      `json:"unpricedTokens"` // as far as they are known
}

// Counterfactual prices the tokens of calls as those of the baseline model at a time. It takes calls and not their sums,
// because the size of each request decides its price. A baseline without a price is an error that wraps ErrUnpriced.
func (t Table) Counterfactual(baseline string, at time.Time, calls iter.Seq[cost.Call]) (Counterfactual, error) {
	r, err := t.rate(baseline, at)
	if err != nil {
		return Counterfactual{}, err
	}
	models, total := map[string]*Instead{}, Instead{}
	for c := range calls {
		m := models[c.Usage.Model]
		if m == nil {
			m = &Instead{Model: c.Usage.Model}
			models[c.Usage.Model] = m
		}
		would, err := r.of(c)
		m.add(c, would, err == nil && c.Cost != nil)
		total.add(c, would, err == nil && c.Cost != nil)
	}
	out := Counterfactual{Baseline: r.Model, Prices: r.Checked, Models: []Instead{}, Total: total}
	for _, model := range slices.Sorted(maps.Keys(models)) {
		out.Models = append(out.Models, *models[model])
	}
	return out, nil
}

// Known says that there are amounts: of calls that are all left out there are none.
func (i Instead) Known() bool { return i.Calls == 0 || i.Unpriced < i.Calls }

// MarshalJSON writes null for amounts that are not known, never 0.
func (i Instead) MarshalJSON() ([]byte, error) {
	type fields Instead // without this method
	out := struct {
		fields
		Actual   *cost.Money `json:"actualUsd"` // these in place of the others
		Baseline *cost.Money `json:"baselineUsd"`
		Savings  *cost.Money `json:"savingsUsd"`
	}{fields: fields(i)}
	if i.Known() {
		out.Actual, out.Baseline, out.Savings = &i.Actual, &i.Baseline, &i.Savings
	}
	return json.Marshal(out)
}

func (i *Instead) add(c cost.Call, would cost.Money, priced bool) {
	i.Calls++
	if !priced {
		i.Unpriced++
		i.UnpricedTokens += c.Usage.Tokens()
		return
	}
	add := func(a, b cost.Money) cost.Money { return cost.Amount{Money: a}.Add(cost.Amount{Money: b}).Money }
	i.Actual, i.Baseline = add(i.Actual, *c.Cost), add(i.Baseline, would)
	i.Savings = i.Baseline - i.Actual
}
