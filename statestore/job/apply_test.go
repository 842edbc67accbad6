package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/sqlite"
	"aesop/tracker"
)

// fixture is a store with a clock that stands still.
type fixture struct {
	*testing.T
	store statestore.Store
	now   time.Time
	seeds *rand.Rand
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), seeds: rand.New(rand.NewSource(1))}
	f.store = statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time { return f.now }})
	return f
}

func (f *fixture) token() string {
	f.Helper()
	token, err := tracker.NewToken(f.seeds)
	if err != nil {
		f.Fatal(err)
	}
	return token
}

func (f *fixture) apply(request job.Request) job.Decision {
	f.Helper()
	var d job.Decision
	err := f.store.Update(f.Context(), func(tx statestore.Tx) (err error) {
		d, err = job.Apply(tx, request)
		return err
	})
	if err != nil {
		f.Fatalf("%T: %v", request, err)
	}
	return d
}

// applied applies a request that must be.
func (f *fixture) applied(request job.Request) job.Record {
	f.Helper()
	d := f.apply(request)
	if d.Outcome != job.Applied {
		f.Fatalf("%T: %s %s: %s", request, d.Outcome, d.Reason, d.Text)
	}
	return d.Record
}

// not applies a request that must have another outcome.
func (f *fixture) not(request job.Request, outcome job.Outcome, reason job.Reason) {
	f.Helper()
	if d := f.apply(request); d.Outcome != outcome || d.Reason != reason {
		f.Fatalf("%T: %s %s: %s, want %s %s", request, d.Outcome, d.Reason, d.Text, outcome, reason)
	}
}

func (f *fixture) get(id string) job.Record {
	f.Helper()
	var record job.Record
	err := f.store.View(f.Context(), func(r statestore.Reader) (err error) {
		record, err = job.Get(r, id)
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	return record
}

func (f *fixture) events(id string) (types []string, events []job.Event) {
	f.Helper()
	err := f.store.View(f.Context(), func(r statestore.Reader) error {
		for stored, err := range r.Events(statestore.EventQuery{Stream: job.Stream(id)}) {
			if err != nil {
				return err
			}
			var event job.Event
			if err := json.Unmarshal(stored.Data, &event); err != nil {
				return err
			}
			types, events = append(types, stored.Type), append(events, event)
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return types, events
}

// dump is everything that is stored.
func (f *fixture) dump() string { return f.records() + f.log() }

// records are all records that are stored.
func (f *fixture) records() string {
	f.Helper()
	var all strings.Builder
	err := f.store.View(f.Context(), func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, "%s %d %s\n", record.Key, record.Rev, record.Value)
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return all.String()
}

// log are all events that are stored.
func (f *fixture) log() string {
	f.Helper()
	var all strings.Builder
	err := f.store.View(f.Context(), func(r statestore.Reader) error {
		for event, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, "%s %d %s %s\n", event.Stream, event.Version, event.Type, event.Data)
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return all.String()
}

func (f *fixture) create(id, item string) job.Record {
	f.Helper()
	return f.applied(job.Create{ID: id, Item: item, Wave: "w1", Seat: "worker"})
}

func TestLife(t *testing.T) {
	f := newFixture(t)
	first, second := f.token(), f.token()
	f.create("w1/greet", "greet")
	f.now = f.now.Add(time.Second)
	f.applied(job.Claim{ID: "w1/greet", Token: first, Deadline: f.now.Add(time.Hour)})
	f.applied(job.Progress{ID: "w1/greet", By: job.Worker{Token: first}, Fields: json.RawMessage(`{"step":"tests"}`)})
	f.applied(job.Fail{ID: "w1/greet", By: job.Worker{Token: first}, Reason: "tests are red"})
	f.not(job.Fail{ID: "w1/greet", By: job.Worker{Token: first}, Reason: "again"}, job.Idempotent, job.AlreadyEnded)
	f.not(job.Complete{ID: "w1/greet", By: job.Worker{Token: first}}, job.Conflict, job.AlreadyEnded)
	f.applied(job.Redispatch{ID: "w1/greet", By: job.Engine{TransitionSeq: 4}, Iteration: 2})
	f.not(job.Complete{ID: "w1/greet", By: job.Worker{Token: first}}, job.Refused, job.NoAttempt)
	f.applied(job.Claim{ID: "w1/greet", Token: second})
	f.not(job.Complete{ID: "w1/greet", By: job.Worker{Token: first}}, job.Refused, job.StaleAttempt)
	got := f.applied(job.Complete{ID: "w1/greet", By: job.Worker{Token: second}})

	want := job.Record{
		ID: "w1/greet", Item: "greet", Wave: "w1", Seat: "worker", Status: job.Completed, Attempt: tracker.AttemptID(second),
		Iteration: 2, Epoch: 1, TransitionSeq: 7, Explicit: true, Progress: json.RawMessage(`{"step":"tests"}`),
		CreatedAt: f.now.Add(-time.Second), UpdatedAt: f.now,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, f.get("w1/greet")); diff != "" {
		t.Error(diff)
	}
	types, events := f.events("w1/greet")
	if diff := cmp.Diff([]string{
		"job.create", "job.claim", "job.progress", "job.fail", "job.fail", "job.complete", "job.redispatch", "job.complete", "job.claim",
		"job.complete", "job.complete",
	}, types); diff != "" {
		t.Error(diff)
	}
	if e := events[5]; e.Outcome != job.Conflict || e.Reason != job.AlreadyEnded || e.By != "worker" || e.From != job.Failed ||
		e.Text == "" || e.Job.Status != job.Failed {
		t.Errorf("the late complete was recorded as %+v", e)
	}
	if e := events[6]; e.Outcome != job.Applied || e.By != "engine" || e.From != job.Failed || e.Job.Status != job.Pending {
		t.Errorf("the redispatch was recorded as %+v", e)
	}
	for i, reason := range map[int]job.Reason{7: job.NoAttempt, 9: job.StaleAttempt} {
		if e := events[i]; e.Outcome != job.Refused || e.Reason != reason || e.By != "worker" {
			t.Errorf("the signal of the older attempt was recorded as %+v", e)
		}
	}
	if diff := cmp.Diff(want, events[10].Job); diff != "" {
		t.Errorf("the last event does not hold the job: %s", diff)
	}
	if all := f.dump(); strings.Contains(all, first) || strings.Contains(all, second) {
		t.Error("a token was stored")
	}
}

func TestWhatIsNotAppliedChangesNothing(t *testing.T) {
	f := newFixture(t)
	token, stale := f.token(), f.token()
	f.create("running", "item")
	f.applied(job.Claim{ID: "running", Token: stale})
	f.applied(job.Requeue{ID: "running", By: job.Operator{TransitionSeq: 2}})
	f.applied(job.Claim{ID: "running", Token: token})
	f.create("pending", "other")
	records, log := f.records(), f.log()
	for request, recorded := range map[job.Request]string{
		job.Complete{ID: "running", By: job.Worker{Token: stale}}:   "stale_attempt", // a late signal
		job.Fail{ID: "running", By: job.Operator{TransitionSeq: 3}}: "stale_transition",
	} {
		d := f.apply(request)
		if d.OK() || string(d.Reason) != recorded || f.records() != records {
			t.Errorf("%T: %+v", request, d)
		}
		added, ok := strings.CutPrefix(f.log(), log)
		if !ok || strings.Count(added, "\n") != 1 || !strings.Contains(added, recorded) {
			t.Errorf("%T: %q was recorded", request, added)
		}
		log = f.log()
	}
	before := f.dump()
	for _, request := range []job.Request{
		nil,
		job.Complete{ID: "running", By: job.Worker{Token: f.token()}},
		job.Complete{ID: "running", By: job.Worker{Token: tracker.AttemptID(token)}},
		job.Cancel{ID: "running"},
		job.Cancel{ID: "pending", By: job.Worker{Token: token}},
		job.Progress{ID: "running", By: job.Worker{Token: stale}, Fields: json.RawMessage(`{"a":1}`)},
		job.Progress{ID: "running", By: job.Worker{Token: token}, Fields: json.RawMessage(`{"status":"completed"}`)},
		job.Timeout{ID: "running", By: job.Engine{Attempt: tracker.AttemptID(stale)}},
		job.Timeout{ID: "running", By: job.Engine{Attempt: tracker.AttemptID(token)}},
		job.Requeue{ID: "running", By: job.Engine{Attempt: tracker.AttemptID(stale)}},
		job.Redispatch{ID: "running", By: job.Operator{TransitionSeq: 4}, Iteration: 2},
		job.Finalize{ID: "running", By: job.Operator{TransitionSeq: 5}, Reason: "x"},
		job.Claim{ID: "running", Token: f.token()},
		job.Claim{ID: "pending", Token: stale},
		job.Create{ID: "running", Item: "item", Wave: "w1", Seat: "worker"},
		job.Create{ID: "new", Item: "item", Wave: "w2", Seat: "worker"},
		job.Create{ID: "new"},
		job.Fail{ID: "none", By: job.Operator{}},
	} {
		d := f.apply(request)
		if d.OK() || d.Reason == "" || d.Text == "" {
			t.Errorf("%T: %+v", request, d)
		}
		if strings.Contains(d.Text, token) || strings.Contains(d.Text, stale) {
			t.Errorf("%T: the text shows a token", request)
		}
		if diff := cmp.Diff(before, f.dump()); diff != "" {
			t.Fatalf("%T (%s) changed the store: %s", request, d.Reason, diff)
		}
	}
}

func TestATokenServesOnce(t *testing.T) {
	f := newFixture(t)
	token := f.token()
	f.create("a", "a")
	f.create("b", "b")
	f.applied(job.Claim{ID: "a", Token: token})
	f.not(job.Claim{ID: "b", Token: token}, job.Refused, job.TokenUsed)
	f.applied(job.Complete{ID: "a", By: job.Worker{Token: token}})
	f.applied(job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: 3}, Iteration: 2})
	f.not(job.Claim{ID: "a", Token: token}, job.Refused, job.TokenUsed)
	f.not(job.Complete{ID: "a", By: job.Worker{Token: token}}, job.Refused, job.NoAttempt)
}

func TestAnItemHasOneLiveJob(t *testing.T) {
	f := newFixture(t)
	live := func(want string) {
		t.Helper()
		err := f.store.View(t.Context(), func(r statestore.Reader) error {
			record, ok, err := job.Live(r, "item")
			if record.ID != want || ok != (want != "") {
				t.Errorf("the live job is %q, want %q", record.ID, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	second := job.Create{ID: "second", Item: "item", Wave: "w2", Seat: "worker"}
	token := f.token()
	live("")
	if r := f.create("first", "item"); r.Epoch != 1 {
		t.Errorf("the first epoch is %d", r.Epoch)
	}
	live("first")
	f.not(second, job.Conflict, job.ItemBusy)
	f.applied(job.Claim{ID: "first", Token: token})
	f.not(second, job.Conflict, job.ItemBusy)
	f.applied(job.Requeue{ID: "first", By: job.Operator{TransitionSeq: 2}})
	f.not(second, job.Conflict, job.ItemBusy)
	f.applied(job.Cancel{ID: "first", By: job.Operator{TransitionSeq: 3}})
	live("")
	if r := f.applied(second); r.Epoch != 2 {
		t.Errorf("the second epoch is %d", r.Epoch)
	}
	live("second")
	f.not(job.Redispatch{ID: "first", By: job.Operator{TransitionSeq: 4}, Iteration: 2}, job.Conflict, job.ItemBusy)
	f.applied(job.Finalize{ID: "first", By: job.Operator{TransitionSeq: 4}, Reason: "superseded"})
	live("second")
	f.applied(job.Cancel{ID: "second", By: job.Operator{TransitionSeq: 1}})
	f.applied(job.Redispatch{ID: "second", By: job.Operator{TransitionSeq: 2}, Iteration: 2})
	live("second")
	f.applied(job.Cancel{ID: "second", By: job.Operator{TransitionSeq: 3}})
	third := job.Create{ID: "third", Item: "item", Wave: "w3", Seat: "worker", MinEpoch: 7}
	if r := f.applied(third); r.Epoch != 7 {
		t.Errorf("the epoch is %d, want that of the tracker", r.Epoch)
	}
	f.applied(job.Cancel{ID: "third", By: job.Operator{TransitionSeq: 1}})
	fourth := job.Create{ID: "fourth", Item: "item", Wave: "w4", Seat: "worker", MinEpoch: 3}
	if r := f.applied(fourth); r.Epoch != 8 {
		t.Errorf("the epoch is %d, want the one after the newest", r.Epoch)
	}
}

// A pointer to a request is a Request as well, and no way around what Apply looks up.
func TestPointersAreRequests(t *testing.T) {
	f := newFixture(t)
	token := f.token()
	f.create("a", "item")
	f.not(&job.Create{ID: "b", Item: "item", Wave: "w", Seat: "worker"}, job.Conflict, job.ItemBusy)
	f.applied(&job.Claim{ID: "a", Token: token})
	f.create("c", "other")
	f.not(&job.Claim{ID: "c", Token: token}, job.Refused, job.TokenUsed)
}

func TestTimeoutByTheStoresClock(t *testing.T) {
	f := newFixture(t)
	token := f.token()
	f.create("a", "a")
	f.applied(job.Claim{ID: "a", Token: token, Deadline: f.now.Add(time.Minute)})
	timeout := job.Timeout{ID: "a", By: job.Engine{Attempt: tracker.AttemptID(token)}}
	f.not(timeout, job.Refused, job.DeadlineAhead)
	f.now = f.now.Add(time.Minute)
	if r := f.applied(timeout); r.Status != job.TimedOut || r.Explicit {
		t.Errorf("the job is %+v", r)
	}
	f.not(job.Complete{ID: "a", By: job.Worker{Token: token}}, job.Conflict, job.AlreadyEnded)
}

func TestList(t *testing.T) {
	f := newFixture(t)
	for _, create := range []job.Create{
		{ID: "w1/b", Item: "b", Wave: "w1"}, {ID: "w1/a", Item: "a", Wave: "w1"}, {ID: "w10/a", Item: "c", Wave: "w10"},
		{ID: "x", Item: "d", Wave: "w1/x"}, {ID: "w2/a", Item: "e", Wave: "w2"},
	} {
		create.Seat = "worker"
		f.applied(create)
	}
	list := func(wave string) (ids []string) {
		err := f.store.View(t.Context(), func(r statestore.Reader) error {
			for record, err := range job.List(r, wave, "") {
				if err != nil {
					return err
				}
				ids = append(ids, record.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	for wave, want := range map[string][]string{"w1": {"w1/a", "w1/b"}, "w10": {"w10/a"}, "w1/x": {"x"}, "w3": nil, "": nil} {
		if diff := cmp.Diff(want, list(wave)); diff != "" {
			t.Errorf("wave %q: %s", wave, diff)
		}
	}
}

func TestADamagedRecordIsAnError(t *testing.T) {
	f := newFixture(t)
	f.create("a", "a")
	err := f.store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := tx.Put("job/a", []byte("{"), statestore.Any)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = f.store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := job.Apply(tx, job.Cancel{ID: "a", By: job.Operator{TransitionSeq: 1}})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "job/a") {
		t.Errorf("error is %v, want one that names the key", err)
	}
	err = f.store.View(t.Context(), func(r statestore.Reader) error { _, err := job.Get(r, "none"); return err })
	if !errors.Is(err, statestore.ErrNotFound) {
		t.Errorf("get of no job: %v", err)
	}
}

// TestOneWinner has many claim one job at once, and many end one attempt, on a real store.
func TestOneWinner(t *testing.T) {
	f := newFixture(t)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	f.store = store
	race := func(requests []job.Request) int {
		var won atomic.Int64
		var wg sync.WaitGroup
		for _, request := range requests {
			wg.Go(func() {
				err := store.Update(context.Background(), func(tx statestore.Tx) error {
					d, err := job.Apply(tx, request)
					if d.Outcome == job.Applied {
						won.Add(1)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return int(won.Load())
	}
	for i := range 5 {
		id := fmt.Sprint(i)
		f.create(id, id)
		var claims, ends []job.Request
		tokens := map[string]string{}
		for range 8 {
			token := f.token()
			tokens[tracker.AttemptID(token)] = token
			claims = append(claims, job.Claim{ID: id, Token: token})
		}
		if won := race(claims); won != 1 {
			t.Fatalf("%d claims won", won)
		}
		holder := job.Worker{Token: tokens[f.get(id).Attempt]}
		for range 4 {
			ends = append(ends, job.Complete{ID: id, By: holder}, job.Fail{ID: id, By: holder})
		}
		if won := race(ends); won != 1 {
			t.Fatalf("%d ends won", won)
		}
		if _, events := f.events(id); len(events) != 2+3 {
			t.Errorf("%d events, want create, claim, the end that won, its repeat and the other", len(events))
		}
	}
}

// purse grants what it holds, or says that there is no room.
type purse struct {
	grant cost.Amount
	err   error
}

func (p purse) Grant(statestore.Reader, job.Record) (*job.Reservation, error) {
	if p.err != nil {
		return nil, p.err
	}
	return &job.Reservation{Model: "m", Amount: p.grant}, nil
}

func (f *fixture) reserving() map[string]cost.Amount {
	f.Helper()
	held := map[string]cost.Amount{}
	err := f.store.View(f.Context(), func(r statestore.Reader) error {
		for record, err := range job.Reserving(r) {
			if err != nil {
				return err
			}
			held[record.ID] = record.Reserved.Amount
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return held
}

func TestAReservationLastsAsLongAsItsAttempt(t *testing.T) {
	f := newFixture(t)
	ten, six := cost.Amount{Tokens: 10}, cost.Amount{Tokens: 6}
	for _, end := range []struct {
		name string
		ask  func(id, token string, seen job.Record) job.Request
	}{
		{"complete", func(id, token string, _ job.Record) job.Request {
			return job.Complete{ID: id, By: job.Worker{Token: token}}
		}},
		{"cancel", func(id, _ string, seen job.Record) job.Request {
			return job.Cancel{ID: id, By: job.Operator{TransitionSeq: seen.TransitionSeq}}
		}},
		{"requeue", func(id, _ string, seen job.Record) job.Request {
			return job.Requeue{ID: id, By: job.Operator{TransitionSeq: seen.TransitionSeq}}
		}},
	} {
		id, token := end.name, f.token()
		f.create(id, id)
		f.applied(job.Claim{ID: id, Token: token, Reserve: purse{grant: ten}})
		if diff := cmp.Diff(map[string]cost.Amount{id: ten}, f.reserving()); diff != "" {
			t.Errorf("%s: claimed: %s", id, diff)
		}
		seen := f.applied(job.Reserve{ID: id, By: job.Worker{Token: token}, Reserve: purse{grant: six}})
		if diff := cmp.Diff(map[string]cost.Amount{id: six}, f.reserving()); diff != "" {
			t.Errorf("%s: reserved anew: %s", id, diff)
		}
		later := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
		if !seen.Deadline.IsZero() {
			t.Errorf("%s: a deadline that nobody gave: %s", id, seen.Deadline)
		}
		seen = f.applied(job.Reserve{ID: id, By: job.Worker{Token: token}, Reserve: purse{grant: six}, Deadline: later})
		if !seen.Deadline.Equal(later) {
			t.Errorf("%s: its deadline is %s", id, seen.Deadline)
		}
		if seen = f.applied(job.Reserve{ID: id, By: job.Worker{Token: token}, Reserve: purse{grant: six}}); !seen.Deadline.Equal(later) {
			t.Errorf("%s: its deadline is not kept, %s", id, seen.Deadline)
		}
		d := f.apply(end.ask(id, token, seen))
		if d.Released == nil || d.Released.Reserved.Amount != six || d.Released.Attempt != tracker.AttemptID(token) || len(f.reserving()) > 0 {
			t.Errorf("%s: released %v, still reserved %v", id, d.Released, f.reserving())
		}
	}
}

func TestWithoutRoomNothingIsClaimed(t *testing.T) {
	f := newFixture(t)
	f.create("a", "i")
	full := &cost.Refusal{Need: 3}
	before := f.dump()
	if d := f.apply(job.Claim{ID: "a", Token: f.token(), Reserve: purse{err: full}}); d.Reason != job.NoRoom || !errors.Is(d.Ceiling, cost.ErrCeiling) {
		t.Errorf("%+v", d)
	}
	if f.dump() != before {
		t.Error("a refused claim left something")
	}
	broken := errors.New("the disk is gone")
	err := f.store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := job.Apply(tx, job.Claim{ID: "a", Token: f.token(), Reserve: purse{err: broken}})
		return err
	})
	if !errors.Is(err, broken) {
		t.Errorf("a purse that cannot be asked: %v", err)
	}
}
