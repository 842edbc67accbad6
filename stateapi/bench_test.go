package stateapi_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/cost"
	"aesop/stateapi"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/statestore/lifecycle"
	"aesop/statestore/sqlite"
	"aesop/tracker"
)

// Sizes of the store that pages are read from: 1,000,000 events.
const (
	benchJobs   = 120_000 // of six events each, that have ended
	benchCalls  = 250_000
	benchEvents = 1_000_000
)

// BenchmarkPages reads the first, the middle and the last page of each list by turns, from a store of a million events, and
// reports the median of each in milliseconds and last/first, which is 1 where pages are flat.
func BenchmarkPages(b *testing.B) {
	store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "state.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	fillStore(b, store)
	a, err := stateapi.NewRead(stateapi.ReadConfig{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	newest, err := a.Newest(b.Context())
	if err != nil || newest < benchEvents {
		b.Fatal(newest, err)
	}
	ctx := b.Context()
	middle, last := fmt.Sprintf("w0500/%06d", benchJobs/2), fmt.Sprintf("w0999/%06d", benchJobs-120)
	events := func(since statestore.Seq, types ...string) func() (int, error) {
		return func() (int, error) {
			of, err := a.Events(ctx, stateapi.EventQuery{Since: since, Types: types}, stateapi.Page{})
			return len(of.Entries), err
		}
	}
	jobs := func(after string) func() (int, error) {
		return func() (int, error) {
			of, err := a.Jobs(ctx, stateapi.JobQuery{}, stateapi.Page{Cursor: stateapi.Cursor("jobs", stateapi.JobQuery{}, after)})
			return len(of.Entries), err
		}
	}
	agents := func(q stateapi.AgentQuery, after string) func() (int, error) {
		return func() (int, error) {
			of, err := a.Agents(ctx, q, stateapi.Page{Cursor: stateapi.Cursor("agents", q, after)})
			return len(of.Entries), err
		}
	}
	rows := func(after statestore.Seq) func() (int, error) {
		return func() (int, error) {
			of, err := a.Rows(ctx, stateapi.Page{Cursor: stateapi.Cursor("ledger", nil, fmt.Sprint(after))})
			return len(of.Entries), err
		}
	}
	live := stateapi.AgentQuery{Live: true}
	for _, list := range []struct {
		name  string
		pages [3]func() (int, error)
		full  bool
	}{
		{"events", [3]func() (int, error){events(0), events(newest / 2), events(newest - 100)}, true},
		{"events-of-a-type", [3]func() (int, error){events(0, "note."), events(newest/2, "note."), events(newest-1100, "note.")}, false},
		{"jobs", [3]func() (int, error){jobs(""), jobs(middle), jobs(last)}, true},
		{"agents", [3]func() (int, error){agents(stateapi.AgentQuery{}, ""), agents(stateapi.AgentQuery{}, middle), agents(stateapi.AgentQuery{}, last)}, true},
		{"agents-live", [3]func() (int, error){agents(live, "live/0000"), agents(live, "live/0300"), agents(live, "live/0899")}, true},
		{"agents-live-among-ended", [3]func() (int, error){agents(live, ""), agents(live, "item "+middle), agents(live, "item w0900/108000")}, false},
		{"ledger", [3]func() (int, error){rows(0), rows(newest - benchCalls/2), rows(newest - 101)}, true},
	} {
		b.Run(list.name, func(b *testing.B) {
			var took [3][]time.Duration
			for n := 0; b.Loop(); n++ {
				for i := range 3 {
					i = (i + n) % 3
					began := time.Now()
					entries, err := list.pages[i]()
					took[i] = append(took[i], time.Since(began))
					if err != nil || list.full && entries != 100 {
						b.Fatalf("page %d has %d entries: %v", i, entries, err)
					}
				}
			}
			var ms [3]float64
			for i := range took {
				slices.Sort(took[i])
				ms[i] = float64(took[i][len(took[i])/2].Microseconds()) / 1000
			}
			b.ReportMetric(0, "ns/op") // of three pages: says nothing
			b.ReportMetric(ms[0], "ms-first")
			b.ReportMetric(ms[1], "ms-middle")
			b.ReportMetric(ms[2], "ms-last")
			b.ReportMetric(ms[2]/ms[0], "last/first")
		})
	}
}

// fillStore writes jobs that have ended as job.Apply would have, made from one that it did, then live ones, and calls.
func fillStore(b *testing.B, store statestore.Store) {
	b.Helper()
	const model = "w0000/000000"
	token, err := tracker.NewToken(nil)
	if err != nil {
		b.Fatal(err)
	}
	memory := statestore.NewMemory(statestore.MemoryConfig{})
	defer memory.Close()
	by := job.Worker{Token: token}
	apply(b, memory,
		job.Create{ID: model, Item: "item " + model, Wave: "w0000", Seat: "worker"}, job.Claim{ID: model, Token: token},
		job.Progress{ID: model, By: by, Fields: json.RawMessage(`{"step":"read the task"}`)},
		job.Progress{ID: model, By: by, Fields: json.RawMessage(`{"step":"changed some files"}`)},
		job.Reserve{ID: model, By: by}, job.Complete{ID: model, By: by, Reason: "tests pass"})
	var records []statestore.Record
	var events []statestore.Stored
	err = memory.View(b.Context(), func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			records = append(records, record)
		}
		for event, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			events = append(events, event)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	const batch = 4000
	for from := 0; from < benchJobs; from += batch {
		update(b, store, func(tx statestore.Tx) error {
			for n := from; n < from+batch; n++ {
				named := strings.NewReplacer(model, fmt.Sprintf("w%04d/%06d", n*1000/benchJobs, n), `"w0000"`, fmt.Sprintf(`"w%04d"`, n*1000/benchJobs),
					"wave-job/w0000", fmt.Sprintf("wave-job/w%04d", n*1000/benchJobs), tracker.AttemptID(token), fmt.Sprintf("%016x", n))
				for _, r := range records {
					if _, err := tx.Put(statestore.Key(named.Replace(string(r.Key))), []byte(named.Replace(string(r.Value))), 0); err != nil {
						return err
					}
				}
				for _, e := range events {
					_, err := tx.Append(named.Replace(e.Stream), statestore.AnyVersion, statestore.Entry{Type: e.Type, Data: []byte(named.Replace(string(e.Data)))})
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	liveJobs(b, store)
	w, err := stateapi.NewWrite(stateapi.WriteConfig{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	for n := range 100 {
		if _, err := w.Note(b.Context(), stateapi.How{}, fmt.Sprint("line ", n)); err != nil {
			b.Fatal(err)
		}
	}
	fill := benchEvents - benchJobs*len(events) - benchCalls
	for from := 0; from < benchCalls+fill; from += batch {
		update(b, store, func(tx statestore.Tx) error {
			for n := from; n < min(from+batch, benchCalls+fill); n++ {
				if n < fill {
					if _, err := tx.Append("wave/w", statestore.AnyVersion, statestore.Entry{Type: "gate_checked", Data: []byte(`{"name":"halt"}`)}); err != nil {
						return err
					}
					continue
				}
				usd := cost.Money(n)
				call := cost.Call{ID: fmt.Sprint(n), At: tx.Now(), Wave: fmt.Sprintf("w%04d", n*1000/benchCalls), Item: "i", Phase: "build", Backend: "claude", Cost: &usd,
					Usage: cost.Usage{Model: "m", Input: 1000, Output: int64(n), Metered: true}}
				if err := ledger.Append(tx, call); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// liveJobs are 1,000 that run, with their heartbeats.
func liveJobs(b *testing.B, store statestore.Store) {
	b.Helper()
	update(b, store, func(tx statestore.Tx) error {
		for n := range 1000 {
			id := fmt.Sprintf("x-live/%04d", n)
			token, err := tracker.NewToken(nil)
			if err != nil {
				return err
			}
			for _, request := range []job.Request{
				job.Create{ID: id, Item: fmt.Sprintf("live/%04d", n), Wave: "x-live", Seat: "worker"}, job.Claim{ID: id, Token: token},
				job.Progress{ID: id, By: job.Worker{Token: token}, Fields: json.RawMessage(`{"step":"reading"}`)},
			} {
				if d, err := job.Apply(tx, request); err != nil || d.Outcome != job.Applied {
					return fmt.Errorf("%+v: %w", d, err)
				}
			}
			if err := lifecycle.Beat(tx, lifecycle.Heartbeat{Job: id, Attempt: tracker.AttemptID(token), Progress: tx.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
}

func apply(b *testing.B, store statestore.Store, requests ...job.Request) {
	b.Helper()
	update(b, store, func(tx statestore.Tx) error {
		for _, request := range requests {
			if d, err := job.Apply(tx, request); err != nil || d.Outcome != job.Applied {
				return fmt.Errorf("%T: %+v: %w", request, d, err)
			}
		}
		return nil
	})
}

func update(b *testing.B, store statestore.Store, fn func(tx statestore.Tx) error) {
	b.Helper()
	if err := store.Update(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}
