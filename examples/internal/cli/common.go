package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"aesop"
)

// Common are the flags that every command has.
type Common struct {
	Repo    string  `help:"A folder of the repository." default:"." placeholder:"DIR"`
	Tracker *string `help:"The backlog (default: tracker.json in the repository)." placeholder:"FILE"`
	State   *string `help:"The engine's own folder (default: by repository, below the user's state folder)." placeholder:"DIR"`
	Store   *string `hidden:"" help:"Where claims and events are kept (default: state.db in the state folder)." placeholder:"URL"`
	Config  string  `help:"The configuration (default: aesop.json in the repository)." placeholder:"FILE"`
	JSON    bool    `name:"json" help:"Print one JSON document on standard output."`
}

// Load resolves the settings. more are flags of the command, by key; those that are nil were not given.
func (c Common) Load(more map[string]*string) (aesop.Settings, []aesop.Setting, error) {
	flags := map[string]string{}
	for key, value := range map[string]*string{"tracker": c.Tracker, "state": c.State, "store": c.Store} {
		if value != nil {
			abs := *value
			if key != "store" {
				var err error
				if abs, err = filepath.Abs(abs); err != nil {
					return aesop.Settings{}, nil, err
				}
			}
			flags[key] = abs
		}
	}
	for key, value := range more {
		if value != nil {
			flags[key] = *value
		}
	}
	from := aesop.Sources{Flags: flags, Lookup: os.LookupEnv, File: c.Config, Need: c.Config != ""}
	if from.File == "" {
		from.File = filepath.Join(c.Repo, "aesop.json")
	}
	return aesop.LoadSettings(from)
}

// Locate resolves the settings and where things are.
func (c Common) Locate(ctx context.Context) (aesop.Settings, aesop.Place, error) {
	settings, _, err := c.Load(nil)
	if err != nil {
		return settings, aesop.Place{}, err
	}
	place, err := aesop.Locate(ctx, c.Repo, settings)
	return settings, place, err
}

// BeginWith tells the user of a missing backlog how to get one.
func BeginWith(hint string, err error) error {
	file, ok := errors.AsType[*aesop.FileError](err)
	if !ok || file.Code != "missing" {
		return err
	}
	missing := *file
	missing.Hint = hint
	return &missing
}

// Damaged says whether an error is about a document that people wrote.
func Damaged(err error) bool {
	_, ok := errors.AsType[*aesop.FileError](err)
	return ok
}
