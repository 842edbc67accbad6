// Package trackertest proves that an implementation keeps the contract of tracker.Tracker. An adopter calls Run from a test:
//
//	func TestContract(t *testing.T) {
//		trackertest.Run(t, func(t *testing.T, clock *trackertest.Clock, items ...tracker.Item) tracker.Tracker {
//			return mytracker.New(t.TempDir(), clock.Now, items)
//		})
//	}
package trackertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"aesop/tracker"
)

// Open makes a tracker that holds exactly the items, in this order, and judges leases by the clock. It is closed by t.Cleanup.
type Open func(t *testing.T, clock *Clock, items ...tracker.Item) tracker.Tracker

// Run runs the whole suite, each part on a tracker of its own. Requests of operators are tested where the tracker implements
// tracker.Operator.
func Run(t *testing.T, open Open) {
	parts := []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"Backlog", testBacklog},
		{"Claim", testClaim},
		{"ClaimIsAllOrNone", testAllOrNone},
		{"ClaimIsByTokenNotByName", testSameOwner},
		{"ClaimFingerprint", testFingerprint},
		{"ClaimEpoch", testEpoch},
		{"ClaimStatuses", testStatuses},
		{"ClaimDefect", testDefect},
		{"Lapse", testLapse},
		{"Reclaim", testReclaim},
		{"Renew", testRenew},
		{"Settle", testSettle},
		{"SettleComplete", testComplete},
		{"SettleLost", testSettleLost},
		{"Operate", testOperate},
		{"Cancelled", testCancelled},
		{"Race", testRace},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.test(t, open) })
	}
}

// Clock stands still until it is advanced. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at a whole second.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Item is a sound item in the status todo.
func Item(id string) tracker.Item {
	return tracker.Item{
		ID: id, Slug: "slug-" + id, Title: "Item " + id, Status: tracker.Todo, Priority: "P2",
		OwnsFiles: []string{id + "/"}, Prompt: "Do " + id + ".", TestCmd: tracker.Command{Shell: "true"},
	}
}

const lease = 10 * time.Minute

// fixture is one tracker under test.
type fixture struct {
	t       *testing.T
	clock   *Clock
	tracker tracker.Tracker
}

func start(t *testing.T, open Open, items ...tracker.Item) *fixture {
	clock := NewClock()
	return &fixture{t: t, clock: clock, tracker: open(t, clock, items...)}
}

// item reads one item back.
func (f *fixture) item(id string) tracker.Item {
	f.t.Helper()
	backlog, err := f.tracker.Backlog(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, item := range backlog.Items {
		if item.ID == id {
			return item
		}
	}
	f.t.Fatalf("no item %s in the backlog", id)
	return tracker.Item{}
}

// revision reads what changes whenever the content does.
func (f *fixture) revision() string {
	f.t.Helper()
	backlog, err := f.tracker.Backlog(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return backlog.Revision
}

// claim claims items that must be free.
func (f *fixture) claim(ids ...string) []tracker.Claim {
	f.t.Helper()
	want := make([]tracker.Want, len(ids))
	for i, id := range ids {
		want[i].ID = id
	}
	claims, err := f.tracker.Claim(f.t.Context(), tracker.Holder{Wave: "w1", Owner: "ann"}, lease, want...)
	if err != nil {
		f.t.Fatalf("claim %v: %v", ids, err)
	}
	if len(claims) != len(ids) {
		f.t.Fatalf("claim %v: %d claims", ids, len(claims))
	}
	return claims
}

// refused claims and expects one conflict.
func (f *fixture) refused(reason tracker.ConflictReason, want ...tracker.Want) tracker.Conflict {
	f.t.Helper()
	before := f.revision()
	claims, err := f.tracker.Claim(f.t.Context(), tracker.Holder{Wave: "w2", Owner: "ben"}, lease, want...)
	if len(claims) > 0 {
		f.t.Fatalf("claimed %v, want a conflict", claims)
	}
	var conflict *tracker.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 || conflict.Conflicts[0].Reason != reason {
		f.t.Fatalf("error is %v, want one conflict %s", err, reason)
	}
	if f.revision() != before {
		f.t.Error("a refused claim changed the backlog")
	}
	return conflict.Conflicts[0]
}

// lost expects that exactly these claims are lost; none expects success.
func (f *fixture) lost(err error, ids ...string) {
	f.t.Helper()
	if len(ids) == 0 {
		if err != nil {
			f.t.Fatal(err)
		}
		return
	}
	var lost *tracker.LostError
	if !errors.As(err, &lost) || fmt.Sprint(lost.IDs) != fmt.Sprint(ids) {
		f.t.Fatalf("error is %v, want %v to be lost", err, ids)
	}
}

func testCancelled(t *testing.T, open Open) {
	f := start(t, open, Item("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.tracker.Claim(ctx, tracker.Holder{}, lease, tracker.Want{ID: "a"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("claim with a cancelled context: %v", err)
	}
	if got := f.item("a"); got.Status != tracker.Todo || got.Claim != nil {
		t.Errorf("item is %s with claim %v", got.Status, got.Claim)
	}
}
