// Package cost counts what agents use. Token counts are vectors of disjoint classes, so that adding them never counts a
// token twice, whatever a vendor's own fields overlap. Money is in integers.
//
// A Call is one row: what a model call used and, as far as it is known, what that cost. A Ledger keeps rows, in a store or in a file. A
// Book adds them up, and is the only thing that does: a Query with one half-open Window selects, Total and Groups answer. A Projector
// tells from a Book where spending is going, and Alerts tell people before it is there. What is not known is never 0: it is counted
// beside the sums, or is nil.
package cost

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Usage is what one or more model calls used, in tokens. The classes are disjoint but for Reasoning, which is the part of
// Output that was not shown. The zero Usage is unmetered: nothing is known, which is not the same as nothing used.
type Usage struct {
	Model        string // the model that answered; empty where it is not known or where several are summed
	Input        int64  // prompt tokens that were neither read from nor written to a cache
	CacheRead    int64
	CacheWrite5m int64
	CacheWrite1h int64
	Output       int64 // reasoning included
	Reasoning    int64
	Metered      bool // false: the other figures are unknown, or only part of the truth
}

// Add sums two usages; a count that is more than can be counted stays at the most. The sum is metered only if both are; a model name survives only if both agree.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Input:        addUp(u.Input, v.Input),
		CacheRead:    addUp(u.CacheRead, v.CacheRead),
		CacheWrite5m: addUp(u.CacheWrite5m, v.CacheWrite5m),
		CacheWrite1h: addUp(u.CacheWrite1h, v.CacheWrite1h),
		Output:       addUp(u.Output, v.Output),
		Reasoning:    addUp(u.Reasoning, v.Reasoning),
		Metered:      u.Metered && v.Metered,
	}
	if u.Model == v.Model {
		sum.Model = u.Model
	}
	return sum
}

// Tokens is the sum of the classes.
func (u Usage) Tokens() int64 {
	return addUp(addUp(addUp(u.Input, u.CacheRead), addUp(u.CacheWrite5m, u.CacheWrite1h)), u.Output)
}

// Sum adds usages; the sum of none is unmetered.
func Sum(all ...Usage) Usage {
	if len(all) == 0 {
		return Usage{}
	}
	sum := all[0]
	for _, u := range all[1:] {
		sum = sum.Add(u)
	}
	return sum
}

// maxCount is more than any call can use, so that a count above it is an error of whoever counted.
const maxCount = 1 << 40

// Check refuses counts that cannot be: below zero, greater than any call's, or more reasoning than output.
func (u Usage) Check() error {
	for _, c := range []struct {
		name  string
		count int64
	}{{"input", u.Input}, {"cacheRead", u.CacheRead}, {"cacheWrite5m", u.CacheWrite5m}, {"cacheWrite1h", u.CacheWrite1h},
		{"output", u.Output}, {"reasoning", u.Reasoning}} {
		if c.count < 0 {
			return fmt.Errorf("usage: %s is %d, must not be negative", c.name, c.count)
		}
		if c.count > maxCount {
			return fmt.Errorf("usage: %s is %d, more than any call can use", c.name, c.count)
		}
	}
	if u.Reasoning > u.Output {
		return fmt.Errorf("usage: reasoning is %d, more than the output of %d", u.Reasoning, u.Output)
	}
	return nil
}

type usageJSON struct {
	Model        string `json:"model,omitempty"`
	Input        *int64 `json:"input"`
	CacheRead    *int64 `json:"cacheRead"`
	CacheWrite5m *int64 `json:"cacheWrite5m"`
	CacheWrite1h *int64 `json:"cacheWrite1h"`
	Output       *int64 `json:"output"`
	Reasoning    *int64 `json:"reasoning"`
	Metered      bool   `json:"metered"`
}

// MarshalJSON writes the figures of an unmetered usage as null, never as 0.
func (u Usage) MarshalJSON() ([]byte, error) {
	out := usageJSON{Model: u.Model, Metered: u.Metered}
	if u.Metered {
		out.Input, out.CacheRead, out.CacheWrite5m, out.CacheWrite1h = &u.Input, &u.CacheRead, &u.CacheWrite5m, &u.CacheWrite1h
		out.Output, out.Reasoning = &u.Output, &u.Reasoning
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote. Usage that is metered must say what every call has, the input and the output.
func (u *Usage) UnmarshalJSON(data []byte) error {
	var in usageJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Metered && (in.Input == nil || in.Output == nil) {
		return errors.New("usage: it is metered, but input or output is missing")
	}
	count := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	*u = Usage{Model: in.Model, Input: count(in.Input), CacheRead: count(in.CacheRead), CacheWrite5m: count(in.CacheWrite5m),
		CacheWrite1h: count(in.CacheWrite1h), Output: count(in.Output), Reasoning: count(in.Reasoning), Metered: in.Metered}
	return nil
}
