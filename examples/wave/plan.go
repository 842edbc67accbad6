package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/renameio/v2/maybe"

	"aesop/examples/internal/cli"
	"aesop/wave"
	"aesop/wave/journal"
)

type planCommand struct {
	cli.Common
	driverFlags
	selectFlags
	Out     string `help:"Write the plan as a manifest for wave run --manifest." placeholder:"FILE"`
	Prompts bool   `help:"With what each agent would be told."`
}

func (cmd planCommand) Run(c *cli.Context) error {
	c, release := c.UntilSignal()
	defer release()
	engine, err := cmd.open(c, cmd.Common, cmd.selectFlags.keys())
	if err != nil {
		return err
	}
	defer engine.Close()
	plan, err := engine.Plan(c)
	if err != nil {
		return err
	}
	for i := range plan.Items {
		if !cmd.Prompts {
			plan.Items[i].Prompt = nil
		}
	}
	if cmd.Out != "" {
		if err := writeManifest(cmd.Out, plan); err != nil {
			return err
		}
	}
	c.Print(plan, func(w io.Writer) { printPlan(w, plan) })
	return exitOf(plan.Outcome)
}

func writeManifest(path string, m wave.Manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return maybe.WriteFile(path, append(data, '\n'), 0o600)
}

func printPlan(w io.Writer, p wave.Manifest) {
	if p.Reason != "" {
		fmt.Fprintf(w, "%s: %s\n", p.Outcome, cli.OneLine(p.Reason))
		return
	}
	for _, r := range p.Repositories {
		in := inRepository(r.Repo)
		if r.Error != nil {
			fmt.Fprintf(w, "cannot be worked on%s: %s\n", in, cli.OneLine(r.Error.Message))
			continue
		}
		fmt.Fprintf(w, "base %s of %s at %s%s, driver %s\n", r.BaseBranch, r.Remote, short(r.Base), in, p.Driver)
		if len(r.Dirty) > 0 {
			fmt.Fprintf(w, "your uncommitted changes%s are not part of the wave: %s\n", in, cli.OneLine(strings.Join(r.Dirty, ", ")))
		}
	}
	for _, i := range p.Items {
		fmt.Fprintf(w, "take  %s  %s%s  owns %s\n", cli.OneLine(i.ID), cli.OneLine(i.Slug), inRepository(i.Repo), cli.OneLine(strings.Join(i.OwnsFiles, " ")))
	}
	for _, i := range p.Items {
		if i.Prompt != nil {
			fmt.Fprintf(w, "\nprompt of %s:\n%s\n", cli.OneLine(i.ID), strings.TrimRight(*i.Prompt, "\n"))
		}
	}
	for _, s := range p.Skipped {
		fmt.Fprintf(w, "skip  %s  %s  %s: %s\n", cli.OneLine(s.ID), cli.OneLine(s.Slug), s.Reason, cli.OneLine(s.Detail))
	}
	switch p.Outcome {
	case journal.NothingToDo:
		fmt.Fprintln(w, "every item is done")
	case journal.NothingSelectable:
		fmt.Fprintln(w, "no item can be taken now: those that are not done are claimed, failed, blocked or skipped")
	}
}

// inRepository says which of several repositories is meant.
func inRepository(name string) string {
	if name == "." {
		return ""
	}
	return " in " + cli.OneLine(name)
}

// readManifest reads the manifest. The driver is the one that it names, unless a flag names another.
func (cmd *runCommand) readManifest() (wave.Manifest, error) {
	data, err := os.ReadFile(cmd.Manifest)
	if err != nil {
		return wave.Manifest{}, &cli.Problem{Code: "usage", Message: "the manifest cannot be read: " + err.Error(), Hint: "wave plan --out FILE writes one"}
	}
	manifest, err := wave.ReadManifest(cmd.Manifest, data)
	if err != nil {
		return manifest, err
	}
	if cmd.Driver == nil {
		cmd.Driver = &manifest.Driver
	}
	manifest.Driver = *cmd.Driver
	return manifest, nil
}
