package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/examples/internal/cli"
)

type compareCommand struct {
	common
	A      string   `arg:"" help:"A wave, or names of calls as wave=W,model=M,item=I,backend=B,agent=A,phase=P." placeholder:"A"`
	B      string   `arg:"" help:"What it is compared with." placeholder:"B"`
	Base   string   `required:"" help:"The model whose tokens weigh 1." placeholder:"MODEL"`
	Trials int      `required:"" help:"How many trials, such as items, each side had." placeholder:"N"`
	Caveat []string `required:"" sep:"none" help:"What speaks against taking the figures for more than they are. May be repeated." placeholder:"TEXT"`
}

func (compareCommand) Help() string {
	return `Example:

  cost compare 20261130-120000-1a2b 20261201-120000-3c4d --base claude-haiku-5-5 --trials 3 --caveat "three easy items, once each"

A weighted token costs as much as one of its class on the base model, at today's prices. Raw and weighted figures, trials and caveats
come together or not at all: calls that are unmetered or have no price are an error, exit 2.`
}

type compareDocument struct {
	SchemaVersion int              `json:"schemaVersion"`
	Comparison    price.Comparison `json:"comparison"`
}

func (cmd compareCommand) Run(c *cli.Context) error {
	return cmd.with(c, false, func(c *cli.Context, b *books) error {
		return b.look(c, func(l look) error {
			l.Health.warn(c)
			if n := l.Health.unread(); n > 0 {
				return &cli.Problem{Code: "corrupt", Message: fmt.Sprintf("compare: %s of the ledger cannot be read, and may be of either side", counted(n, "row")),
					Hint: "cost export writes what can be read; import that into a new ledger"}
			}
			first, err := side(l, cmd.A)
			if err != nil {
				return err
			}
			second, err := side(l, cmd.B)
			if err != nil {
				return err
			}
			result, err := b.prices.Compare(cmd.Base, l.Now.Truncate(time.Second), first, second, cmd.Trials, cmd.Caveat...)
			if err != nil {
				return &cli.Problem{Code: "not_comparable", Message: err.Error(), Hint: "compare only calls that are metered and priced; see cost summary --by model"}
			}
			c.Print(compareDocument{schemaVersion, result}, func(w io.Writer) { fmt.Fprintln(w, result) })
			return nil
		})
	})
}

// side are the calls that a name selects.
func side(l look, name string) (price.Side, error) {
	q := cost.Query{Wave: name}
	if strings.Contains(name, "=") {
		q = cost.Query{}
		for pair := range strings.SplitSeq(name, ",") {
			key, value, _ := strings.Cut(pair, "=")
			to, ok := map[string]*string{"wave": &q.Wave, "item": &q.Item, "model": &q.Model, "backend": &q.Backend, "agent": &q.Agent, "phase": &q.Phase}[strings.TrimSpace(key)]
			if !ok || value == "" {
				return price.Side{}, &cli.Problem{Code: "usage", Message: fmt.Sprintf("%q names no calls", pair), Hint: "write it as wave=W, model=M, item=I, backend=B, agent=A or phase=P"}
			}
			*to = value
		}
	}
	out := price.Side{Name: name}
	calls, failed := chosen(l.Calls, q)
	for call := range calls {
		out.Calls = append(out.Calls, call.Usage)
	}
	if len(out.Calls) == 0 && *failed == nil {
		return out, &cli.Problem{Code: "no_calls", Message: fmt.Sprintf("the ledger has no calls of %q", name), Hint: "see cost summary --by wave"}
	}
	return out, errors.Join(*failed)
}
