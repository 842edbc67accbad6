package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"aesop/cost"
	"aesop/cost/ledgerfile"
	"aesop/examples/internal/cli"
)

type importCommand struct {
	common
	File   string `arg:"" help:"The file." placeholder:"FILE"`
	Format string `help:"jsonl, csv, markdown (the older outcomes ledger), or auto, the default: by the file's name, or its first sign." enum:"jsonl,csv,markdown,auto" default:"auto" placeholder:"FORMAT"`
}

func (importCommand) Help() string {
	return `Examples:

  cost import OUTCOMES-LEDGER.md
  cost import calls.csv --ledger calls.jsonl

Costs are taken as the file has them; a call without one stays unpriced. Importing a file again adds nothing. Corrupt lines are told with
their numbers; what could be read is imported all the same, and the exit code is 1.`
}

type importDocument struct {
	SchemaVersion int    `json:"schemaVersion"`
	File          string `json:"file"`
	Format        string `json:"format"`
	cost.Recorded
	ledgerfile.Report
}

func (cmd importCommand) Run(c *cli.Context) error {
	file, err := os.Open(cmd.File)
	if err != nil {
		return &cli.Problem{Code: "unreadable", Message: "import: " + err.Error(), Hint: "name a file that can be read"}
	}
	defer func() { _ = file.Close() }() // it was only read
	return cmd.with(c, true, func(c *cli.Context, b *books) error {
		format, from := ledgerfile.Format(cmd.Format), io.Reader(file)
		if format == "auto" {
			format, from = ledgerfile.Detect(cmd.File, file)
		}
		to := cost.Recorder{Ledger: b.Ledger, Kept: b.kept}
		report, err := ledgerfile.Read(format, from, func(call cost.Call) error { return to.Add(c, call.Clean(c.Redactor.String)) })
		if err != nil && report.Rows == 0 && report.Corrupt == 0 && to.Done == (cost.Recorded{}) {
			return &cli.Problem{Code: "unreadable", Message: fmt.Sprintf("import %s as %s: %v", cmd.File, format, err), Hint: "name its format with --format"}
		}
		if err = errors.Join(err, to.Flush(c)); err != nil {
			return err
		}
		report.Lines = lines(report.Lines)
		return importDocument{schemaVersion, cmd.File, string(format), to.Done, report}.tell(c)
	})
}

func (d importDocument) tell(c *cli.Context) error {
	for _, l := range d.Lines {
		fmt.Fprintf(c.Stderr, "%s, %v\n", d.File, l)
	}
	if d.Torn {
		fmt.Fprintf(c.Stderr, "%s ends within a line or a record, which was not read\n", d.File)
	}
	if d.Differ > 0 {
		fmt.Fprintf(c.Stderr, "not imported: %s; the ledger has another under such an id and keeps that\n", counted(d.Differ, "call"))
	}
	c.Print(d, func(w io.Writer) {
		fmt.Fprintf(w, "%s as %s: %d imported, %d known, %d refused, %s\n", d.File, d.Format, d.Added, d.Known, d.Differ, counted(d.Corrupt, "corrupt line"))
	})
	switch {
	case d.Differ > 0:
		return &cli.Exit{Code: cli.Refused}
	case d.Corrupt > 0 || d.Torn:
		return &cli.Exit{Code: cli.NotGood}
	}
	return nil
}

type exportCommand struct {
	common
	question
	names
	Format string   `help:"jsonl, the default, which keeps everything; csv; markdown, for readers of the older outcomes ledger; prometheus, which has sums." enum:"jsonl,csv,markdown,prometheus" default:"jsonl" placeholder:"FORMAT"`
	By     []string `help:"Labels of prometheus (default: model)." enum:"wave,item,model,backend,agent,phase,verdict,day" default:"model" placeholder:"NAME"`
}

func (exportCommand) Help() string {
	return `Examples:

  cost export >calls.jsonl
  cost export --format csv --period daily >today.csv
  cost export --format prometheus --by model,backend >/var/lib/node_exporter/aesop.prom

--json changes nothing: what is exported has the form that --format says. Rows of the ledger that cannot be read are left out, told, and make
the exit code 1.`
}

func (cmd exportCommand) Run(c *cli.Context) error {
	return cmd.with(c, false, func(c *cli.Context, b *books) error {
		return b.look(c, func(l look) error {
			q, err := cmd.ask(l.Now, cmd.query())
			if err != nil {
				return err
			}
			selected, found := q.Select(l.Book)
			l.Health.warn(c)
			if cmd.Format == "prometheus" {
				var text bytes.Buffer
				if err := ledgerfile.WritePrometheus(&text, groupsOf(l, selected, found, cmd.By)); err != nil {
					return err
				}
				_, err = io.WriteString(c.Stdout, c.Redactor.String(text.String()))
			} else {
				err = ledgerfile.Write(ledgerfile.Format(cmd.Format), c.Stdout, exported(c, l, selected, found))
			}
			if err == nil && l.Health.unread() > 0 {
				err = &cli.Exit{Code: cli.NotGood}
			}
			return err
		})
	})
}

// exported are the calls that are selected, without secrets.
func exported(c *cli.Context, l look, selected cost.Query, found bool) iter.Seq2[cost.Call, error] {
	return func(yield func(cost.Call, error) bool) {
		for call, err := range l.Calls {
			if err == nil && !(found && selected.Selects(call)) {
				continue
			}
			if !yield(call.Clean(c.Redactor.String), err) {
				return
			}
		}
	}
}
