package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/examples/internal/cli"
)

// names are the flags that name calls.
type names struct {
	Item  string `help:"Only this item." placeholder:"ITEM"`
	Model string `help:"Only this model, as the rows name it." placeholder:"MODEL"`
}

func (n names) query() cost.Query { return cost.Query{Item: n.Item, Model: n.Model} }

type summaryCommand struct {
	common
	question
	names
	By       []string `help:"Add up by these, one row for each that there is: wave, item, model, backend, agent, phase, verdict, day." enum:"wave,item,model,backend,agent,phase,verdict,day" placeholder:"NAME"`
	Baseline string   `help:"Say also what the same tokens would have cost on this model, at today's prices." placeholder:"MODEL"`
}

func (summaryCommand) Help() string {
	return `Examples:

  cost summary --by wave,model
  cost summary --period daily --by day
  cost summary --wave 20261130-120000-1a2b --baseline claude-opus-5-5

What is not known is counted beside the sums, as calls that are unpriced or unmetered, and is in none of them. What is known of an unmetered
call, a part of its tokens, is.`
}

type summaryDocument struct {
	SchemaVersion  int                   `json:"schemaVersion"`
	Asked          asked                 `json:"asked"`
	Total          cost.Total            `json:"total"`
	Charged        cost.Amount           `json:"charged"` // what counts against limits: the total, and what was estimated
	By             []string              `json:"by"`
	Groups         []cost.Group          `json:"groups"`
	Counterfactual *price.Counterfactual `json:"counterfactual"`
	Health         health                `json:"health"`
}

func (cmd summaryCommand) Run(c *cli.Context) error {
	return cmd.with(c, false, func(c *cli.Context, b *books) error {
		return b.look(c, func(l look) error {
			document, err := cmd.document(b, l)
			if err != nil {
				return err
			}
			l.Health.warn(c)
			c.Print(document, document.print)
			return nil
		})
	})
}

func (cmd summaryCommand) document(b *books, l look) (summaryDocument, error) {
	q, err := cmd.ask(l.Now, cmd.query())
	if err != nil {
		return summaryDocument{}, err
	}
	selected, found := q.Select(l.Book)
	document := summaryDocument{SchemaVersion: schemaVersion, Asked: askedOf(q, selected), By: append([]string{}, cmd.By...), Groups: []cost.Group{}, Health: l.Health}
	if !found {
		document.Total = new(cost.Book).Total(cost.Query{})
		return document, nil
	}
	document.Total = l.Book.Total(selected)
	document.Charged = document.Total.Charge()
	if len(cmd.By) > 0 {
		document.Groups = groupsOf(l, selected, found, cmd.By)
	}
	if cmd.Baseline == "" {
		return document, nil
	}
	calls, failed := chosen(l.Calls, selected)
	would, err := b.prices.Counterfactual(cmd.Baseline, l.Now, calls)
	if errors.Is(err, price.ErrUnpriced) {
		return document, &cli.Problem{Code: "unpriced", Message: "--baseline: " + err.Error(), Hint: "name a model of cost prices list, or give its price in limits.prices"}
	}
	document.Counterfactual = &would
	return document, errors.Join(err, *failed)
}

// groupsOf are the groups of what is selected; none where what is asked for is not there.
func groupsOf(l look, selected cost.Query, found bool, by []string) []cost.Group {
	if !found {
		return []cost.Group{}
	}
	return l.Book.Groups(selected, dimensions(by)...)
}

func dimensions(names []string) []cost.Dimension {
	var by []cost.Dimension
	for _, name := range names {
		by = append(by, cost.Dimension(name))
	}
	return by
}

// chosen are the calls that q selects. failed has the error that ended them, once they were looped over.
func chosen(all iter.Seq2[cost.Call, error], q cost.Query) (calls iter.Seq[cost.Call], failed *error) {
	failed = new(error)
	return func(yield func(cost.Call) bool) {
		for call, err := range all {
			if err != nil {
				*failed = err
				return
			}
			if q.Selects(call) && !yield(call) {
				return
			}
		}
	}, failed
}

func (d summaryDocument) print(w io.Writer) {
	fmt.Fprintln(w, d.Asked)
	if d.Total.Calls == 0 {
		fmt.Fprintln(w, "no calls")
	}
	head := append(append([]string{}, d.By...), "calls", "input", "cache read", "cache write", "output", "usd", "unpriced", "unmetered")
	rows := [][]string{head}
	for _, g := range d.Groups {
		var cells []string
		for _, name := range d.By {
			value := cli.OneLine(g.Key[cost.Dimension(name)])
			if value == "" {
				value = "-"
			}
			cells = append(cells, value)
		}
		rows = append(rows, append(cells, figures(g.Total)...))
	}
	total := make([]string, len(d.By))
	if len(total) > 0 {
		total[0] = "total"
	}
	columns(w, len(d.By), append(rows, append(total, figures(d.Total)...)))
	if d.Total.Unpriced > 0 || d.Total.Unmetered > 0 {
		fmt.Fprintf(w, "%s unpriced and %d unmetered: what is not known is in no sum\n", counted(d.Total.Unpriced, "call"), d.Total.Unmetered)
	}
	if d.Total.EstimatedCalls > 0 {
		fmt.Fprintf(w, "estimated for %d of them, and charged beside the sums: %d tokens, %s\n", d.Total.EstimatedCalls, d.Total.Estimated.Tokens, money(d.Total.Estimated.Money))
	}
	if d.Counterfactual != nil {
		printInstead(w, *d.Counterfactual)
	}
}

// figures are the cells of a total. Where nothing at all is known of a figure it is -, not 0.
func figures(t cost.Total) []string {
	u, unmetered := t.Usage, t.Calls > 0 && t.Calls == t.Unmetered
	row := []string{fmt.Sprint(t.Calls)}
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite5m + u.CacheWrite1h, u.Output} {
		row = append(row, known(fmt.Sprint(n), n == 0 && unmetered))
	}
	return append(row, known(money(t.Cost), !t.Priced()), fmt.Sprint(t.Unpriced), fmt.Sprint(t.Unmetered))
}

func known(figure string, not bool) string {
	if not {
		return "-"
	}
	return figure
}

func printInstead(w io.Writer, would price.Counterfactual) {
	fmt.Fprintf(w, "\nhad %s done it, at its prices of %s:\n", would.Baseline, would.Prices)
	rows := [][]string{{"model", "calls", "cost", "would cost", "saved", "left out"}}
	row := func(name string, i price.Instead) {
		rows = append(rows, []string{name, fmt.Sprint(i.Calls), known(money(i.Actual), !i.Known()),
			known(money(i.Baseline), !i.Known()), known(money(i.Savings), !i.Known()), fmt.Sprint(i.Unpriced)})
	}
	for _, m := range would.Models {
		name := cli.OneLine(m.Model)
		if strings.TrimSpace(name) == "" {
			name = "-"
		}
		row(name, m)
	}
	row("total", would.Total)
	columns(w, 1, rows)
}
