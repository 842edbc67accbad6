package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/wave"
	"aesop/wave/journal"
)

// driverFlags say which agent works and how long it may.
type driverFlags struct {
	Driver      *string `help:"The agent: ${drivers}." placeholder:"NAME"`
	Script      string  `help:"What the script driver plays." placeholder:"FILE"`
	AgentCmd    *string `help:"The command driver's command, for sh -c at the root of a fresh checkout, so name it by PATH or from the root; the prompt is on its standard input." placeholder:"CMD"`
	Model       *string `help:"The model, where the item names none." placeholder:"M"`
	AgentTime   *string `name:"agent-timeout" help:"Limit of one dispatch (30m)." placeholder:"D"`
	IdleTimeout *string `help:"Limit of an agent's silence (10m)." placeholder:"D"`
	TestTimeout *string `help:"Limit of one test command (10m)." placeholder:"D"`
	Lease       *string `help:"Lease of the claims; it is renewed (15m)." placeholder:"D"`
	Parallel    *string `help:"Agents at once (4)." placeholder:"P"`
}

func (d driverFlags) keys() map[string]*string {
	return map[string]*string{"driver": d.Driver, "agentCmd": d.AgentCmd, "model": d.Model, "agentTimeout": d.AgentTime,
		"idleTimeout": d.IdleTimeout, "testTimeout": d.TestTimeout, "lease": d.Lease, "parallel": d.Parallel}
}

// open opens the engine with the flags' settings.
func (d driverFlags) open(c *cli.Context, common cli.Common, more map[string]*string, observers ...wave.Observer) (*aesop.Engine, error) {
	keys := d.keys()
	for key, value := range more {
		keys[key] = value
	}
	settings, _, err := common.Load(keys)
	if err != nil {
		return nil, err
	}
	engine, err := aesop.Open(c, aesop.Config{Settings: settings, Repo: common.Repo, Script: d.Script, Observers: observers, Redactor: c.Redactor})
	if file, ok := errors.AsType[*aesop.FileError](err); ok && (file.File == d.Script || file.File == settings.Limits.Prices) {
		return nil, err
	}
	return engine, cli.BeginWith("wave init writes one; or name another with --tracker", err)
}

type selectFlags struct {
	MaxItems     *int    `help:"Items of a wave (5)." placeholder:"N"`
	AllowRedBase bool    `help:"Go on although the configured test fails on the base."`
	Ship         *string `help:"To the remote (push), or to a branch of this repository (local)." placeholder:"push|local"`
	Supervise    bool    `help:"Ship only what a person approves."`
}

func (s selectFlags) keys() map[string]*string {
	keys := map[string]*string{"ship": s.Ship}
	if s.MaxItems != nil {
		text := strconv.Itoa(*s.MaxItems)
		keys["maxItems"] = &text
	}
	yes := "true"
	if s.AllowRedBase {
		keys["allowRedBase"] = &yes
	}
	if s.Supervise {
		keys["supervise"] = &yes
	}
	return keys
}

type runCommand struct {
	cli.Common
	driverFlags
	selectFlags
	DryRun   bool   `xor:"what" help:"Say what would be done; same as plan."`
	Manifest string `help:"Do what a manifest of wave plan says: its items, in its order." placeholder:"FILE" xor:"what"`
	Drain    bool   `xor:"what" help:"Run waves until the backlog is drained, each on top of what the one before shipped."`
}

func (cmd *runCommand) Run(c *cli.Context) error {
	if cmd.DryRun {
		return planCommand{Common: cmd.Common, driverFlags: cmd.driverFlags, selectFlags: cmd.selectFlags}.Run(c)
	}
	var manifest wave.Manifest
	if cmd.Manifest != "" {
		var err error
		if manifest, err = cmd.readManifest(); err != nil {
			return err
		}
	}
	engine, end, err := cmd.begin(c, cmd.Common, cmd.selectFlags.keys())
	if err != nil {
		return err
	}
	defer engine.Close()
	if cmd.Drain {
		reports, err := engine.Drain(c)
		end()
		tellOwed(c, engine.Store)
		return finishDrain(c, engine.State, reports, err)
	}
	var report wave.Report
	if cmd.Manifest != "" {
		report, err = engine.Execute(c, manifest)
	} else {
		report, err = engine.Run(c)
	}
	end()
	tellOwed(c, engine.Store)
	return finish(c, engine.State, report, err)
}

// begin opens the engine for a run that shows how it goes, asks the person at the terminal, and can be stopped. Call end when it is
// over, before anything is printed.
func (d driverFlags) begin(c *cli.Context, common cli.Common, more map[string]*string) (engine *aesop.Engine, end func(), err error) {
	progress, endShow := show(c)
	observers, asker := []wave.Observer{progress}, newAsker(c)
	if c.Interactive {
		observers = append(observers, asker)
	}
	engine, err = d.open(c, common, more, observers...)
	if err != nil {
		endShow()
		return nil, nil, err
	}
	endAsk := func() {}
	if c.Interactive {
		endAsk = asker.start(engine)
	}
	release := stopOnSignal(c, engine)
	return engine, func() { release(); endAsk(); endShow() }, nil
}

// stopOnSignal stops softly at the first signal and at once at the second.
func stopOnSignal(c *cli.Context, engine *aesop.Engine) (release func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-c.Signals:
				fmt.Fprintln(c.Stderr, "stopping: agents end softly, work is parked; once more to kill them now")
				engine.Stop()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-gone }
}

// finish prints a report and turns its outcome into the exit.
func finish(c *cli.Context, state string, report wave.Report, err error) error {
	if err != nil && (report.Wave == "" || cli.Damaged(err) || len(report.Items) == 0) {
		return err
	}
	c.Print(report, func(w io.Writer) { printReport(w, state, report) })
	if err != nil {
		fmt.Fprintf(c.Stderr, "wave: %v\n", err)
	}
	return exitOf(report.Outcome)
}

type drainDocument struct {
	SchemaVersion int             `json:"schemaVersion"`
	Outcome       journal.Outcome `json:"outcome"`
	Waves         []wave.Report   `json:"waves"`
}

func finishDrain(c *cli.Context, state string, reports []wave.Report, err error) error {
	if len(reports) == 0 || err != nil && len(reports) == 1 && len(reports[0].Items) == 0 {
		if err != nil {
			return err
		}
	}
	document := drainDocument{SchemaVersion: wave.SchemaVersion, Outcome: drained(reports), Waves: append([]wave.Report{}, reports...)}
	c.Print(document, func(w io.Writer) {
		for _, report := range reports {
			printReport(w, state, report)
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "waves: %d, together %s\n", len(reports), document.Outcome)
		if branch := newestBranch(reports); branch != "" && len(reports) > 1 {
			fmt.Fprintf(w, "each wave builds on the one before: %s holds all that shipped\n", branch)
		}
	})
	if err != nil {
		fmt.Fprintf(c.Stderr, "wave: %v\n", err)
	}
	return exitOf(document.Outcome)
}

// newestBranch is the branch that the last shipping wave pushed, if there is one repository and every wave began where the one before
// ended; else "".
func newestBranch(reports []wave.Report) string {
	branch, tip := "", ""
	for _, r := range reports {
		if len(r.Repositories) > 1 || tip != "" && (r.Base == nil || *r.Base != tip) {
			return ""
		}
		for _, repo := range r.Repositories {
			if repo.Branch != nil {
				branch, tip = *repo.Branch, *repo.SHA
			}
		}
	}
	return branch
}

// drained is the outcome of several waves: what stopped them, or how their items went together.
func drained(reports []wave.Report) journal.Outcome {
	if len(reports) == 0 {
		return journal.NothingToDo
	}
	good, bad := 0, 0
	for _, r := range reports {
		switch r.Outcome {
		case journal.Good:
			good++
		case journal.Partial:
			good, bad = good+1, bad+1
		case journal.Failed:
			bad++
		default:
			return r.Outcome
		}
	}
	switch {
	case bad == 0:
		return journal.Good
	case good == 0:
		return journal.Failed
	}
	return journal.Partial
}

// exitOf is the table from outcomes to exit codes.
func exitOf(o journal.Outcome) error {
	code := cli.NotGood
	switch o {
	case journal.Good, journal.NothingToDo:
		return nil
	case journal.ErrorOutcome, journal.GateUnavailable:
		code = cli.Usage
	case journal.Halted, journal.Ceiling, journal.Interrupted:
		code = cli.Stopped
	case journal.ConflictOutcome:
		code = cli.Refused
	}
	return &cli.Exit{Code: code}
}

type resumeCommand struct {
	cli.Common
	driverFlags
	Wave string `arg:"" optional:"" help:"The wave; without it all that were left."`
}

func (cmd resumeCommand) Run(c *cli.Context) error {
	if cmd.Wave == "" {
		if left, err := unfinished(c, cmd.Common); err != nil || len(left) == 0 {
			return nothingLeft(c, err)
		}
	}
	engine, end, err := cmd.begin(c, cmd.Common, nil)
	if err != nil {
		return err
	}
	defer engine.Close()
	reports, err := engine.Resume(c, cmd.Wave)
	end()
	if err == nil && len(reports) == 0 {
		return nothingLeft(c, nil)
	}
	if len(reports) == 1 {
		return finish(c, engine.State, reports[0], err)
	}
	return finishDrain(c, engine.State, reports, err)
}

// nothingLeft says that no wave is unfinished, unless that could not be found out.
func nothingLeft(c *cli.Context, err error) error {
	if err != nil {
		return err
	}
	c.Print(drainDocument{SchemaVersion: wave.SchemaVersion, Outcome: journal.NothingToDo, Waves: []wave.Report{}},
		func(w io.Writer) { fmt.Fprintln(w, "nothing is unfinished") })
	return nil
}

func short(sha string) string { return sha[:min(len(sha), 10)] }
