// Customdriver is an orchestrator of one's own in one file: a driver for the agent that one has, and a program that runs one wave with it.
// Copy it and change what is yours; nothing in it is closed to other modules.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"aesop"
	"aesop/driver"
	"aesop/driver/process"
	"aesop/driver/program"
	"aesop/wave"
	"aesop/wave/journal"
)

// Agent drives a program that takes the prompt on standard input, and a model and a wish not to write as flags. It leaves its usage where
// package program looks for it, and its exit codes are those of sysexits.
type Agent struct{ Program string }

// Info is what waves know without starting anything: how far it is trusted, and which of the user's variables it needs.
func (a Agent) Info() driver.Info {
	return driver.Info{Name: filepath.Base(a.Program), Tier: 3, Metered: true, Environment: []string{"MY_AGENT_KEY"},
		Models: map[driver.Role]string{driver.Worker: "large", driver.Reviewer: "small"}}
}

// Probe keeps a wave from claiming anything where the program is missing.
func (a Agent) Probe(env []string) error { _, err := process.Look(a.Program, env); return err }

// Run works on a task. Deadlines, the kill of all that the program started, output and usage are program.Run's; what is the agent's own
// is how it is called and what its exit codes mean.
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

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `Usage: customdriver [-repo DIR] PROGRAM

Runs one wave of the backlog tracker.json with PROGRAM as the agent, and prints how each item ended. The program gets --model NAME, perhaps
--read-only, and the prompt on its standard input. Its exit code: 0 done, 65 no usable answer, 69 no capacity, 75 try later, 77 not logged in.

Exit codes: 0 good or nothing to do, 1 not all items are good, 2 usage or it could not be evaluated, 3 stopped.
`

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("customdriver", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(flags.Output(), usage) }
	repo := flags.String("repo", ".", "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, state, err := oneWave(ctx, *repo, Agent{Program: flags.Arg(0)})
	print(stdout, state, report)
	if err != nil {
		fmt.Fprintln(stderr, "customdriver:", err)
		return 2
	}
	return exit(report.Outcome)
}

// oneWave first finishes waves that were stopped or killed. An interrupt ends the agents; their work is parked for the next run.
func oneWave(ctx context.Context, repo string, agent driver.Driver) (report aesop.Report, state string, err error) {
	engine, err := aesop.Open(ctx, aesop.Config{Repo: repo, Agent: agent})
	if err != nil {
		return report, "", err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	report, err = engine.Run(ctx)
	return report, engine.State, err
}

func print(w io.Writer, state string, report aesop.Report) {
	if report.Wave == "" {
		return
	}
	fmt.Fprintf(w, "wave %s: %s\n", report.Wave, report.Outcome)
	for _, item := range report.Items {
		fmt.Fprintf(w, "  %s: %s; %s\n", item.ID, item.State, cmp.Or(item.Reason, item.TestCmd))
	}
	for _, item := range report.Skipped {
		fmt.Fprintf(w, "  %s skipped: %s\n", item.ID, item.Detail)
	}
	if len(report.Items) > 0 {
		fmt.Fprintln(w, "report:", filepath.ToSlash(wave.ReportPath(state, report.Wave)))
	}
}

func exit(o journal.Outcome) int {
	switch o {
	case journal.Good, journal.NothingToDo:
		return 0
	case journal.ErrorOutcome, journal.GateUnavailable:
		return 2
	case journal.Halted, journal.Ceiling, journal.Interrupted:
		return 3
	}
	return 1
}
