package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"aesop/examples/internal/cli"
	"aesop/tracker"
)

type listCommand struct {
	cli.Common
	Status *string `help:"Only items with this status: todo, in_progress, done, failed or blocked." placeholder:"S"`
}

type listDocument struct {
	SchemaVersion int            `json:"schemaVersion"`
	Items         []itemDocument `json:"items"`
}

func (cmd listCommand) Run(c *cli.Context) error {
	if err := checkStatus(cmd.Status); err != nil {
		return err
	}
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		document, shown := listDocument{SchemaVersion: schemaVersion, Items: []itemDocument{}}, []tracker.Item(nil)
		for _, item := range d.backlog.Items {
			if cmd.Status == nil || item.Status == tracker.Status(*cmd.Status) {
				document.Items, shown = append(document.Items, newItem(item)), append(shown, item)
			}
		}
		d.Print(document, func(w io.Writer) { printList(w, shown) })
		return nil
	})
}

func checkStatus(word *string) error {
	if word == nil {
		return nil
	}
	if _, err := tracker.ParseStatus(*word); err != nil {
		return &cli.Problem{Code: "usage", Message: err.Error()}
	}
	return nil
}

func printList(w io.Writer, items []tracker.Item) {
	if len(items) == 0 {
		fmt.Fprintln(w, "no items")
		return
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATUS\tPRIORITY\tSLUG\tCLAIM\tDEFECT")
	for _, i := range items {
		var claim, defect string
		if i.Claim != nil {
			claim = holder(i.Claim)
		}
		if d := i.Defect(); d != nil {
			defect = fmt.Sprintf("%s: %s", d.Reason, d.Detail)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n",
			cli.OneLine(i.ID), cli.OneLine(string(i.Status)), i.Priority, cli.OneLine(i.Slug), claim, cli.OneLine(defect))
	}
	table.Flush()
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

type showCommand struct {
	cli.Common
	Item string `arg:"" help:"Id or slug of the item."`
}

func (cmd showCommand) Run(c *cli.Context) error {
	return withBacklog(c, cmd.Common, nil, func(d *desk) error {
		item, err := d.find(cmd.Item)
		if err != nil {
			return err
		}
		d.Print(oneItem{schemaVersion, newItem(item)}, func(w io.Writer) { printItem(w, item) })
		return nil
	})
}

func printItem(w io.Writer, i tracker.Item) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s %s\n", name+":", value)
		}
	}
	fmt.Fprintf(w, "%s (%s), %s, %s\n", cli.OneLine(i.ID), cli.OneLine(i.Slug), i.Priority, cli.OneLine(string(i.Status)))
	row("title", cli.OneLine(i.Title))
	row("reason", cli.OneLine(i.StatusReason))
	if i.Claim != nil {
		row("claim", fmt.Sprintf("%s, attempt %s", holder(i.Claim), i.Claim.Attempt))
	}
	if i.Shipped != nil {
		row("shipped", strings.TrimSpace(i.Shipped.Commit+" "+i.Shipped.Branch))
	}
	if defect := i.Defect(); defect != nil {
		row("defect", fmt.Sprintf("%s: %s", defect.Reason, cli.OneLine(defect.Detail)))
	}
	row("owns", cli.OneLine(strings.Join(i.OwnsFiles, " ")))
	row("test", cli.OneLine(i.TestCmd.String()))
	row("directory", cli.OneLine(i.WorkDir))
	row("repository", cli.OneLine(i.Repo))
	row("depends on", cli.OneLine(strings.Join(i.DependsOn, " ")))
	row("model", cli.OneLine(i.Model))
	if i.Attempts > 0 {
		row("attempts", fmt.Sprint(i.Attempts))
	}
	paragraph(w, "prompt", i.Prompt)
	for _, criterion := range i.AcceptanceCriteria {
		row("criterion", cli.OneLine(criterion))
	}
	paragraph(w, "notes", i.Notes)
}

// paragraph indents a text of several lines.
func paragraph(w io.Writer, name, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(w, "%s:\n", name)
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, strings.TrimRight("  "+cli.OneLine(strings.TrimRight(line, "\r\n")), " "))
	}
}
