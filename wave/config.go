package wave

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.uber.org/zap"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/driver"
	"aesop/redact"
	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/tracker"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// Repository is what may differ between the repositories of a wave.
type Repository struct {
	Remote string // "": origin, else the only one
	// Local ships to a branch of the user's own repository, and starts from there too, instead of a remote.
	Local bool
	Base  string // branch of the remote; "": its default branch
	// Verify is a test of the whole repository. It runs on the base before any agent does, and on what is about to ship.
	Verify tracker.Command
	// Prepare are lines for sh -c that make a fresh tree ready, such as npm ci. They run at its root, as a test would, before an agent
	// and before each test. What they leave must be ignored by the base's ignore files.
	Prepare []string
	// Carry are paths of the user's work tree that are copied into each fresh tree, such as node_modules/; the base's ignore files must
	// name them.
	Carry []string
}

// Config is what a Scheduler needs. Repo, State, Tracker, Store and Driver are required; every other field has a default where
// it is zero.
type Config struct {
	Repo    string // a folder in the user's repository; not used where the backlog's items name their repositories
	State   string // local folder for the engine's own files, outside any repository
	Tracker tracker.Tracker
	Store   statestore.Store
	Driver  driver.Driver

	Repository
	// Repositories says what differs in the repository whose work tree is at root; nil: nothing.
	Repositories func(root string, common Repository) (Repository, error)

	Model        string // overrides the driver's model of workers; an item's own model overrides both
	Owner        string // shown in claims; "": user and host
	AllowRedBase bool
	// ProtectedBranches are patterns of branches never pushed to, beside the base, main, master and release/*.
	ProtectedBranches []string
	PassEnv           []string // names of variables that agents and tests see beside those that every program needs

	MaxItems     int           // of a wave; 0: 5
	Parallel     int           // agents at once; 0: 4
	MaxAttempts  int           // claims of one item that may end without shipping; 0: 3
	AgentTimeout time.Duration // of one dispatch; 0: 30m
	IdleTimeout  time.Duration // of a silent agent; 0: 10m
	TestTimeout  time.Duration // of one test command; 0: 10m
	Lease        time.Duration // of claims; 0: 15m

	Budget cost.Budget  // what may be spent; the zero one limits nothing
	Prices *price.Table // nil: the built-in one
	// Alerts is told at 70, 90 and 100 percent of each limit, once a wave; nil: the file alerts.jsonl in State.
	Alerts cost.AlertSink

	Policy *policy.Policy // how much proof work needs; nil: by the driver's tier

	Gates     []Gate // asked beside HALT
	Reviewer  Reviewer
	Approver  Approver
	Prompts   PromptBuilder                    // nil: the built-in template
	Shipper   func(journal.Repository) Shipper // nil: the remote
	Observers []Observer
	// Sinks are told what the store commits of jobs and waves, at least once, also after a crash: see aesop/statestore/outbox. Names are kept
	// in the store, so that what is committed while nobody sends is owed to them.
	Sinks    []outbox.Named
	Redactor *redact.Redactor // takes secrets out of all that leaves the engine but for the tasks of drivers; nil: the default one

	Clock  func() time.Time            // nil: time.Now
	Rand   io.Reader                   // of tokens and ids; nil: crypto/rand
	Lookup func(string) (string, bool) // environment; nil: os.LookupEnv
	Logger *zap.Logger                 // nil: none
}

// Defaults of Config.
const (
	DefaultMaxItems     = 5
	DefaultParallel     = 4
	DefaultMaxAttempts  = 3
	DefaultAgentTimeout = 30 * time.Minute
	DefaultIdleTimeout  = 10 * time.Minute
	DefaultTestTimeout  = 10 * time.Minute
	DefaultLease        = 15 * time.Minute
)

// minLease is the shortest lease that can be renewed in time.
const minLease = 100 * time.Millisecond

func (c *Config) complete() error {
	for _, required := range []struct {
		missing bool
		name    string
	}{{c.Repo == "", "Repo"}, {c.State == "", "State"}, {c.Tracker == nil, "Tracker"}, {c.Store == nil, "Store"}, {c.Driver == nil, "Driver"}} {
		if required.missing {
			return errors.New("wave: Config." + required.name + " is required")
		}
	}
	for _, pattern := range c.ProtectedBranches {
		if !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("wave: ProtectedBranches: %q is no pattern", pattern)
		}
	}
	if c.Policy != nil {
		if err := c.Policy.Check(); err != nil {
			return fmt.Errorf("wave: Policy: %w", err)
		}
	}
	if err := c.Budget.Check(); err != nil {
		return fmt.Errorf("wave: Budget: %w", err)
	}
	if err := checkSinks(c.Sinks); err != nil {
		return fmt.Errorf("wave: Sinks: %w", err)
	}
	setDefault(&c.MaxItems, DefaultMaxItems)
	setDefault(&c.Parallel, DefaultParallel)
	setDefault(&c.MaxAttempts, DefaultMaxAttempts)
	setDefault(&c.AgentTimeout, DefaultAgentTimeout)
	setDefault(&c.IdleTimeout, DefaultIdleTimeout)
	setDefault(&c.TestTimeout, DefaultTestTimeout)
	setDefault(&c.Lease, DefaultLease)
	if c.Lease < minLease {
		return fmt.Errorf("wave: Lease is %s, must be at least %s", c.Lease, minLease)
	}
	if c.Prompts == nil {
		c.Prompts = Template{}
	}
	if c.Prices == nil {
		table := price.Default()
		c.Prices = &table
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Lookup == nil {
		c.Lookup = os.LookupEnv
	}
	if c.Owner == "" {
		c.Owner = defaultOwner(c.Lookup)
	}
	return c.closed()
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

func defaultOwner(lookup func(string) (string, bool)) string {
	host, _ := os.Hostname()
	name, _ := lookup("USER")
	if name == "" {
		name = "aesop"
	}
	return name + "@" + host
}

// repository is the configuration of the repository at root.
func (s *Scheduler) repository(root string) (Repository, error) {
	if s.config.Repositories == nil {
		return s.config.Repository, nil
	}
	return s.config.Repositories(root, s.config.Repository)
}
