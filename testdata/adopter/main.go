// Adopter is an orchestrator in a module of its own: a driver, a gate and an observer around the scheduler. It needs no database.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"aesop/driver"
	"aesop/driver/program"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// Shell is a driver whose agent is a line for sh.
type Shell struct{ Line string }

// Info implements driver.Driver.
func (Shell) Info() driver.Info { return driver.Info{Name: "shell", Tier: 3} }

// Run implements driver.Driver.
func (s Shell) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	return program.Run(ctx, t, emit, "sh", "-c", s.Line)
}

// AtMost is a gate that stops after so many dispatches.
type AtMost struct {
	Limit int64
	seen  atomic.Int64
}

// Name implements wave.Gate.
func (*AtMost) Name() string { return "at most" }

// Check implements wave.Gate.
func (g *AtMost) Check(_ context.Context, at wave.Point) error {
	if at.Step != "claim" && at.Step != "ship" && g.seen.Add(1) > g.Limit {
		return &wave.Stop{Outcome: journal.Ceiling, Reason: fmt.Sprintf("%d agents are enough", g.Limit)}
	}
	return nil
}

// Teller is an observer that says what ships.
type Teller struct{ To io.Writer }

// Observe implements wave.Observer.
func (o Teller) Observe(_ *journal.Wave, e journal.Event) {
	if shipped, ok := e.(journal.Shipped); ok {
		fmt.Fprintf(o.To, "shipped %d item\n", len(shipped.Items))
	}
}

// Work runs one wave of the backlog in a repository and ships to a branch there.
func Work(ctx context.Context, repo, state string, agent driver.Driver, gate wave.Gate, out io.Writer) (wave.Report, error) {
	backlog, err := tracker.OpenFile(tracker.FileConfig{Path: filepath.Join(repo, "tracker.json"), LockDir: filepath.Join(state, "locks")})
	if err != nil {
		return wave.Report{}, err
	}
	store := statestore.NewMemory(statestore.MemoryConfig{}) // forgets; aesop/statestore/sqlite lets a killed wave be resumed
	defer store.Close()
	scheduler, err := wave.New(ctx, wave.Config{Repo: repo, State: state, Tracker: backlog, Store: store, Driver: agent,
		Repository: wave.Repository{Local: true}, Gates: []wave.Gate{gate}, Observers: []wave.Observer{Teller{out}}})
	if err != nil {
		return wave.Report{}, err
	}
	return scheduler.Run(ctx)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: adopter REPOSITORY STATE LINE")
		os.Exit(2)
	}
	report, err := Work(context.Background(), os.Args[1], os.Args[2], Shell{os.Args[3]}, &AtMost{Limit: 10}, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, item := range report.Items {
		fmt.Println(item.ID, item.State)
	}
	if report.Outcome != journal.Good {
		os.Exit(1)
	}
}
