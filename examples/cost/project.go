package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aesop/cost"
	"aesop/examples/internal/cli"
	"aesop/statestore/ledger"
)

type projectCommand struct {
	common
	question
	Horizon int      `help:"By the rate of late, what the next MIN minutes will add (default: 60)." default:"60" placeholder:"MIN"`
	Open    string   `help:"In place of a horizon, what is left to do: a number of items, or their names with commas." placeholder:"N|ITEM,…"`
	Recent  int      `help:"The rate is that of the last MIN minutes (default: 30)." default:"30" placeholder:"MIN"`
	By      []string `help:"Project each of these by itself too." enum:"wave,item,model,backend,agent,phase,verdict" placeholder:"NAME"`
	Alerts  bool     `help:"Tell of each limit that is at 70, 90 or 100 percent, spent or projected, once: a line in alerts.jsonl of the engine's folder."`
}

func (projectCommand) Help() string {
	return `Examples:

  cost project --horizon 120
  cost project --period wave --open 3
  cost project --period wave --open tax,round --by model --alerts

Spent is what cost summary says for the same flags. The rest is what open items will cost, judged by the finished ones, or else the rate of late
until the horizon. With few samples the state is thin; with none there are no figures. Limits are as for cost ceiling. Of an alert that is
due it says fired, already or failed; a failed one is tried again the next time, and makes the exit code 2.`
}

type projectDocument struct {
	SchemaVersion int                   `json:"schemaVersion"`
	Asked         asked                 `json:"asked"`
	Projection    cost.Projection       `json:"projection"`
	Charged       cost.Amount           `json:"charged"` // of what is spent
	By            []string              `json:"by"`
	Groups        []cost.ProjectedGroup `json:"groups"`
	Limits        []projectedLimit      `json:"limits"`
	Alerts        []cost.AlertResult    `json:"alerts"`
	Health        health                `json:"health"`
	told          bool                  // alerts were asked for
}

type projectedLimit struct {
	limitRow
	Projection *cost.Projection `json:"projection"`
}

func (cmd projectCommand) Run(c *cli.Context) error {
	return cmd.with(c, cmd.Alerts && cmd.Ledger == "", func(c *cli.Context, b *books) error {
		var document projectDocument
		var gauges []cost.Gauge
		err := b.look(c, func(l look) (err error) {
			document, gauges, err = cmd.document(b, l)
			return err
		})
		if err != nil {
			return err
		}
		document.Health.warn(c)
		var failed error
		if cmd.Alerts {
			if document.Alerts, failed = alert(c, b, gauges); document.Alerts == nil && failed != nil {
				return failed
			}
			document.told = true
		}
		c.Print(document, document.print)
		if failed != nil {
			return &cli.Exit{Code: cli.Usage}
		}
		return nil
	})
}

func (cmd projectCommand) document(b *books, l look) (projectDocument, []cost.Gauge, error) {
	document := projectDocument{SchemaVersion: schemaVersion, By: append([]string{}, cmd.By...), Groups: []cost.ProjectedGroup{}, Limits: []projectedLimit{}, Alerts: []cost.AlertResult{}, Health: l.Health}
	q, err := cmd.ask(l.Now, cost.Query{})
	if err != nil {
		return document, nil, err
	}
	aim, err := cmd.aim(l.Now)
	if err != nil {
		return document, nil, err
	}
	found := false
	aim.Query, found = q.Select(l.Book)
	document.Asked = askedOf(q, aim.Query)
	projector := cost.Projector{Book: l.Book, Now: l.Now}
	if !found {
		projector.Book = new(cost.Book)
	}
	document.Projection = projector.Project(aim)
	document.Charged = document.Projection.Spent.Charge()
	if len(cmd.By) > 0 {
		document.Groups = projector.Groups(aim, dimensions(cmd.By)...)
	}
	limited, err := cmd.limited(l)
	if err != nil {
		return document, nil, err
	}
	ceilings, err := b.ceilings(l, limited)
	if err != nil {
		return document, nil, err
	}
	var gauges []cost.Gauge
	if cmd.Window == nil {
		aim.Query.Window = cost.Window{} // each limit has its own
	}
	for _, x := range ceilings {
		gauge := x.Gauge(projector, limited.Wave, aim)
		gauges = append(gauges, gauge)
		document.Limits = append(document.Limits, projectedLimit{limitRowOf(x), gauge.Projection})
	}
	return document, gauges, nil
}

// aim is what the flags say of the rest.
func (cmd projectCommand) aim(now time.Time) (cost.Aim, error) {
	if cmd.Horizon < 0 || cmd.Recent < 1 || max(cmd.Horizon, cmd.Recent) > 100*366*24*60 {
		return cost.Aim{}, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--horizon is %d and --recent is %d", cmd.Horizon, cmd.Recent), Hint: "give numbers of minutes above 0"}
	}
	aim := cost.Aim{Until: now.Add(time.Duration(cmd.Horizon) * time.Minute), Recent: time.Duration(cmd.Recent) * time.Minute}
	n, err := strconv.Atoi(cmd.Open)
	switch {
	case cmd.Open == "":
	case err == nil && (n < 0 || n > 100_000):
		return aim, &cli.Problem{Code: "usage", Message: fmt.Sprintf("--open is %d", n), Hint: "give a number of items from 0 to 100000, or their names"}
	case err == nil:
		aim.Open = cost.Unnamed(n)
	default:
		for name := range strings.SplitSeq(cmd.Open, ",") {
			aim.Open = append(aim.Open, strings.TrimSpace(name))
		}
	}
	return aim, nil
}

// alert tells of the limits that are near, each once.
func alert(c *cli.Context, b *books, gauges []cost.Gauge) (results []cost.AlertResult, failed error) {
	place, err := b.place(c)
	if err != nil {
		return nil, err
	}
	store := b.store
	if store == nil { // the marks of a ledger file are in the engine's folder all the same
		if store, err = place.OpenStore(c); err != nil {
			return nil, unreadable(err)
		}
		defer func() { failed = errors.Join(failed, store.Close()) }()
	}
	file := cost.AlertFile(filepath.Join(place.State, "alerts.jsonl"))
	alerts := cost.Alerts{Marks: ledger.Marks{Store: store}, Sink: cost.AlertFunc(func(ctx context.Context, a cost.Alert) error {
		a.Wave, a.Limit = c.Redactor.String(a.Wave), c.Redactor.String(a.Limit)
		return file.Alert(ctx, a)
	})}
	results = []cost.AlertResult{}
	for _, gauge := range gauges {
		some, err := alerts.Check(c, gauge)
		results = append(results, some...)
		failed = errors.Join(failed, err)
	}
	return results, failed
}

func (d projectDocument) print(w io.Writer) {
	fmt.Fprintln(w, d.Asked)
	if d.Projection.Spent.Calls == 0 {
		fmt.Fprintln(w, "no calls")
	}
	head := []string{"", "calls", "spent", "will be", "from", "to", "an hour", "unpriced", "unmetered", "state"}
	rows := append([][]string{head}, projected("", d.Projection)...)
	for _, g := range d.Groups {
		var values []string
		for _, name := range d.By {
			value := cli.OneLine(g.Key[cost.Dimension(name)])
			if value == "" {
				value = "-"
			}
			values = append(values, value)
		}
		rows = append(rows, projected(strings.Join(values, " "), g.Projection)...)
	}
	columns(w, 1, rows)
	for _, l := range d.Limits {
		name := l.Name
		if l.Item != "" {
			name += " of " + cli.OneLine(l.Item)
		}
		fmt.Fprintf(w, "%s: %s of %s spent%s\n", name, l.amount(l.Spent), l.of(), reaches(l))
	}
	for _, a := range d.Alerts {
		fmt.Fprintf(w, "%s: %s", a.State, cli.OneLine(a.String()))
		if a.Error != "" {
			fmt.Fprintf(w, " (%s)", cli.OneLine(a.Error))
		}
		fmt.Fprintln(w)
	}
	if d.told && len(d.Alerts) == 0 {
		fmt.Fprintln(w, "no alert is due")
	}
}

// projected are the rows of a projection, one for each measure.
func projected(name string, p cost.Projection) [][]string {
	state := string(p.State)
	if p.Reason != "" {
		state += ": " + cli.OneLine(p.Reason)
	}
	tokens := []string{strings.TrimSpace(name + " tokens"), fmt.Sprint(p.Spent.Calls), fmt.Sprint(p.Spent.Charge().Tokens), "-", "-", "-", "-", fmt.Sprint(p.Unpriced),
		fmt.Sprint(p.Unmetered), state}
	dollars := []string{strings.TrimSpace(name + " usd"), "", known(money(p.Spent.Charge().Money), !p.Spent.Priced() && p.Spent.EstimatedCalls == 0), "-", "-", "-", "-"}
	if f := p.Tokens; f != nil {
		tokens[3], tokens[4], tokens[5] = fmt.Sprint(f.Middle), fmt.Sprint(f.Low), fmt.Sprint(f.High)
		if f.PerHour != nil {
			tokens[6] = fmt.Sprint(*f.PerHour)
		}
	}
	if f := p.Money; f != nil {
		dollars[3], dollars[4], dollars[5] = money(f.Middle), money(f.Low), money(f.High)
		if f.PerHour != nil {
			dollars[6] = money(*f.PerHour)
		}
	}
	return [][]string{tokens, dollars}
}

// reaches says when a limit is reached.
func reaches(l projectedLimit) string {
	var ms *int64
	if p := l.Projection; p != nil && l.Unit == "tokens" && p.Tokens != nil {
		ms = p.Tokens.ToCeilingMs
	} else if p != nil && l.Unit == "usd" && p.Money != nil {
		ms = p.Money.ToCeilingMs
	}
	switch {
	case l.Reached:
		return ", reached"
	case ms == nil:
		return ""
	}
	return fmt.Sprintf(", reached in %s at the rate of late", (time.Duration(min(*ms, 1<<42)) * time.Millisecond).Round(time.Second))
}
