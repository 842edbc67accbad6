package transcript

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aesop/cost"
)

// Config says what is read. Its zero values read nothing.
type Config struct {
	Claude []string // folders of Claude Code's configuration, each with projects in it; one that is missing has no sessions
	Codex  []string // folders of Codex, each with sessions and archived_sessions

	// Before leaves files for the next time that changed at that time or later, such as those that an agent may be writing who is counted
	// elsewhere. Zero: none is left.
	Before time.Time
	// Settle is how long a file has to be left alone before the last message in it counts as whole though it has no stop reason.
	// 0 is ten minutes.
	Settle   time.Duration
	Now      func() time.Time // nil: time.Now
	Progress func(Progress)   // nil: none; it is called often, never twice at once
	// Reached, where it is not nil, is called after take got calls, in its turn. state is what to begin with the next time if all that take
	// has got is kept and Ingest comes no further; it is good until Reached returns, and takes time in proportion to all that was ever given.
	// An error of Reached ends the Ingest like one of take.
	Reached func(state func() State) error
}

// Find is a Config of where the programs keep sessions: $CLAUDE_CONFIG_DIR, which may be a list with commas, else
// ~/.config/claude and ~/.claude; $CODEX_HOME, else ~/.codex.
func Find(getenv func(string) string) Config {
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	var c Config
	for folder := range strings.SplitSeq(getenv("CLAUDE_CONFIG_DIR"), ",") {
		if folder = strings.TrimSpace(folder); folder != "" {
			c.Claude = append(c.Claude, folder)
		}
	}
	if c.Claude == nil && home != "" {
		c.Claude = []string{filepath.Join(home, ".config", "claude"), filepath.Join(home, ".claude")}
	}
	if folder := getenv("CODEX_HOME"); folder != "" {
		c.Codex = []string{folder}
	} else if home != "" {
		c.Codex = []string{filepath.Join(home, ".codex")}
	}
	return c
}

// Progress is how far an Ingest is.
type Progress struct {
	Files, AllFiles int
	Bytes, AllBytes int64 // of what is new in the files
}

// Summary says what an Ingest did.
type Summary struct {
	Files    int          `json:"files"`   // that there are
	Read     int          `json:"read"`    // of them, that had something new
	Left     int          `json:"left"`    // of them, that were left for the next time: see Config.Before
	Bytes    int64        `json:"bytes"`   // read
	Calls    int          `json:"calls"`   // given
	Pending  int          `json:"pending"` // messages that may still grow: given when they cannot
	Problems map[Kind]int `json:"problems"`
	List     []Problem    `json:"list"` // the first hundred of them
}

// Ingest gives take every call that the sessions have and that was not given up to last, some at once and in no order, and returns the
// state to begin with the next time. take never runs twice at once, and may keep what it gets. Where Ingest returns an error, which is ctx's
// or take's or Reached's, the state is last: what was given is given again, under the same ids, which a cost.Ledger has once. A file that cannot be
// read is a Problem, no error; it is tried again the next time.
func Ingest(ctx context.Context, c Config, last State, take func([]cost.Call) error) (State, Summary, error) {
	c.Settle = cmp.Or(c.Settle, 10*time.Minute)
	if c.Now == nil {
		c.Now = time.Now
	}
	in := &ingest{Config: c, clock: c.Now(), take: take, last: last, state: last.clone(), given: map[string]fileState{}, summary: Summary{Problems: map[Kind]int{}},
		fresh: map[key]*message{}}
	for i := range in.state.pending {
		m := in.state.pending[i]
		in.fresh[m.key()] = &m
	}
	if err := in.run(ctx); err != nil {
		return last, in.summary, err
	}
	slices.SortFunc(in.summary.List, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return in.state, in.summary, nil
}
