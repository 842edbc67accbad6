package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"aesop/statestore"
)

// ticking is a clock that goes on by a second with each look, so that what was committed together shows.
func ticking() func() time.Time {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("gave up waiting until %s", what)
		}
	}
}

// waits says whether one call leads and n wait behind it.
func (s *Store) waits(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leading && len(s.queue) == n
}

// gather holds the gate until all functions wait at the store, lets go, and returns what became of them.
func gather(t *testing.T, store *Store, fns ...func(tx statestore.Tx) error) []error {
	t.Helper()
	unlock, err := newGate(store.path).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	results := make([]chan error, len(fns))
	for i, fn := range fns {
		results[i] = make(chan error, 1)
		go func() {
			defer func() {
				if p := recover(); p != nil {
					results[i] <- fmt.Errorf("panic: %v", p)
				}
			}()
			results[i] <- store.Update(t.Context(), fn)
		}()
		eventually(t, "the call waits", func() bool { return store.waits(i) })
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	errs := make([]error, len(fns))
	for i := range fns {
		errs[i] = <-results[i]
	}
	return errs
}

func add(id string) func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		if _, err := tx.Append("s", statestore.AnyVersion, statestore.Entry{ID: id, Type: "test"}); err != nil {
			return err
		}
		_, err := tx.Put(statestore.Key(id), nil, 0)
		return err
	}
}

func openTicking(t *testing.T, log *zap.Logger) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	store, err := Open(t.Context(), Config{Path: path, Clock: ticking(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestGroup(t *testing.T) {
	store := openTicking(t, nil)
	failed := errors.New("no")
	errs := gather(t, store, add("a"), add("b"),
		func(tx statestore.Tx) error { _ = add("undone")(tx); return failed },
		func(tx statestore.Tx) error { _ = add("panicked")(tx); panic("no") },
		add("c"),
		func(tx statestore.Tx) error { // sees those before it, and not what they undid
			_, err := tx.Get("c")
			if _, undone := tx.Get("undone"); !errors.Is(undone, statestore.ErrNotFound) {
				t.Errorf("what was undone is %v", undone)
			}
			return err
		},
	)
	for i, want := range []string{"<nil>", "<nil>", "no", "panic: no", "<nil>", "<nil>"} {
		if fmt.Sprint(errs[i]) != want {
			t.Errorf("call %d: %v, want %s", i, errs[i], want)
		}
	}
	events := testEvents(t, store)
	ids := ""
	for i, e := range events {
		ids += e.ID
		if e.Seq != statestore.Seq(i+1) || !e.At.Equal(events[0].At) {
			t.Errorf("event %d is %d of %v: not one group", i, e.Seq, e.At)
		}
	}
	if ids != "abc" {
		t.Errorf("events are %q, want those of the queue in order", ids)
	}
}

func TestALeaderThatFailsOrPanicsLeavesItsGroupAlone(t *testing.T) {
	store := openTicking(t, nil)
	for name, leader := range map[string]func(statestore.Tx) error{
		"fails":  func(tx statestore.Tx) error { _ = add("undone")(tx); return errors.New("no") },
		"panics": func(tx statestore.Tx) error { _ = add("undone")(tx); panic("no") },
	} {
		errs := gather(t, store, leader, add(name))
		if errs[0] == nil || errs[1] != nil {
			t.Errorf("%s: %v", name, errs)
		}
	}
	if events := testEvents(t, store); len(events) != 2 {
		t.Errorf("events are %+v", events)
	}
}

// TestABrokenGroupFailsWhole takes the transaction away from under a group, as SQLite does when a disk is full.
func TestABrokenGroupFailsWhole(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	store := openTicking(t, zap.New(core))
	testUpdate(t, store, add("before"))
	errs := gather(t, store, add("a"),
		func(t statestore.Tx) error { _, err := t.(*tx).conn.exec("ROLLBACK"); return err },
		add("b"),
	)
	if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[0].Error(), store.path) {
		t.Errorf("results are %v", errs)
	}
	if errs[2] != nil {
		t.Errorf("who was not yet in the group: %v", errs[2])
	}
	if logs.FilterField(zap.String("path", store.path)).Len() != 1 {
		t.Errorf("logged: %v", logs.All())
	}
	testUpdate(t, store, add("a"))
	var ids []string
	for _, e := range testEvents(t, store) {
		ids = append(ids, e.ID)
	}
	if fmt.Sprint(ids) != "[before b a]" {
		t.Errorf("events are %v", ids)
	}
}

// TestFullDisk lets SQLite itself say that there is no room.
func TestFullDisk(t *testing.T) {
	store := openTicking(t, nil)
	testUpdate(t, store, add("before"))
	limit := func(pages int) {
		if _, err := store.writer.exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // becomes the size that it has
	large := func(tx statestore.Tx) error {
		if err := add("large")(tx); err != nil {
			return err
		}
		_, err := tx.Put("large value", make([]byte, 1<<20), 0)
		return err
	}
	err := store.Update(t.Context(), large)
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("error is %v", err)
	}
	swallow := func(tx statestore.Tx) error { _ = large(tx); return nil }
	if store.writer != nil {
		limit(1)
		if err := store.Update(t.Context(), swallow); err == nil {
			t.Fatal("an error of the disk that the function swallowed was lost")
		}
	}
	if events := testEvents(t, store); len(events) != 1 {
		t.Errorf("events are %+v", events)
	}
	if store.writer != nil {
		limit(1 << 30)
	}
	testUpdate(t, store, large)
}

// TestWriterSyncs looks at what no test without a power cut can see.
func TestWriterSyncs(t *testing.T) {
	store := openTicking(t, nil)
	testUpdate(t, store, add("a"))
	for pragma, want := range map[string]int64{"synchronous": 2, "fullfsync": 1} {
		if got, _, err := store.writer.integer("PRAGMA " + pragma); err != nil || got != want {
			t.Errorf("%s is %d (%v), want %d", pragma, got, err, want)
		}
	}
}

func TestRemovedDatabaseIsNotUsed(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := openTicking(t, nil)
			testUpdate(t, store, add("a"))
			testEvents(t, store) // which leaves a connection to read with
			if err := replace(store.path); err != nil {
				t.Skip(err) // Windows keeps open files
			}
			for what, err := range map[string]error{
				"update":  store.Update(t.Context(), add("b")),
				"view":    store.View(t.Context(), func(statestore.Reader) error { return nil }),
				"changed": store.Changed(t.Context(), 0),
			} {
				if err == nil || !strings.Contains(err.Error(), store.path) {
					t.Errorf("%s: error is %v", what, err)
				}
			}
		})
	}
}

// TestGivingUpAtTheGate cancels first who waits behind the leader and then the leader, while another process has the gate.
func TestGivingUpAtTheGate(t *testing.T) {
	store := openTicking(t, nil)
	gate := newGate(store.path)
	unlock, err := gate.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type caller struct {
		cancel context.CancelFunc
		result chan error
	}
	var callers []caller
	for i, id := range []string{"leader", "impatient", "patient"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		result := make(chan error, 1)
		go func() { result <- store.Update(ctx, add(id)) }()
		eventually(t, "it waits", func() bool { return store.waits(i) })
		callers = append(callers, caller{cancel, result})
	}
	for _, i := range []int{1, 0} {
		callers[i].cancel()
		if err := <-callers[i].result; !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	eventually(t, "the patient one leads", func() bool { return store.waits(0) })
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-callers[2].result; err != nil {
		t.Errorf("the patient one: %v", err)
	}
	if events := testEvents(t, store); len(events) != 1 || events[0].ID != "patient" {
		t.Errorf("events are %+v", events)
	}
	unlock, err = gate.Lock(t.Context()) // who gave up does not hold it
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestCloseAtTheGate(t *testing.T) {
	store := openTicking(t, nil)
	unlock, err := newGate(store.path).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error, 2)
	for i := range 2 {
		go func() { results <- store.Update(t.Context(), add("late")) }()
		eventually(t, "it waits", func() bool { return store.waits(i) })
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-results; !errors.Is(err, statestore.ErrClosed) {
			t.Errorf("error is %v", err)
		}
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

// TestCloseSendsAwayWhoWaits closes while a function runs: that one ends well, and who waits behind it is told.
func TestCloseSendsAwayWhoWaits(t *testing.T) {
	store := openTicking(t, nil)
	inside, leave := make(chan struct{}), make(chan struct{})
	running, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		running <- store.Update(t.Context(), func(tx statestore.Tx) error {
			close(inside)
			<-leave
			return add("running")(tx)
		})
	}()
	<-inside
	waiting := make(chan error, 1)
	go func() { waiting <- store.Update(t.Context(), add("waiting")) }()
	eventually(t, "it waits", func() bool { return store.waits(1) })
	go func() { closed <- store.Close() }()
	if err := <-waiting; !errors.Is(err, statestore.ErrClosed) {
		t.Errorf("who waits: %v", err)
	}
	close(leave)
	if err := errors.Join(<-running, <-closed); err != nil {
		t.Error(err)
	}
	if events := testEvents(t, testOpen(t, store.path)); len(events) != 1 || events[0].ID != "running" {
		t.Errorf("events are %+v", events)
	}
}

// TestGateExcludes has goroutines with a turnstile each go in and out.
func TestGateExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	var inside, turns atomic.Int64
	done := make(chan error, 4)
	turn := func() error {
		unlock, err := newGate(path).Lock(context.Background())
		if err != nil {
			return err
		}
		if n := inside.Add(1); n != 1 {
			return fmt.Errorf("%d are inside", n)
		}
		turns.Add(1)
		inside.Add(-1)
		return unlock()
	}
	for range 4 {
		go func() {
			var err error
			for i := 0; i < 100 && err == nil; i++ {
				err = turn()
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if turns.Load() != 400 {
		t.Errorf("%d turns, want 400", turns.Load())
	}
}

func TestChangedByAnotherHandle(t *testing.T) {
	store := openTicking(t, nil)
	other := testOpen(t, store.path)
	woken := make(chan error, 1)
	go func() { woken <- store.Changed(t.Context(), 0) }()
	testUpdate(t, other, add("a"))
	if err := <-woken; err != nil {
		t.Error(err)
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("x", 3600))
	path := filepath.Join(t.TempDir(), "state.db")
	look := func(store *Store) (at time.Time) {
		t.Helper()
		testUpdate(t, store, func(tx statestore.Tx) error {
			at = tx.Now()
			_, err := tx.Append("s", statestore.AnyVersion, statestore.Entry{Type: "test"})
			return err
		})
		return at
	}
	open := func() *Store {
		store, err := Open(t.Context(), Config{Path: path, Clock: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	store := open()
	first := look(store)
	if !first.Equal(now.Truncate(time.Microsecond)) || first.Location() != time.UTC {
		t.Errorf("time is %v, want %v in UTC and microseconds", first, now)
	}
	now = now.Add(-time.Hour)
	for _, store := range []*Store{store, open()} { // the same handle, and a new one on a machine whose clock was set back
		if got := look(store); !got.Equal(first) {
			t.Errorf("time is %v, want that of the newest event, %v", got, first)
		}
		err := store.View(t.Context(), func(r statestore.Reader) error {
			if !r.Now().Equal(first) {
				t.Errorf("a view's time is %v", r.Now())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
