package journal

import (
	"cmp"

	"aesop/cost"
)

// Charge is what agents cost, as their ledger rows add up.
type Charge struct {
	USD   cost.Money `json:"usd"`   // of what is priced
	Known bool       `json:"known"` // that is all of it
	// Estimated was charged to limits in place of what is not known.
	Estimated cost.Amount `json:"estimated,omitzero"`
	// Passed is what was reserved, where more was used: the driver told of that too late to end the agent. Nil: no more was.
	Passed *cost.Amount `json:"passed,omitempty"`
}

// Add sums two charges; nil is that no agent was started.
func (c *Charge) Add(v *Charge) *Charge {
	switch {
	case c == nil:
		return v
	case v == nil:
		return c
	}
	return &Charge{USD: cost.Amount{Money: c.USD}.Add(cost.Amount{Money: v.USD}).Money, Known: c.Known && v.Known, Estimated: c.Estimated.Add(v.Estimated), Passed: cmp.Or(c.Passed, v.Passed)}
}

// charge is what the attempt cost. One without a Charge started no agent, or is of a version that counted no money.
func (e AttemptEnded) charge() *Charge {
	if e.Charge == nil && (!e.Usage.Metered || e.Usage.Tokens() > 0) {
		return &Charge{}
	}
	return e.Charge
}

// Budgeted is how the limits stood when a process was done with the wave.
type Budgeted struct {
	Limits    []LimitState `json:"limits"`
	Unpriced  cost.Policy  `json:"unpriced"` // what becomes of work without a price
	Unmetered cost.Policy  `json:"unmetered"`
	Prices    string       `json:"prices"`             // date of the price table
	Warnings  []string     `json:"warnings,omitempty"` // what makes the figures doubtful
}

// LimitState is a limit. Its figures are tokens, or dollars with decimals.
type LimitState struct {
	Name  string `json:"name"` // its key in the configuration
	Item  string `json:"item,omitempty"`
	Unit  string `json:"unit"` // tokens or usd
	Limit string `json:"limit"`
	Spent string `json:"spent"`
	// Estimated is the part of Spent that was charged in place of what is not known.
	Estimated string `json:"estimated"`
	Reserved  string `json:"reserved"`
	Unknown   int    `json:"unknown"` // calls that are not in Spent, since nobody knows what they used or cost
	Soft      bool   `json:"soft"`
	State     string `json:"state"` // below, reached or passed
}

// Alerted are alerts that were due.
type Alerted struct {
	Alerts []AlertState `json:"alerts"`
}

// AlertState is what became of one alert.
type AlertState struct {
	Limit     string `json:"limit"`
	Item      string `json:"item,omitempty"`
	Kind      string `json:"kind"`      // spend or projection
	Threshold int    `json:"threshold"` // percent of the limit
	State     string `json:"state"`     // fired, already or failed
	Error     string `json:"error,omitempty"`
}

// Same says that both are about the same alert.
func (a AlertState) Same(b AlertState) bool {
	return a.Limit == b.Limit && a.Item == b.Item && a.Kind == b.Kind && a.Threshold == b.Threshold
}
