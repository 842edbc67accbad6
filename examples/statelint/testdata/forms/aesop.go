// Package aesop opens the parts, as the real one does.
package aesop

import (
	"os"
	"path/filepath"

	"aesop/statestore/sqlite"
	"aesop/tracker"
	"aesop/wave"
)

type Place struct{ Repo, Backlog, State string }

func Locate(repo, state string) (Place, error) {
	p := Place{Repo: repo, State: state}
	if p.Backlog == "" {
		p.Backlog = filepath.Join(repo, tracker.Name)
	}
	return p, nil
}

func (p Place) Halt() wave.Halt { return wave.Halt{Dir: p.State} }

// OpenStore may look at the database and hand its path on: aesop and sqlite own it.
func (p Place) OpenStore() error {
	path := filepath.Join(p.State, "state.db")
	if _, err := os.Stat(path); err != nil {
		return err
	}
	return sqlite.Open(sqlite.Config{Path: path})
}

// Peek is of the owner of the store, which the backlog is no part of.
func (p Place) Peek() ([]byte, error) { return os.ReadFile(p.Backlog) } // want tracker.json
