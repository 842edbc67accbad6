package claude

import (
	"maps"
	"slices"

	"aesop/cost"
)

// usage is what a message of the API used. Input excludes what a cache had or got.
type usage struct {
	Input         int64  `json:"input_tokens"`
	CacheRead     int64  `json:"cache_read_input_tokens"`
	CacheCreation int64  `json:"cache_creation_input_tokens"`
	Output        int64  `json:"output_tokens"`
	Details       detail `json:"output_tokens_details"`
	Creation      struct {
		OneHour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

type detail struct {
	Thinking int64 `json:"thinking_tokens"`
}

func (u usage) classes(model string) cost.Usage {
	return modelUsage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheCreation: u.CacheCreation, OneHour: u.Creation.OneHour,
		Thinking: u.Details.Thinking}.classes(model)
}

// modelUsage is what all messages of a model used, sub-agents' included.
type modelUsage struct {
	Input         int64 `json:"inputTokens"`
	Output        int64 `json:"outputTokens"`
	CacheRead     int64 `json:"cacheReadInputTokens"`
	CacheCreation int64 `json:"cacheCreationInputTokens"`
	OneHour       int64 `json:"cacheCreationEphemeral1hInputTokens"`
	Thinking      int64 `json:"thinkingTokens"`
}

func (u modelUsage) add(v modelUsage) modelUsage {
	return modelUsage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheCreation + v.CacheCreation,
		u.OneHour + v.OneHour, u.Thinking + v.Thinking}
}

func (u modelUsage) classes(model string) cost.Usage {
	return cost.Usage{Model: model, Input: u.Input, CacheRead: u.CacheRead, CacheWrite5m: max(0, u.CacheCreation-u.OneHour),
		CacheWrite1h: u.OneHour, Output: u.Output, Reasoning: min(u.Thinking, u.Output), Metered: true}
}

// byModel is a row for each model; not ok where a count cannot be.
func byModel(sum map[string]modelUsage) (rows []cost.Usage, ok bool) {
	for _, model := range slices.Sorted(maps.Keys(sum)) {
		row := sum[model].classes(model)
		if row.Check() != nil {
			return nil, false
		}
		rows = append(rows, row)
	}
	return rows, true
}

// calls are the messages of the API that were seen, by id. One is seen several times, with counts that only grow.
type calls struct {
	ids    []string
	usages map[string]cost.Usage
	opened map[string]bool // begun and not ended
}

func newCalls() calls { return calls{usages: map[string]cost.Usage{}, opened: map[string]bool{}} }

// see says whether the counts of the message grew.
func (c *calls) see(id, model string, u usage) bool {
	old, known := c.usages[id]
	if !known {
		c.ids = append(c.ids, id)
	}
	now := u.classes(model)
	grown := cost.Usage{Model: old.Model, Input: max(old.Input, now.Input), CacheRead: max(old.CacheRead, now.CacheRead),
		CacheWrite5m: max(old.CacheWrite5m, now.CacheWrite5m), CacheWrite1h: max(old.CacheWrite1h, now.CacheWrite1h),
		Output: max(old.Output, now.Output), Reasoning: max(old.Reasoning, now.Reasoning), Metered: true}
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
