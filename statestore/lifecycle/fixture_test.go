package lifecycle_test

import (
	"errors"
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/statestore/sqlite"
	"aesop/tracker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a store with a clock that moves when it is told to.
type fixture struct {
	*testing.T
	store statestore.Store
	now   time.Time
	seeds *rand.Rand
}

// onBothStores runs a test on a memory and on a SQLite store.
func onBothStores(t *testing.T, test func(*testing.T, *fixture)) {
	for name, open := range map[string]func(t *testing.T, clock func() time.Time) statestore.Store{
		"memory": func(_ *testing.T, clock func() time.Time) statestore.Store {
			return statestore.NewMemory(statestore.MemoryConfig{Clock: clock})
		},
		"sqlite": func(t *testing.T, clock func() time.Time) statestore.Store {
			store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "state.db"), Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			return store
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), seeds: rand.New(rand.NewSource(1))}
			f.store = open(t, func() time.Time { return f.now })
			t.Cleanup(func() {
				if err := f.store.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, f)
		})
	}
}

func (f *fixture) pass(d time.Duration) { f.now = f.now.Add(d) }

func (f *fixture) token() string {
	f.Helper()
	token, err := tracker.NewToken(f.seeds)
	if err != nil {
		f.Fatal(err)
	}
	return token
}

func (f *fixture) update(fn func(tx statestore.Tx) error) {
	f.Helper()
	if err := f.store.Update(f.Context(), fn); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) view(fn func(r statestore.Reader) error) {
	f.Helper()
	if err := f.store.View(f.Context(), fn); err != nil {
		f.Fatal(err)
	}
}

// apply makes a request, which may be refused.
func (f *fixture) apply(request job.Request) (d job.Decision) {
	f.Helper()
	f.update(func(tx statestore.Tx) (err error) {
		d, err = job.Apply(tx, request)
		return err
	})
	return d
}

func (f *fixture) applied(request job.Request) job.Record {
	f.Helper()
	d := f.apply(request)
	if d.Outcome != job.Applied {
		f.Fatalf("%T: %s %s: %s", request, d.Outcome, d.Reason, d.Text)
	}
	return d.Record
}

// claimed makes a job and claims it.
func (f *fixture) claimed(id string) (token string) {
	f.Helper()
	f.applied(job.Create{ID: id, Item: "item of " + id, Wave: "w1", Seat: "worker"})
	return f.claim(id)
}

func (f *fixture) claim(id string) (token string) {
	f.Helper()
	token = f.token()
	f.applied(job.Claim{ID: id, Token: token})
	return token
}

// beat sends a heartbeat of the attempt of a token.
func (f *fixture) beat(id, token string, progress time.Time) error {
	return f.store.Update(f.Context(), func(tx statestore.Tx) error {
		return lifecycle.Beat(tx, lifecycle.Heartbeat{Job: id, Attempt: tracker.AttemptID(token), Progress: progress})
	})
}

func (f *fixture) mustBeat(id, token string, progress time.Time) {
	f.Helper()
	if err := f.beat(id, token, progress); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) beatOf(id string) (h lifecycle.Heartbeat) {
	f.Helper()
	f.view(func(r statestore.Reader) (err error) { h, err = lifecycle.BeatOf(r, id); return err })
	return h
}

// agent is that of a job. It is checked to be what can be told without its history, too.
func (f *fixture) agent(id string) (a lifecycle.Agent) {
	f.Helper()
	f.view(func(r statestore.Reader) (err error) {
		if a, err = lifecycle.Of(r, id); err != nil {
			return err
		}
		record, err := job.Get(r, id)
		if err != nil {
			return err
		}
		short, err := lifecycle.Look(r, record, lifecycle.Thresholds{})
		long := a
		long.History = nil
		if diff := cmp.Diff(long, short.Agent); diff != "" {
			f.Errorf("job %s without its history differs: %s", id, diff)
		}
		return err
	})
	return a
}

// states are those of the history.
func states(a lifecycle.Agent) (all []lifecycle.State) {
	for _, s := range a.History {
		all = append(all, s.State)
	}
	return all
}

func (f *fixture) put(k statestore.Key, value string) {
	f.Helper()
	f.update(func(tx statestore.Tx) error { _, err := tx.Put(k, []byte(value), statestore.Any); return err })
}

func (f *fixture) append(stream, kind, data string) {
	f.Helper()
	f.update(func(tx statestore.Tx) error {
		_, err := tx.Append(stream, statestore.AnyVersion, statestore.Entry{Type: kind, Data: []byte(data)})
		return err
	})
}

// events are the types of a stream's.
func (f *fixture) events(stream string) (types []string) {
	f.Helper()
	f.view(func(r statestore.Reader) error {
		for stored, err := range r.Events(statestore.EventQuery{Stream: stream}) {
			if err != nil {
				return err
			}
			types = append(types, stored.Type)
		}
		return nil
	})
	return types
}

func isDamaged(err error) bool {
	damaged := (*statestore.DamagedError)(nil)
	return errors.As(err, &damaged)
}
