package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/cost/transcript"
	"aesop/statestore"
	"aesop/statestore/job"
)

// WaveSource is the Call.Source of rows that waves write.
const WaveSource = "wave"

// Ingest says what transcripts are read into a ledger, and how.
type Ingest struct {
	Transcripts transcript.Config   // its Reached and Before are not looked at
	Prices      price.Table         // the zero Table leaves all unpriced
	Clean       func(string) string // takes secrets out of names; nil: they are kept as they are
	// Batch is how many calls are committed at once, at least, with how far that came: memory has so many. 0 is 4000. It grows with the ledger,
	// since what is kept with each grows too.
	Batch int
}

// Ingested says what an Ingest did.
type Ingested struct {
	transcript.Summary
	cost.Recorded
	OfWaves  int `json:"ofWaves"`  // calls of sessions that waves have recorded: they are not recorded again
	Unpriced int `json:"unpriced"` // of those recorded
}

// ErrBusy is returned where another Ingest of the same store came first. What this one recorded before is kept; nothing is lost or there
// twice, and the next one goes on.
var ErrBusy = errors.New("another ingest is at work on the ledger")

// transcriptsKey has the transcript.State that the rows of the ledger stand for.
const transcriptsKey statestore.Key = "ledger/transcripts"

// Ingest records what transcripts have that was not recorded yet. Rows and how far the transcripts were read are committed together, in
// several transactions where there is much, so that a process that dies at any time loses nothing and records nothing twice. What the sessions
// of waves used is in the ledger already, as their drivers told it, and is left out. Files that changed since the oldest job began that has not
// ended are left for the next time: its agents are recorded when they end. An Ingested comes back beside an error too.
func (l *Ledger) Ingest(ctx context.Context, in Ingest) (Ingested, error) {
	r := &ingesting{Ingest: in, ledger: l}
	state, err := r.begin(ctx)
	if err != nil {
		return Ingested{}, err
	}
	config := in.Transcripts
	config.Before = r.began
	config.Reached = func(now func() transcript.State) error {
		if len(r.batch) < max(cmp.Or(in.Batch, 4000), r.rows/8) {
			return nil
		}
		return r.commit(ctx, now())
	}
	state, r.done.Summary, err = transcript.Ingest(ctx, config, state, r.take)
	if err == nil {
		err = r.commit(ctx, state)
	}
	return r.done, err
}

// ingesting is one Ingest.
type ingesting struct {
	Ingest
	ledger *Ledger
	done   Ingested
	rev    statestore.Rev // of the state's record
	waves  sessions
	began  time.Time // when the oldest job began that has not ended; zero: there is none
	batch  []cost.Call
	rows   int // of the ledger
}

// begin reads how far the one before came, and which sessions are those of waves.
func (i *ingesting) begin(ctx context.Context) (state transcript.State, err error) {
	if err := i.ledger.readOn(ctx, nil); err != nil {
		return state, err
	}
	err = i.ledger.store.View(ctx, func(r statestore.Reader) error {
		state, i.rev, i.waves = transcript.State{}, 0, sessions{}
		switch record, err := r.Get(transcriptsKey); {
		case errors.Is(err, statestore.ErrNotFound):
		case err != nil:
			return fmt.Errorf("read how far transcripts are ingested: %w", err)
		default:
			i.rev = record.Rev
			if err := json.Unmarshal(record.Value, &state); err != nil {
				return statestore.DamagedRecord(transcriptsKey, err)
			}
		}
		book, err := i.ledger.In(r)
		if err != nil {
			return err
		}
		i.rows = book.Len()
		i.began = time.Time{}
		for record, err := range job.Alive(r) {
			if err != nil {
				return err
			}
			if i.began.IsZero() || record.CreatedAt.Before(i.began) {
				i.began = record.CreatedAt
			}
		}
		return i.waves.readOn(r)
	})
	return state, err
}

func (i *ingesting) take(calls []cost.Call) error {
	for _, c := range calls {
		if i.Clean != nil {
			c = c.Clean(i.Clean)
		}
		_ = i.Prices.Charge(&c) // what has no price is unpriced, and counted so
		i.batch = append(i.batch, c)
	}
	return nil
}

// commit records the batch with the state that it leads to.
func (i *ingesting) commit(ctx context.Context, state transcript.State) error {
	value, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("keep how far transcripts are ingested: %w", err)
	}
	if err := i.ledger.readOn(ctx, nil); err != nil { // so that the transaction has little to read
		return err
	}
	var rev statestore.Rev
	var done Ingested
	err = i.ledger.store.Update(ctx, func(tx statestore.Tx) error {
		done = Ingested{}
		waves := i.waves.clone()
		if err := waves.readOn(tx); err != nil {
			return err
		}
		book, err := i.ledger.In(tx)
		if err != nil {
			return err
		}
		var rows []cost.Call
		for _, c := range i.batch {
			switch {
			case waves.have(c):
				done.OfWaves++
				continue
			case c.Check() != nil:
				done.Refused++
				continue
			case c.Cost == nil:
				done.Unpriced++
			}
			rows = append(rows, c)
		}
		done.Recorded = done.Recorded.Add(book.Add(rows...))
		if err := Append(tx, rows...); err != nil {
			return err
		}
		rev, err = tx.Put(transcriptsKey, value, i.rev)
		return err
	})
	if errors.Is(err, statestore.ErrConflict) {
		return fmt.Errorf("ingest %d calls: %w", len(i.batch), ErrBusy)
	}
	if err != nil {
		return fmt.Errorf("ingest %d calls: %w", len(i.batch), err)
	}
	i.rev, i.batch = rev, i.batch[:0]
	i.rows += done.Added
	i.done.Recorded = i.done.Recorded.Add(done.Recorded)
	i.done.OfWaves, i.done.Unpriced = i.done.OfWaves+done.OfWaves, i.done.Unpriced+done.Unpriced
	return nil
}
