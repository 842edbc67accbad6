package aesop

import (
	"context"
	"iter"

	"aesop/stateapi"
	"aesop/statestore"
	"aesop/statestore/ledger"
	"aesop/wave"
	"aesop/wave/journal"
)

// ReadAPI reads all that is known of a place through one type: its backlog, jobs, agents, waves, money and events, and whether it is halted. The
// store is that of OpenStore or ReadStore.
func (p Place) ReadAPI(store statestore.Store) (*stateapi.ReadAPI, error) {
	backlog, err := p.OpenBacklog()
	if err != nil {
		return nil, err
	}
	return stateapi.NewRead(stateapi.ReadConfig{Store: store, Backlog: backlog, Ledger: ledger.New(store), Waves: listedWaves{}, Halt: haltFile(p.Halt())})
}

// WriteAPI writes what other programs may, with the secrets of this process's environment, and what looks like one, taken out of texts.
func (p Place) WriteAPI(store statestore.Store) (*stateapi.WriteAPI, error) {
	redactor, err := defaultRedactor()
	if err != nil {
		return nil, err
	}
	return stateapi.NewWrite(stateapi.WriteConfig{Store: store, Redact: redactor.String})
}

// listedWaves finds waves for stateapi, which is below them.
type listedWaves struct{}

func (listedWaves) Waves(r statestore.Reader, after string) iter.Seq2[stateapi.Wave, error] {
	return func(yield func(stateapi.Wave, error) bool) {
		for s, err := range journal.Summaries(r, after) {
			row := stateapi.Wave{ID: s.ID, Place: s.Place, Driver: s.Driver, StartedAt: s.At, EndedAt: s.EndedAt, Outcome: string(s.Outcome), Items: s.Items}
			if !yield(row, err) {
				return
			}
		}
	}
}

// haltFile is the HALT of a state directory for stateapi.
type haltFile wave.Halt

func (h haltFile) Halted(context.Context) (*stateapi.Halted, error) {
	note, err := wave.Halt(h).Note()
	if note == nil || err != nil {
		return nil, err
	}
	return &stateapi.Halted{Reason: note.Reason, At: note.At, By: note.By}, nil
}
