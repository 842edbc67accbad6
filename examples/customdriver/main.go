// Customdriver is an orchestrator of one's own: a driver for the agent that one has, and a program that runs one wave with it.
// Copy it and change what is yours; it uses nothing that another module cannot.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"aesop"
	"aesop/driver"
	"aesop/driver/process"
	"aesop/driver/program"
	"aesop/wave"
	"aesop/wave/journal"
)

// Agent drives a program that takes the prompt on standard input, the model as a flag, and says by its exit code what went wrong.
type Agent struct{ Program string }

// Info is what a wave knows beforehand: the models, how far the agent is trusted, and which of your variables it needs.
func (a Agent) Info() driver.Info {
	return driver.Info{Name: filepath.Base(a.Program), Tier: 3, Metered: true, Environment: []string{"MY_AGENT_KEY"},
		Models: map[driver.Role]string{driver.Worker: "large", driver.Reviewer: "small"}}
}

// Probe keeps a wave from claiming anything where the program is missing. It is the one method that a driver may lack.
func (a Agent) Probe(env []string) error {
	_, err := process.Look(a.Program, env)
	return err
}

// Run works on a task. Deadlines, the end of all that the program started, its output and usage are program.Run's.
func (a Agent) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	argv := []string{a.Program, "--model", cmp.Or(t.Model, a.Info().Model(t.Role))}
	if t.ReadOnly {
		argv = append(argv, "--read-only")
	}
	result, err := program.Run(ctx, t, emit, argv...)
	if failed, ok := errors.AsType[*driver.Error](err); ok && failed.ExitCode != nil {
		switch *failed.ExitCode {
		case 65:
			failed.Class = driver.InvalidOutput
		case 69:
			failed.Class = driver.Overloaded
		case 75:
			failed.Class = driver.RateLimited
		case 77:
			failed.Class = driver.Auth
		}
	}
	return result, err
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: customdriver PROGRAM\nruns a wave of ./tracker.json; exit codes: 0 good, 1 not all items are good, 2 could not, 3 stopped")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // what is under way is parked, and the next run goes on
	context.AfterFunc(ctx, stop)                                          // a second interrupt ends it at once
	report, err := oneWave(ctx, Agent{Program: os.Args[1]}, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "customdriver:", err)
		os.Exit(2)
	case report.Outcome == journal.Halted || report.Outcome == journal.Interrupted:
		os.Exit(3)
	case report.Outcome != journal.Good && report.Outcome != journal.NothingToDo:
		os.Exit(1)
	}
}

// oneWave first finishes what an earlier run left, then runs a wave and prints how its items ended.
func oneWave(ctx context.Context, agent driver.Driver, out io.Writer) (aesop.Report, error) {
	settings, _, err := aesop.LoadSettings(aesop.Sources{File: "aesop.json", Lookup: os.LookupEnv})
	if err != nil {
		return aesop.Report{}, err
	}
	engine, err := aesop.Open(ctx, aesop.Config{Settings: settings, Agent: agent})
	if err != nil {
		return aesop.Report{}, err
	}
	defer engine.Close()
	report, err := engine.Run(ctx)
	for _, item := range report.Items {
		detail := item.Reason
		if item.Pushed {
			detail = "on " + *item.Branch
		}
		fmt.Fprintf(out, "%s: %s, %s\n", item.ID, item.State, detail)
	}
	if len(report.Items) > 0 {
		fmt.Fprintln(out, "report:", filepath.ToSlash(wave.ReportPath(engine.State, report.Wave)))
	}
	return report, err
}
