package stateapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/statestore/lifecycle"
	"aesop/tracker"
)

// Backlog is where items are. A tracker.Tracker is one.
type Backlog interface {
	// Backlog reads all items. A missing or damaged backlog is an error, never empty.
	Backlog(ctx context.Context) (tracker.Backlog, error)
}

// Ledger is where money is. A *ledger.Ledger is one.
type Ledger interface {
	Book(ctx context.Context) (*cost.Book, error)
	Health(ctx context.Context) (ledger.Health, error)
}

// Waves finds waves in the store.
type Waves interface {
	// Waves yields the waves after one in the order of their ids, "" is before the first. It reads no further than it is
	// asked to.
	Waves(r statestore.Reader, after string) iter.Seq2[Wave, error]
}

// Halt is the switch that stops all waves.
type Halt interface {
	// Halted returns why waves are halted, or nil where they are not. The error is that nobody can tell.
	Halted(ctx context.Context) (*Halted, error)
}

// Halted says why and since when waves are halted.
type Halted struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	By     string    `json:"by,omitempty"`
}

// Wave is what a list tells of a wave.
type Wave struct {
	ID        string         `json:"id"`
	Place     string         `json:"place,omitempty"` // the state that runs it
	Driver    string         `json:"driver,omitempty"`
	StartedAt time.Time      `json:"startedAt"`
	EndedAt   time.Time      `json:"endedAt,omitzero"`
	Outcome   string         `json:"outcome,omitempty"` // "" while it runs
	Items     map[string]int `json:"items,omitempty"`   // by their state in the wave
}

// Defaults of a ReadConfig.
const (
	DefaultStatusFresh = 300 * time.Second
	DefaultBeatFresh   = 200 * time.Second
)

// ReadConfig is what a ReadAPI reads. A part that is nil is answered with ErrNotConfigured.
type ReadConfig struct {
	Store   statestore.Store // statuses, heartbeats, agents, jobs, waves, rows of the ledger, events
	Backlog Backlog
	Ledger  Ledger // what was spent
	Waves   Waves  // aesop.Place.ReadAPI gives one over the waves of its store
	Halt    Halt

	StatusFresh time.Duration        // how old a status may be; 0: DefaultStatusFresh
	BeatFresh   time.Duration        // how old a heartbeat may be; 0: DefaultBeatFresh
	Thresholds  lifecycle.Thresholds // by which agents are judged
}

// ReadAPI reads. Each call sees one state of the store, but for Spent, which asks its Ledger twice. It is safe for concurrent use.
type ReadAPI struct {
	c ReadConfig
}

// NewRead returns a ReadAPI, or an error where its ages make no sense.
func NewRead(c ReadConfig) (*ReadAPI, error) {
	if err := c.Thresholds.Check(); err != nil {
		return nil, err
	}
	if c.StatusFresh < 0 || c.BeatFresh < 0 {
		return nil, errors.New("ages for freshness must not be negative")
	}
	if c.StatusFresh == 0 {
		c.StatusFresh = DefaultStatusFresh
	}
	if c.BeatFresh == 0 {
		c.BeatFresh = DefaultBeatFresh
	}
	return &ReadAPI{c}, nil
}

func notConfigured(part string) error { return fmt.Errorf("%s: %w", part, ErrNotConfigured) }

// view reads the store.
func (a *ReadAPI) view(ctx context.Context, what string, fn func(statestore.Reader) error) error {
	if a.c.Store == nil {
		return notConfigured(what)
	}
	if err := a.c.Store.View(ctx, fn); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Backlog is all items, as the tracker has them.
func (a *ReadAPI) Backlog(ctx context.Context) (tracker.Backlog, error) {
	if a.c.Backlog == nil {
		return tracker.Backlog{}, notConfigured("backlog")
	}
	return a.c.Backlog.Backlog(ctx)
}

// Halted is why waves are halted, or nil where they are not.
func (a *ReadAPI) Halted(ctx context.Context) (*Halted, error) {
	if a.c.Halt == nil {
		return nil, notConfigured("halt")
	}
	return a.c.Halt.Halted(ctx)
}

// Waves are a page of all waves, by their ids.
func (a *ReadAPI) Waves(ctx context.Context, p Page) (Of[Wave], error) {
	if a.c.Waves == nil {
		return Of[Wave]{}, notConfigured("waves")
	}
	return pageOf(ctx, a, "waves", "", p, func(r statestore.Reader, after string, page *page[Wave]) error {
		for w, err := range a.c.Waves.Waves(r, after) {
			if err != nil {
				return err
			}
			if !page.add(w.ID, &w) {
				return nil
			}
		}
		return nil
	})
}
