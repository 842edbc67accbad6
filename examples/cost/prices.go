package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/examples/internal/cli"
)

type pricesCommand struct {
	List  pricesListCommand  `cmd:"" help:"Show the prices that count."`
	Check pricesCheckCommand `cmd:"" help:"Look for prices that are old, missing, or said otherwise elsewhere."`
}

// dated is the flag of the day that prices are looked at for.
type dated struct {
	At string `help:"The day (default: today, in UTC)." placeholder:"DATE"`
}

func (d dated) day() (time.Time, error) {
	if d.At == "" {
		return time.Now().UTC(), nil
	}
	at, err := time.Parse(time.DateOnly, d.At)
	if err != nil {
		return at, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--at is %q, which is no day", d.At), Hint: "write it as 2027-01-31"}
	}
	return at, nil
}

type pricesListCommand struct {
	common
	dated
}

func (pricesListCommand) Help() string {
	return `Examples:

  cost prices list
  cost prices list --at 2027-01-31 --json

In dollars for a million tokens. They are those of the vendors' lists that came with this program, and over them those of the file that
limits.prices names.`
}

type pricesDocument struct {
	SchemaVersion int          `json:"schemaVersion"`
	At            string       `json:"at"`
	Rows          []price.Rate `json:"rows"`
}

func (cmd pricesListCommand) Run(c *cli.Context) error {
	at, table, err := cmd.read(cmd.dated)
	if err != nil {
		return err
	}
	document := pricesDocument{schemaVersion, at.Format(time.DateOnly), table.Current(at)}
	c.Print(document, func(w io.Writer) {
		rows := [][]string{{"model", "input", "output", "cache read", "write 5m", "write 1h", "checked", ""}}
		for _, r := range document.Rows {
			rows = append(rows, []string{r.Model, r.Input.String(), r.Output.String(), r.CacheRead.String(), r.CacheWrite5m.String(), r.CacheWrite1h.String(), r.Checked, ""})
			for _, t := range r.Tiers {
				rows = append(rows, []string{fmt.Sprintf("  above %d", t.Above), t.Input.String(), t.Output.String(), t.CacheRead.String(), t.CacheWrite5m.String(), t.CacheWrite1h.String(), "", ""})
			}
		}
		columns(w, 1, rows)
	})
	return nil
}

// read is the prices of the configuration, and the day to look at.
func (f common) read(d dated) (time.Time, price.Table, error) {
	settings, _, err := f.shared().Load(nil)
	if err != nil {
		return time.Time{}, price.Table{}, err
	}
	table, err := settings.Limits.Table()
	if err != nil {
		return time.Time{}, table, err
	}
	at, err := d.day()
	return at, table, err
}

type pricesCheckCommand struct {
	common
	dated
	Litellm string `name:"litellm" help:"Compare with a model_prices_and_context_window.json of LiteLLM, in place of the rest." placeholder:"FILE"`
}

func (pricesCheckCommand) Help() string {
	return `Examples:

  cost prices check
  cost prices check --litellm model_prices_and_context_window.json

It looks for prices that were last compared with their source too long ago, for models that the ledger has and the prices do not, and for models
of limits.models that neither of the two knows. Exit 1 where something is found. It also names models with calls that stay unpriced although
their model has a price: agents told the sum of several requests, and a dearer price for long prompts may count for some.`
}

type pricesCheckDocument struct {
	SchemaVersion int                `json:"schemaVersion"`
	Outcome       string             `json:"outcome"`  // good or found
	Old           string             `json:"old"`      // a warning, or ""
	Unpriced      []unpricedModel    `json:"unpriced"` // models of the ledger that have no price
	Unknown       []string           `json:"unknown"`  // models of limits.models that neither prices nor ledger know
	Between       []betweenModel     `json:"between"`  // no fault of the prices
	Compared      int                `json:"compared"` // models that both tables have
	Differences   []price.Difference `json:"differences"`
}

type unpricedModel struct {
	Model  string `json:"model"`
	Calls  int    `json:"calls"`
	Tokens int64  `json:"tokens"` // as far as they are known
}

// betweenModel is a priced model with calls that are between two bounds: they sum several requests, and a tier may apply to some.
type betweenModel struct {
	Model string     `json:"model"`
	Calls int        `json:"calls"`
	Low   cost.Money `json:"lowUsd"`
	High  cost.Money `json:"highUsd"`
}

func (cmd pricesCheckCommand) Run(c *cli.Context) error {
	at, table, err := cmd.read(cmd.dated)
	if err != nil {
		return err
	}
	document := pricesCheckDocument{SchemaVersion: schemaVersion, Outcome: "good", Unpriced: []unpricedModel{}, Unknown: []string{}, Between: []betweenModel{}, Differences: []price.Difference{}}
	if cmd.Litellm != "" {
		data, err := os.ReadFile(cmd.Litellm)
		if err != nil {
			return &cli.Problem{Code: "unreadable", Message: "--litellm: " + err.Error(), Hint: "name a file that can be read"}
		}
		other, skipped, err := price.ReadLiteLLM(data, at)
		if err != nil {
			return &cli.Problem{Code: "syntax", Message: cmd.Litellm + ": " + err.Error(), Hint: "give the file as LiteLLM has it"}
		}
		document.Differences, document.Compared = table.Differences(other, at)
		if document.Compared == 0 {
			return &cli.Problem{Code: "not_comparable", Message: fmt.Sprintf("%s: none of its %s (%d more could not be read) is one that has a price here", cmd.Litellm,
				counted(len(other.Rates()), "model"), len(skipped)), Hint: "see cost prices list for those that have; give the file as LiteLLM has it"}
		}
	} else {
		document.Old = table.Age(at)
		err = cmd.with(c, false, func(c *cli.Context, b *books) error {
			return b.look(c, func(l look) error {
				document.Unpriced = unpriced(table, at, l.Book)
				document.Unknown = unknown(table, at, l.Book, b.settings.Limits.Limits)
				l.Health.warn(c)
				var err error
				document.Between, err = between(table, l)
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	found := document.Old != "" || len(document.Unpriced)+len(document.Unknown)+len(document.Differences) > 0
	if found {
		document.Outcome = "found"
	}
	c.Print(document, document.print)
	if found {
		return &cli.Exit{Code: cli.NotGood}
	}
	return nil
}

// unpriced are the models of a book that the table has no price for.
func unpriced(table price.Table, at time.Time, book *cost.Book) []unpricedModel {
	all := []unpricedModel{}
	for _, g := range book.Groups(cost.Query{}, cost.ByModel) {
		model := g.Key[cost.ByModel]
		if _, ok := table.Price(model, at); !ok {
			all = append(all, unpricedModel{model, g.Total.Calls, g.Total.Usage.Tokens()})
		}
	}
	return all
}

// unknown are the models of limits that no price and no call names: most likely misspelt, and then they limit nothing.
func unknown(table price.Table, at time.Time, book *cost.Book, limits []cost.Limit) []string {
	all := []string{}
	called := map[string]bool{}
	for _, g := range book.Groups(cost.Query{}, cost.ByModel) {
		called[table.Name(g.Key[cost.ByModel])] = true
	}
	for _, l := range limits {
		if _, priced := table.Price(l.Model, at); l.Scope == cost.PerModel && !priced && !called[table.Name(l.Model)] && !slices.Contains(all, l.Model) {
			all = append(all, l.Model)
		}
	}
	return all
}

// between are the calls whose cost is only known to be between two bounds, by model.
func between(table price.Table, l look) ([]betweenModel, error) {
	models := map[string]betweenModel{}
	for call, err := range l.Calls {
		if err != nil {
			return nil, err
		}
		rate, ok := table.Price(call.Usage.Model, call.At)
		if !ok || call.Cost != nil || !call.Summed {
			continue
		}
		if low, high, err := rate.CostOfSum(call.Usage, call.Service); err == nil && low != high {
			m := models[call.Usage.Model]
			models[call.Usage.Model] = betweenModel{call.Usage.Model, m.Calls + 1, m.Low + low, m.High + high}
		}
	}
	all := []betweenModel{}
	for _, model := range slices.Sorted(maps.Keys(models)) {
		all = append(all, models[model])
	}
	return all, nil
}

func (d pricesCheckDocument) print(w io.Writer) {
	if d.Old != "" {
		fmt.Fprintln(w, "old:", d.Old)
	}
	for _, m := range d.Unpriced {
		name := cli.OneLine(m.Model)
		if name == "" {
			name = "no model"
		}
		fmt.Fprintf(w, "unpriced: %s, %s, %s\n", name, counted(m.Calls, "call"), counted(int(m.Tokens), "token"))
	}
	if len(d.Unpriced) > 0 {
		fmt.Fprintln(w, "give their prices in the file that limits.prices names")
	}
	for _, model := range d.Unknown {
		fmt.Fprintf(w, "unknown: %s of limits.models, which no price and no call names; is it misspelt?\n", cli.OneLine(model))
	}
	for _, m := range d.Between {
		fmt.Fprintf(w, "between: %s, %s of several requests each, which cost from %s to %s in all\n", cli.OneLine(m.Model), counted(m.Calls, "call"), money(m.Low), money(m.High))
	}
	for _, x := range d.Differences {
		fmt.Fprintln(w, "differs:", cli.OneLine(x.String()))
	}
	if d.Compared > 0 {
		fmt.Fprintf(w, "in both: %s\n", counted(d.Compared, "model"))
	}
	if d.Outcome == "good" {
		fmt.Fprintln(w, "good")
	}
}
