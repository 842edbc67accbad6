// Package stateapi is the one seam between what is stored and the programs that look at it or add to it: dashboards,
// status lines, hooks.
//
// A ReadAPI answers from the store, the backlog, the ledger and the switch that halts. What cannot be told is an error,
// never an empty answer: a part that was not given is ErrNotConfigured, and what is missing or damaged is named. Lists
// come in pages, and a page costs the same wherever it is and however much is stored.
//
//	read, err := stateapi.NewRead(stateapi.ReadConfig{Store: store, Backlog: file, Ledger: ledger.New(store)})
//	page, err := read.Agents(ctx, stateapi.AgentQuery{Live: true}, stateapi.Page{})
//
// A WriteAPI writes what such programs may: the status of an orchestrator, heartbeats, lines of the build log, and
// requests to jobs. Each call is one transaction with the event and what is derived from it. With a key a call happens
// once, however often it is repeated and by however many processes; with a version it happens only to what the caller has
// seen.
package stateapi

import (
	"errors"
	"fmt"
	"time"

	"aesop/statestore/lifecycle"
)

// The decisions of a caller. What a name has nothing under is statestore.ErrNotFound, and what has changed since the
// caller saw it is a *statestore.ConflictError.
var (
	ErrNotConfigured = errors.New("not configured") // the part of a ReadAPI that would know
	ErrBadPage       = errors.New("bad page")       // a limit that is none, or a cursor of another list
	ErrInvalid       = errors.New("invalid")        // what is to be written cannot be, or what is asked for cannot be there
)

// KeyReusedError says that a key was used before for something else. Nothing was written.
type KeyReusedError struct {
	Key string
}

func (e *KeyReusedError) Error() string {
	return fmt.Sprintf("key %q was used before, for another request", e.Key)
}

// Fresh says whether something is new enough to be believed.
type Fresh string

// The answers.
const (
	IsFresh  Fresh = "fresh"
	IsStale  Fresh = "stale"
	IsFuture Fresh = "future" // more than lifecycle.Tolerance ahead of the store's clock: one of the clocks is wrong
)

// Freshness is how old something is by the store's clock. An age that equals the limit is still fresh.
type Freshness struct {
	Fresh Fresh `json:"fresh"`
	AgeMs int64 `json:"ageMs"` // below zero: ahead
}

func freshness(at, now time.Time, limit time.Duration) Freshness {
	age := now.Sub(at)
	f := Freshness{Fresh: IsFresh, AgeMs: age.Milliseconds()}
	switch {
	case -age > lifecycle.Tolerance:
		f.Fresh = IsFuture
	case age > limit:
		f.Fresh = IsStale
	}
	return f
}
