package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"aesop/cost"
)

// counts are what a result says that each model used, sub-agents included.
type counts map[string]json.RawMessage

// addTo adds the counts to sum, by model. It is an error where one cannot be, or is not known.
func (c counts) addTo(sum map[string]cost.Usage) error {
	for model, text := range c {
		u, err := cost.ClaudeModel(model, text)
		if err != nil {
			return err
		}
		if !u.Metered {
			return fmt.Errorf("the usage of %s is not known", model)
		}
		if old, known := sum[model]; known {
			u = u.Add(old)
		}
		if err := u.Check(); err != nil {
			return err
		}
		sum[model] = u
	}
	return nil
}

// byModel is a row for each model.
func byModel(sum map[string]cost.Usage) (rows []cost.Usage) {
	for _, model := range slices.Sorted(maps.Keys(sum)) {
		rows = append(rows, sum[model])
	}
	return rows
}

// calls are the messages of the API that were seen, by id. One is seen several times, with counts that only grow.
type calls struct {
	ids    []string
	usages map[string]cost.Usage
	opened map[string]bool // begun and not ended
}

func newCalls() calls { return calls{usages: map[string]cost.Usage{}, opened: map[string]bool{}} }

// see says whether the counts of the message grew.
func (c *calls) see(id, model string, text json.RawMessage) bool {
	now, err := cost.Anthropic(model, text)
	if err != nil || now == (cost.Usage{Model: model}) {
		return false
	}
	old, known := c.usages[id]
	if !known {
		c.ids = append(c.ids, id)
	}
	grown := cost.Usage{Model: old.Model, Input: max(old.Input, now.Input), CacheRead: max(old.CacheRead, now.CacheRead),
		CacheWrite5m: old.CacheWrite5m, CacheWrite1h: old.CacheWrite1h,
		Output: max(old.Output, now.Output), Reasoning: max(old.Reasoning, now.Reasoning), Metered: old.Metered || now.Metered}
	if now.CacheWrite5m+now.CacheWrite1h > old.CacheWrite5m+old.CacheWrite1h { // together: the end of a message does not split them
		grown.CacheWrite5m, grown.CacheWrite1h = now.CacheWrite5m, now.CacheWrite1h
	}
	if model != "" {
		grown.Model = model
	}
	c.usages[id] = grown
	return grown != old
}

func (c *calls) open(id string)  { c.opened[id] = true }
func (c *calls) close(id string) { delete(c.opened, id) }

// cut says that the end of a message was not seen.
func (c *calls) cut() bool { return len(c.opened) > 0 }

// all are the calls in order.
func (c *calls) all() []cost.Usage {
	var all []cost.Usage
	for _, id := range c.ids {
		all = append(all, c.usages[id])
	}
	return all
}
