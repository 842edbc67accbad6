// Package aesop takes a backlog, gives each item to an AI coding agent, proves what the agent did, ships what is proven to a
// branch, and reports exactly what happened. It never merges.
//
// Open wires the parts with their defaults: a backlog file, SQLite for the engine's state, and a scheduler. Everything that it
// wires is a package of its own (wave, tracker, statestore, driver) that can be used and replaced alone.
package aesop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/driver"
	"aesop/internal/git"
	"aesop/redact"
	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/statestore/sqlite"
	"aesop/tracker"
	"aesop/wave"
)

// The main types, under one roof.
type (
	Driver    = driver.Driver
	Scheduler = wave.Scheduler
	Tracker   = tracker.Tracker
	Report    = wave.Report
	Redactor  = redact.Redactor
	FileError = tracker.FileError

	CostProjector = cost.Projector
	Ledger        = cost.Ledger
)

// Config is what Open needs. The zero Config works in the current folder with the keys of Settings at their defaults, but for a
// driver, which must be named or given.
type Config struct {
	Settings
	Repo   string // a folder of the repository; "": the current one
	Script string // file of the script driver
	Agent  Driver // the driver itself; nil: the built-in one that Settings.Driver names

	Gates     []wave.Gate
	Reviewer  wave.Reviewer // nil: the one that Settings.Policy names, or none
	Approver  wave.Approver // nil, and Settings.Supervise: people decide at the wave.Desk
	Prompts   wave.PromptBuilder
	Observers []wave.Observer
	Prices    *price.Table     // nil: those of Settings.Limits
	Alerts    cost.AlertSink   // nil: the file alerts.jsonl in the state directory
	Sinks     []outbox.Named   // who is told what happens, beside those of Settings.Notify
	Redactor  *redact.Redactor // nil: the default one, which knows the secrets in this process's environment too
	Logger    *zap.Logger
}

// Engine is an opened Config: a Scheduler together with what it works on. Close it.
type Engine struct {
	*Scheduler
	Backlog *tracker.File
	Store   statestore.Store
	State   string       // the state directory
	told    func() error // closes what tells
}

// Open wires a Config. It makes the state directory and its database, and changes nothing else.
func Open(ctx context.Context, c Config) (*Engine, error) {
	if err := c.Settings.supported(); err != nil {
		return nil, err
	}
	agent, err := c.agent()
	if err != nil {
		return nil, err
	}
	if c.Reviewer, err = c.reviewer(); err != nil {
		return nil, err
	}
	if c.Prices == nil {
		table, err := c.Limits.Table()
		if err != nil {
			return nil, err
		}
		c.Prices = &table
	}
	place, err := Locate(ctx, c.Repo, c.Settings)
	if err != nil {
		return nil, err
	}
	backlog, err := place.OpenBacklog()
	if err != nil {
		return nil, err
	}
	store, err := place.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	receivers, closeReceivers, err := c.Settings.Receivers(os.LookupEnv)
	if err != nil {
		return nil, errors.Join(err, closeReceivers(), store.Close())
	}
	c.Sinks = append(slices.Clone(c.Sinks), receivers...)
	scheduler, err := c.newScheduler(ctx, place, backlog, store, agent)
	if err != nil {
		return nil, errors.Join(err, closeReceivers(), store.Close())
	}
	return &Engine{Scheduler: scheduler, Backlog: backlog, Store: store, State: place.State, told: closeReceivers}, nil
}

// Close releases the store and the connections of those who are told.
func (e *Engine) Close() error { return errors.Join(e.told(), e.Store.Close()) }

func (c Config) newScheduler(ctx context.Context, p Place, backlog Tracker, store statestore.Store, agent Driver) (*Scheduler, error) {
	if c.Redactor == nil {
		var err error
		if c.Redactor, err = defaultRedactor(); err != nil {
			return nil, err
		}
	}
	return wave.New(ctx, c.scheduler(p, backlog, store, agent))
}

// defaultRedactor knows the secrets in this process's environment beside what looks like one.
func defaultRedactor() (*redact.Redactor, error) {
	r, err := redact.New(redact.Config{})
	if err != nil {
		return nil, err
	}
	r.RegisterEnvironment(os.Environ())
	return r, nil
}

func (c Config) scheduler(p Place, backlog Tracker, store statestore.Store, agent Driver) wave.Config {
	s := c.Settings
	if s.Supervise && c.Approver == nil {
		c.Approver = wave.Desk{Store: store}.Approver()
	}
	needs := s.Policy.For(agent.Info().EffectiveTier())
	return wave.Config{Repo: p.Repo, State: p.State, Tracker: backlog, Store: store, Driver: agent,
		Repository: s.repository(), Repositories: c.repositorySettings(p), Model: s.Model, AllowRedBase: s.AllowRedBase,
		ProtectedBranches: s.ProtectedBranches, PassEnv: s.PassEnv, MaxItems: s.MaxItems, Parallel: s.Parallel, MaxAttempts: s.MaxAttempts,
		Policy: &needs, Budget: s.Limits.Budget, Prices: c.Prices, Alerts: c.Alerts, AgentTimeout: s.AgentTimeout, IdleTimeout: s.IdleTimeout, TestTimeout: s.TestTimeout, Lease: s.Lease,
		Gates: c.Gates, Reviewer: c.Reviewer, Approver: c.Approver, Prompts: c.Prompts, Observers: c.Observers, Sinks: c.Sinks, Redactor: c.Redactor, Logger: c.Logger}
}

// Place is where things are: the repository, its backlog and the engine's state.
type Place struct {
	Repo    string // folder that was named, absolute
	Backlog string // file
	State   string // directory
}

// Locate finds the places for a repository. It changes nothing.
func Locate(ctx context.Context, repo string, s Settings) (Place, error) {
	if repo == "" {
		repo = "."
	}
	abs, err := filepath.Abs(repo)
	if err != nil {
		return Place{}, err
	}
	p := Place{Repo: abs, Backlog: s.Tracker, State: s.State}
	if p.Backlog == "" {
		p.Backlog = "tracker.json"
	}
	if !filepath.IsAbs(p.Backlog) {
		p.Backlog = filepath.Join(abs, p.Backlog)
	}
	if p.State == "" {
		if p.State, err = defaultState(ctx, abs, p.Backlog); err != nil {
			return p, err
		}
	} else if p.State, err = filepath.Abs(p.State); err != nil {
		return p, err
	}
	return p, nil
}

// OpenBacklog opens the backlog file.
func (p Place) OpenBacklog() (*tracker.File, error) {
	return tracker.OpenFile(tracker.FileConfig{Path: p.Backlog, LockDir: filepath.Join(p.State, "locks")})
}

// OpenStore opens the engine's database, making it, and the name of the state directory, at first.
func (p Place) OpenStore(ctx context.Context) (statestore.Store, error) {
	if _, err := wave.Place(p.State); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(p.State, "state.db")})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// ReadStore opens the engine's database for those who only read it. Where there is none yet it is an empty store, and nothing is made.
func (p Place) ReadStore(ctx context.Context) (statestore.Store, error) {
	if _, err := os.Stat(filepath.Join(p.State, "state.db")); errors.Is(err, fs.ErrNotExist) {
		return statestore.NewMemory(statestore.MemoryConfig{}), nil
	} else if err != nil {
		return nil, err
	}
	return p.OpenStore(ctx)
}

// Halt is the switch that stops every wave of the place.
func (p Place) Halt() wave.Halt { return wave.Halt{Dir: p.State} }

// defaultState is the folder of a repository, or of a backlog that lies in none, below the user's state folder.
func defaultState(ctx context.Context, repo, backlog string) (string, error) {
	program, err := git.Find(ctx)
	if err != nil {
		return "", err
	}
	id := ""
	user, err := program.OpenUser(ctx, repo)
	switch {
	case err == nil:
		id = user.ID()
	case !errors.Is(err, git.ErrNotRepository):
		return "", err
	default: // the items of a backlog outside may name their repositories
		folder, missing := filepath.EvalSymlinks(backlog)
		if missing != nil {
			return "", &wave.SetupError{Code: "not_a_repository", Message: err.Error(), Hint: "run git init there, or name the folder of a repository", Err: err}
		}
		id = git.PlaceID(filepath.Dir(folder))
	}
	root, err := stateRoot(os.Getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "aesop", id), nil
}

func stateRoot(env func(string) string) (string, error) {
	for _, place := range stateRoots() {
		if dir := env(place.name); filepath.IsAbs(dir) {
			return filepath.Join(dir, place.below), nil
		}
	}
	return "", &wave.SetupError{Code: "no_state", Message: "there is no place for the engine's state: neither XDG_STATE_HOME nor HOME is set",
		Hint: "set one of them, or name a folder for the state"}
}

type rootPlace struct{ name, below string }

// agent is the driver of the configuration.
func (c Config) agent() (Driver, error) {
	if c.Agent != nil {
		return c.Agent, nil
	}
	for _, b := range builtin() {
		if b.name == c.Settings.Driver {
			return b.open(c)
		}
	}
	message := "no driver is named"
	if c.Settings.Driver != "" {
		message = fmt.Sprintf("there is no driver %q", c.Settings.Driver)
	}
	return nil, &wave.SetupError{Code: "unknown_driver", Message: message, Hint: "name a driver: " + strings.Join(Drivers(), ", ")}
}
