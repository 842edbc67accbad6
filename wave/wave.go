// Package wave runs a backlog through agents: it selects items, gives each to a Driver, checks and commits what the agent
// left, tests that commit in a clean tree, lets the agent repair what failed, joins what passed, pushes it to a branch and
// reports what happened. It never merges.
//
// A Scheduler is made with New and does one of Plan, Run, Drain and Resume. Everything that happens is an event of
// wave/journal first; the Report is a fold of those events.
package wave

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"aesop/cost"
	"aesop/internal/git"
	"aesop/statestore/ledger"
	"aesop/statestore/outbox"
	"aesop/wave/journal"
)

// Scheduler runs the waves of one backlog. It is safe for concurrent use; waves of one Scheduler and of others on the same
// state share items by claims.
type Scheduler struct {
	config  Config
	program git.Program
	halt    Halt
	place   string // name of the state directory
	ledger  *ledger.Ledger
	alerts  cost.Alerts

	sinks []outbox.Named // of the configuration, guarded

	mu    sync.Mutex
	stops int // calls of Stop
	alive map[*stopper]bool
	room  chan struct{} // closed, and made anew, when an attempt has ended
}

// New checks the configuration and finds git. It changes nothing but the state directory.
func New(ctx context.Context, c Config) (*Scheduler, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	program, err := git.Find(ctx)
	if err != nil {
		return nil, err
	}
	if c.State, err = filepath.Abs(c.State); err != nil {
		return nil, err
	}
	place, err := Place(c.State)
	if err != nil {
		return nil, err
	}
	if c.Alerts == nil {
		c.Alerts = cost.AlertFile(filepath.Join(c.State, "alerts.jsonl"))
	}
	return &Scheduler{config: c, alerts: cost.Alerts{Sink: c.Alerts, Marks: ledger.Marks{Store: c.Store}}, program: program, halt: Halt{Dir: c.State, Redactor: c.Redactor}, place: place, ledger: ledger.New(c.Store),
		sinks: guarded(c.Sinks), alive: map[*stopper]bool{}, room: make(chan struct{})}, nil
}

// Halt is the switch that stops all waves of this state.
func (s *Scheduler) Halt() Halt { return s.halt }

// SetupError is something outside a backlog that keeps a wave from starting.
type SetupError struct {
	Code string // not_a_repository, no_commits, no_remote, no_base, remote_unreachable, several_names, branch_in_the_way, protected_branch, state_damaged,
	// unknown_item, unknown_driver, unknown_reviewer, unsupported_setting, agent_missing, carry, usage
	Message string
	Hint    string // what to do next
	Err     error
}

func (e *SetupError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Hint)
}

func (e *SetupError) Unwrap() error { return e.Err }

// AliveError says that a wave cannot be resumed because another process runs it.
type AliveError struct {
	Wave  string
	Owner string
}

func (e *AliveError) Error() string {
	return fmt.Sprintf("wave %s is running (%s)", e.Wave, e.Owner)
}

// journalConfig is how this scheduler's journals store and show events.
func (s *Scheduler) journalConfig() journal.Config {
	c := journal.Config{Store: s.config.Store, Place: s.place, Redact: s.config.Redactor.JSON, News: news}
	if observers := s.config.Observers; len(observers) > 0 {
		c.Observe = func(w *journal.Wave, e journal.Event) {
			for _, o := range observers {
				o.Observe(w.Clone(), e) // none can spoil another's
			}
		}
	}
	return c
}
