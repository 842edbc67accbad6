package ledgerfile

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"aesop/cost"
)

// WritePrometheus writes totals in the text format of Prometheus, a set of counters for each group. Take dimensions that have few
// values: not items, and waves only where old ones are dropped. What is not known has counters of its own and is not in the others.
func WritePrometheus(w io.Writer, groups []cost.Group) error {
	out := bufio.NewWriter(w)
	for _, m := range metrics() {
		fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", m.name, m.help, m.name)
		for _, g := range groups {
			labels := labelsOf(g.Key)
			for _, s := range m.samples(g.Total) {
				all := labels
				if s.class != "" {
					all = append(labels[:len(labels):len(labels)], fmt.Sprintf("class=%q", s.class))
				}
				set := ""
				if len(all) > 0 {
					set = "{" + strings.Join(all, ",") + "}"
				}
				fmt.Fprintf(out, "%s%s %s\n", m.name, set, s.value)
			}
		}
	}
	return out.Flush() // which tells of the first write that went wrong
}

type metric struct {
	name, help string
	samples    func(cost.Total) []sample
}

type sample struct{ class, value string }

func metrics() []metric {
	one := func(of func(cost.Total) any) func(cost.Total) []sample {
		return func(t cost.Total) []sample { return []sample{{"", fmt.Sprint(of(t))}} }
	}
	return []metric{
		{"aesop_calls_total", "Model calls.", one(func(t cost.Total) any { return t.Calls })},
		{"aesop_tokens_total", "Tokens by class, as far as the calls are metered.", func(t cost.Total) []sample {
			u := t.Usage
			return []sample{{"input", fmt.Sprint(u.Input)}, {"cache_read", fmt.Sprint(u.CacheRead)}, {"cache_write_5m", fmt.Sprint(u.CacheWrite5m)},
				{"cache_write_1h", fmt.Sprint(u.CacheWrite1h)}, {"output", fmt.Sprint(u.Output)}}
		}},
		{"aesop_reasoning_tokens_total", "Tokens of class output that were not shown.", one(func(t cost.Total) any { return t.Usage.Reasoning })},
		{"aesop_cost_usd_total", "US dollars of the calls that have a price.", one(func(t cost.Total) any { return t.Cost })},
		{"aesop_unpriced_calls_total", "Calls without a price.", one(func(t cost.Total) any { return t.Unpriced })},
		{"aesop_unmetered_calls_total", "Calls of which the tokens are not known in full.", one(func(t cost.Total) any { return t.Unmetered })},
		{"aesop_estimated_tokens_total", "Tokens charged in place of what is not known.", one(func(t cost.Total) any { return t.Estimated.Tokens })},
		{"aesop_estimated_usd_total", "US dollars charged in place of what is not known.", one(func(t cost.Total) any { return t.Estimated.Money })},
	}
}

// labelsOf is in the order of cost's dimensions.
func labelsOf(key map[cost.Dimension]string) []string {
	var labels []string
	for _, d := range []cost.Dimension{cost.ByWave, cost.ByItem, cost.ByModel, cost.ByBackend, cost.ByAgent, cost.ByPhase, cost.ByVerdict, cost.ByDay} {
		if value, ok := key[d]; ok {
			value = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
			labels = append(labels, fmt.Sprintf(`%s="%s"`, d, value))
		}
	}
	return labels
}
