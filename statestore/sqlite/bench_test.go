package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/sqlite"
)

// jobs is how many there are in the stores of these benchmarks, each in an attempt that runs.
const jobs = 250

func jobID(i int64) string { return "w/" + strconv.FormatInt(i%jobs, 10) }

func token(i int64) string { return fmt.Sprintf("%064x", i%jobs) }

// transition is one of a job.
func transition(b *testing.B, store statestore.Store, i int64) {
	err := store.Update(b.Context(), func(tx statestore.Tx) error {
		return apply(tx, job.Progress{ID: jobID(i), By: job.Worker{Token: token(i)}, Fields: []byte(fmt.Sprintf(`{"n":%d}`, i))})
	})
	if err != nil {
		b.Fatal(err)
	}
}

func apply(tx statestore.Tx, request job.Request) error {
	d, err := job.Apply(tx, request)
	if err == nil && d.Outcome != job.Applied {
		err = errors.New(d.Text)
	}
	return err
}

// fill gives an empty store the jobs, and so many events in all: the rest are more in their streams, many to a transaction.
func fill(b *testing.B, store statestore.Store, events int) {
	b.Helper()
	err := store.Update(b.Context(), func(tx statestore.Tx) error {
		for i := range int64(jobs) {
			create := job.Create{ID: jobID(i), Item: jobID(i), Wave: "w", Seat: "worker"}
			if err := errors.Join(apply(tx, create), apply(tx, job.Claim{ID: create.ID, Token: token(i)})); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	entries := make([]statestore.Entry, events/jobs-2)
	for i := range entries {
		entries[i] = statestore.Entry{Type: "job.progress", Data: make([]byte, 400)}
	}
	// In rounds over the streams, so that their events lie as mixed as those of real work do.
	for len(entries) > 0 {
		round := entries[:min(10, len(entries))]
		entries = entries[len(round):]
		err := store.Update(b.Context(), func(tx statestore.Tx) error {
			for i := range int64(jobs) {
				if _, err := tx.Append(job.Stream(jobID(i)), statestore.AnyVersion, round...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFlat compares a transition on a store of a thousand events with one on a store of a million, in pairs whose order
// changes, and reports the medians and their ratio. Run it with -benchtime 400x or so; .ci/flat does, and judges the ratio.
func BenchmarkFlat(b *testing.B) {
	stores := []statestore.Store{benchOpen(b), benchOpen(b)}
	fill(b, stores[0], 1_000)
	fill(b, stores[1], 1_000_000)
	times := [2][]time.Duration{}
	var n int64
	for b.Loop() {
		n++
		for i := range stores {
			which := (i + int(n)) % 2
			began := time.Now()
			transition(b, stores[which], n*79) // another job each time
			times[which] = append(times[which], time.Since(began))
		}
	}
	medians, sums := [2]float64{}, [2]float64{}
	for i := range times {
		slices.Sort(times[i])
		medians[i] = float64(times[i][len(times[i])/2])
		for _, t := range times[i] {
			sums[i] += float64(t)
		}
	}
	b.ReportMetric(medians[0], "ns/1000")
	b.ReportMetric(medians[1], "ns/1000000")
	b.ReportMetric(medians[1]/medians[0], "ratio")
	b.ReportMetric(sums[1]/sums[0], "ratio-of-sums") // with what emptying the log costs now and then
}

func benchOpen(b *testing.B) statestore.Store {
	store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(b.TempDir(), "state.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}

func BenchmarkTransitionSerial(b *testing.B) {
	store := benchOpen(b)
	fill(b, store, 2*jobs)
	var i int64
	for b.Loop() {
		i++
		transition(b, store, i)
	}
}

func BenchmarkTransition64Callers(b *testing.B) {
	store := benchOpen(b)
	fill(b, store, 2*jobs)
	b.ResetTimer()
	var i atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for n := i.Add(1); n <= int64(b.N); n = i.Add(1) {
				transition(b, store, n)
			}
		})
	}
	wg.Wait()
}
