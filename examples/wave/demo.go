package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/wave"
)

type demoCommand struct {
	Dir  string `help:"Where to make the demonstration's folder (default: the temporary folder)." placeholder:"DIR"`
	Keep bool   `help:"Keep the folder."`
	JSON bool   `name:"json" help:"Print the report as JSON."`
}

// Run makes a repository with a remote and four items, and runs a real wave with played agents.
func (cmd demoCommand) Run(c *cli.Context) (err error) {
	dir, err := os.MkdirTemp(cmd.Dir, "aesop-demo-")
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	defer func() {
		if cmd.Keep {
			fmt.Fprintf(c.Stderr, "kept: %s\n", dir)
		} else if removeErr := os.RemoveAll(dir); err == nil {
			err = removeErr
		}
	}()
	d := demo{repo: filepath.Join(dir, "repository"), remote: filepath.Join(dir, "remote.git"), state: filepath.Join(dir, "state")}
	if err := d.make(c); err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(c.Stderr, format+"\n", args...) }
	say("A repository with a remote, and a backlog of four items for played agents:")
	for _, s := range stories() {
		say("  %-10s %s", s.item, s.plot)
	}
	progress, end := show(c)
	defer end()
	engine, err := aesop.Open(c, aesop.Config{Repo: d.repo, Script: filepath.Join(dir, "repository", "script.json"),
		Settings: aesop.Settings{Driver: "script", State: d.state}, Observers: []wave.Observer{progress}, Redactor: c.Redactor})
	if err != nil {
		return err
	}
	defer engine.Close()
	defer stopOnSignal(c, engine)()
	report, err := engine.Run(c)
	end()
	if err != nil {
		return err
	}
	ends, ok := judge(report)
	branches, err := d.branches(c)
	if err != nil {
		return err
	}
	c.Print(report, func(w io.Writer) { printDemo(w, ends, branches, report) })
	if !ok {
		return &cli.Exit{Code: cli.NotGood, Err: fmt.Errorf("the demonstration did not go as it must")}
	}
	return nil
}

func printDemo(w io.Writer, ends []ending, branches string, r wave.Report) {
	fmt.Fprintf(w, "wave %s\n", r.Wave)
	for _, e := range ends {
		mark := "as it must"
		if !e.ok {
			mark = "NOT as it must"
		}
		fmt.Fprintf(w, "  %-10s %s (%s)\n", e.item, e.words, mark)
	}
	fmt.Fprintf(w, "the remote has:\n%s", branches)
	fmt.Fprintln(w, "nothing was merged; the branch waits for you")
}
