package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"aesop/cost"
	"aesop/examples/internal/cli"
	"aesop/wave"
)

type ceilingCommand struct {
	common
	question
	Check  bool `required:"" help:"Evaluate the limits of the configuration."`
	NoTrip bool `help:"Do not halt waves when a hard limit is reached."`
}

func (ceilingCommand) Help() string {
	return `Examples:

  cost ceiling --check && my-agent
  cost ceiling --check --period wave --wave 20261130-120000-1a2b
  cost ceiling --check --window 60 --no-trip

Without --period all limits count; those of a wave and of its items by --wave, AESOP_WAVE or the newest wave of the ledger. --window counts
the calls of the last minutes in place of each limit's own span. Exit 0: none is reached, or none is configured. Exit 1: one is reached, which
it is when all of it is spent. Where that is a hard limit of a day or a model, HALT is written, so that no wave goes on until wave halt clear; for
one of a wave or of an item only where the wave was asked for, by --period wave, --wave or AESOP_WAVE. Exit 2: it cannot be told, and nothing
is halted.`
}

type ceilingDocument struct {
	SchemaVersion int        `json:"schemaVersion"`
	Outcome       string     `json:"outcome"` // good, not_configured, reached or not_evaluated
	Asked         asked      `json:"asked"`
	Limits        []limitRow `json:"limits"`
	Tripped       bool       `json:"tripped"` // HALT was written
	Halted        bool       `json:"halted"`  // a limit would have it there, and it is, whoever wrote it
	Reason        string     `json:"reason"`
	spared        bool       // nothing was halted, since the wave was not asked for
}

type limitRow struct {
	Name     string `json:"name"`
	Item     string `json:"item,omitempty"`
	Unit     string `json:"unit"` // tokens or usd
	Limit    string `json:"limit"`
	Spent    string `json:"spent"`
	Reserved string `json:"reserved"` // by agents that run
	Unknown  int    `json:"unknown"`  // calls of which the figure is not known, and for which nothing was charged
	Soft     bool   `json:"soft"`
	Reached  bool   `json:"reached"`
	Doubt    string `json:"doubt,omitempty"`
}

func limitRowOf(x cost.Ceiling) limitRow {
	show := func(figure int64) string { return cost.Money(figure).String() }
	row := limitRow{Name: x.Limit.Name(), Item: x.Subject.Item, Unit: "usd", Unknown: x.Unknown, Soft: x.Limit.Soft, Reached: x.Reached(), Doubt: x.Doubt}
	if x.Limit.Tokens > 0 {
		row.Unit = "tokens"
		show = func(figure int64) string { return fmt.Sprint(figure) }
	}
	row.Limit, row.Spent, row.Reserved = show(x.Limit.Max()), show(x.Spent), show(x.Reserved)
	return row
}

// amount is a figure of the limit for people.
func (r limitRow) amount(figure string) string {
	if r.Unit == "usd" {
		return "$" + figure
	}
	return figure
}

// of is the limit for people.
func (r limitRow) of() string {
	if r.Unit == "usd" {
		return r.amount(r.Limit)
	}
	return r.Limit + " " + r.Unit
}

func (cmd ceilingCommand) Run(c *cli.Context) error {
	return cmd.with(c, false, func(c *cli.Context, b *books) error {
		document := ceilingDocument{SchemaVersion: schemaVersion, Limits: []limitRow{}}
		var stops, halts, doubts []string
		err := b.look(c, func(l look) error {
			l.Health.warn(c)
			q, err := cmd.limited(l)
			if err != nil {
				return err
			}
			all, err := b.ceilings(l, q)
			if err != nil {
				return err
			}
			selected, _ := q.Select(l.Book)
			document.Asked = askedOf(q, selected)
			stops, halts, doubts = nil, nil, nil
			for _, x := range all {
				document.Limits = append(document.Limits, limitRowOf(x))
				text := x.Standing.String()
				if x.Subject.Item != "" {
					text = "item " + x.Subject.Item + ": " + text
				}
				if x.Stops() {
					stops = append(stops, text)
					if scope := x.Limit.Scope; scope == cost.PerDay || scope == cost.PerModel || cmd.names() {
						halts = append(halts, text)
					}
				}
				if x.Doubt != "" && !x.Limit.Soft {
					doubts = append(doubts, x.Limit.Name()+": "+x.Doubt)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return cmd.end(c, b, document, stops, halts, doubts)
	})
}

// end says how it stands, and halts where a limit is reached: what stops one wave alone halts no others that nobody asked about.
func (cmd ceilingCommand) end(c *cli.Context, b *books, document ceilingDocument, stops, halts, doubts []string) error {
	code := cli.OK
	switch {
	case len(stops) > 0:
		document.Outcome, document.Reason, code = "reached", strings.Join(stops, "; "), cli.NotGood
		if !cmd.NoTrip && len(halts) > 0 {
			var err error
			if document.Tripped, err = trip(c, b, strings.Join(halts, "; ")); err != nil {
				return err
			}
			document.Halted = true
		}
		document.spared = !cmd.NoTrip && len(halts) == 0
	case len(doubts) > 0:
		document.Outcome, document.Reason, code = "not_evaluated", strings.Join(doubts, "; "), cli.Usage
	case len(document.Limits) == 0:
		document.Outcome, document.Reason = "not_configured", "no limit of that kind is configured"
		if cmd.Period != "daily" && document.Asked.Wave == "" && b.settings.Limits.Limited() {
			document.Reason += ", or there is no wave yet"
		}
	default:
		document.Outcome, document.Reason = "good", "no limit is reached"
	}
	c.Print(document, document.print)
	if code != cli.OK {
		return &cli.Exit{Code: code}
	}
	return nil
}

// trip halts the waves of the place. Who halted them before keeps the word.
func trip(c *cli.Context, b *books, reason string) (bool, error) {
	place, err := b.place(c)
	if err != nil {
		return false, err
	}
	halt := place.Halt()
	halt.Redactor = c.Redactor
	return halt.SetFirst(wave.HaltNote{Reason: "a limit is reached: " + reason + "; when work may go on, run wave halt clear", At: time.Now().UTC(), By: "ceiling"})
}

func (d ceilingDocument) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", d.Outcome, cli.OneLine(d.Reason))
	rows := [][]string{}
	for _, l := range d.Limits {
		state := "not reached"
		switch {
		case l.Reached && l.Soft:
			state = "reached, and soft"
		case l.Reached:
			state = "reached"
		case l.Doubt != "":
			state = "not known: " + cli.OneLine(l.Doubt)
		}
		name := l.Name
		if l.Item != "" {
			name += " of " + cli.OneLine(l.Item)
		}
		row := []string{name, l.amount(l.Spent) + " of " + l.of(), state}
		if l.Reserved != "0" && l.Reserved != "0.00" {
			row[1] += ", " + l.amount(l.Reserved) + " reserved"
		}
		if l.Unknown > 0 {
			row[2] += fmt.Sprintf(" (not known in full: %s)", counted(l.Unknown, "call"))
		}
		rows = append(rows, row)
	}
	columns(w, 1, rows)
	switch {
	case d.Tripped:
		fmt.Fprintln(w, "HALT is written: no wave goes on until wave halt clear")
	case d.Halted:
		fmt.Fprintln(w, "waves were halted already; that HALT stays as it is")
	case d.spared:
		fmt.Fprintln(w, "HALT is not written: that is for limits of a day or a model, and for a wave only where it is asked for, as by --period wave")
	}
}
