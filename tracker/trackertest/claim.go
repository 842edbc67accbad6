package trackertest

import (
	"testing"
	"time"

	"aesop/tracker"
)

func testBacklog(t *testing.T, open Open) {
	b := Item("b")
	b.Priority, b.DependsOn, b.Attempts, b.Epoch = "P0", []string{"a"}, 2, 3
	b.CreatedAt = time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC)
	b.TestCmd = tracker.Command{Argv: []string{"go", "test", "./..."}}
	f := start(t, open, Item("c"), Item("a"), b)
	backlog, err := f.tracker.Backlog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(backlog.Items) != 3 || backlog.Items[0].ID != "c" || backlog.Items[1].ID != "a" {
		t.Fatalf("items are not in their order: %v", backlog.Items)
	}
	got := backlog.Items[2]
	if got.Fingerprint() != b.Fingerprint() || got.Priority != "P0" || !got.CreatedAt.Equal(b.CreatedAt) {
		t.Errorf("read %+v, want %+v", got, b)
	}
	if got.Attempts != 2 || got.Epoch != 3 {
		t.Errorf("read %d attempts and epoch %d", got.Attempts, got.Epoch)
	}
	if backlog.Source == "" || backlog.Revision == "" {
		t.Errorf("source %q and revision %q must be set", backlog.Source, backlog.Revision)
	}
	backlog.Items[2].DependsOn[0] = "changed"
	if f.item("b").DependsOn[0] != "a" {
		t.Error("a backlog shares memory with the tracker")
	}
	f.claim("a")
	if f.revision() == backlog.Revision {
		t.Error("the revision did not change with the content")
	}
}

func testClaim(t *testing.T, open Open) {
	f := start(t, open, Item("a"), Item("b"))
	c := f.claim("a")[0]
	if c.ID != "a" || len(c.Token) < 32 || c.Attempt != tracker.AttemptID(c.Token) || c.Epoch != 1 {
		t.Fatalf("claim is %+v", c)
	}
	if c.LeaseUntil.Before(f.clock.Now().Add(lease)) || c.LeaseUntil.After(f.clock.Now().Add(lease+time.Second)) {
		t.Errorf("lease runs until %s, %s after now", c.LeaseUntil, c.LeaseUntil.Sub(f.clock.Now()))
	}
	got := f.item("a")
	if got.Status != tracker.InProgress || got.Epoch != 1 || got.Claim == nil {
		t.Fatalf("item is %+v", got)
	}
	if k := *got.Claim; k.Wave != "w1" || k.Owner != "ann" || k.Attempt != c.Attempt || !k.LeaseUntil.Equal(c.LeaseUntil) {
		t.Errorf("claim reads as %+v, want that of %+v", k, c)
	}
	if b := f.item("b"); b.Status != tracker.Todo || b.Claim != nil {
		t.Errorf("the neighbour is %+v", b)
	}
	conflict := f.refused(tracker.ConflictHeld, tracker.Want{ID: "a"})
	if conflict.ID != "a" || conflict.Owner != "ann" || !conflict.Until.Equal(c.LeaseUntil) {
		t.Errorf("conflict is %+v", conflict)
	}
	f.refused(tracker.ConflictMissing, tracker.Want{ID: "nobody"})
	if _, err := f.tracker.Claim(t.Context(), tracker.Holder{}, 0, tracker.Want{ID: "b"}); err == nil {
		t.Error("a lease of nothing was accepted")
	}
	if _, err := f.tracker.Claim(t.Context(), tracker.Holder{}, lease, tracker.Want{ID: "b"}, tracker.Want{ID: "b"}); err == nil {
		t.Error("one item was claimed twice in a call")
	}
	if claims, err := f.tracker.Claim(t.Context(), tracker.Holder{}, lease); err != nil || len(claims) > 0 {
		t.Errorf("nothing wanted: %v, %v", claims, err)
	}
}

func testAllOrNone(t *testing.T, open Open) {
	f := start(t, open, Item("a"), Item("b"), Item("c"))
	f.claim("b")
	f.refused(tracker.ConflictHeld, tracker.Want{ID: "a"}, tracker.Want{ID: "b"}, tracker.Want{ID: "c"})
	claims := f.claim("c", "a")
	if claims[0].ID != "c" || claims[1].ID != "a" || claims[0].Token == claims[1].Token {
		t.Errorf("claims are %+v", claims)
	}
}

func testSameOwner(t *testing.T, open Open) {
	f := start(t, open, Item("a"))
	c := f.claim("a")[0]
	claims, err := f.tracker.Claim(t.Context(), tracker.Holder{Wave: "w1", Owner: "ann"}, lease, tracker.Want{ID: "a"})
	if err == nil {
		t.Fatalf("the same name claimed the item again: %v", claims)
	}
	f.lost(f.tracker.Renew(t.Context(), lease, c))
}

func testFingerprint(t *testing.T, open Open) {
	f := start(t, open, Item("a"), Item("b"))
	changed := Item("a")
	changed.Prompt += " Differently."
	f.refused(tracker.ConflictChanged, tracker.Want{ID: "a", Fingerprint: changed.Fingerprint()})
	before := f.item("a").Fingerprint()
	f.claim("b") // a neighbour's claim is no change of this item
	token := "a token of the caller's own choice, long enough"
	claims, err := f.tracker.Claim(t.Context(), tracker.Holder{}, lease, tracker.Want{ID: "a", Fingerprint: before, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	if claims[0].Token != token || f.item("a").Claim.Attempt != tracker.AttemptID(token) {
		t.Errorf("the caller's token was not used: %+v", claims[0])
	}
	if f.item("a").Fingerprint() != before {
		t.Error("a claim changed the fingerprint")
	}
}

func testEpoch(t *testing.T, open Open) {
	a, b := Item("a"), Item("b")
	a.Epoch, b.Epoch = 7, 7
	f := start(t, open, a, b)
	for id, minimum := range map[string]int{"a": 3, "b": 30} {
		claims, err := f.tracker.Claim(t.Context(), tracker.Holder{}, lease, tracker.Want{ID: id, MinEpoch: minimum})
		if err != nil {
			t.Fatal(err)
		}
		if want := max(8, minimum); claims[0].Epoch != want || f.item(id).Epoch != want {
			t.Errorf("%s: epoch is %d, reads as %d, want %d", id, claims[0].Epoch, f.item(id).Epoch, want)
		}
	}
}

func testStatuses(t *testing.T, open Open) {
	for _, status := range []tracker.Status{tracker.Done, tracker.Failed, tracker.Blocked, tracker.InProgress} {
		item := Item("a")
		item.Status = status // in_progress without a claim is a person's
		start(t, open, item).refused(tracker.ConflictNotClaimable, tracker.Want{ID: "a"})
	}
}

func testLapse(t *testing.T, open Open) {
	f := start(t, open, Item("a"), Item("b"))
	claims := f.claim("a", "b")
	f.clock.Advance(lease - time.Second)
	f.refused(tracker.ConflictHeld, tracker.Want{ID: "a"})
	f.clock.Advance(time.Minute)
	f.lost(f.tracker.Renew(t.Context(), lease, claims[1])) // lapsed, but nobody took it
	second := f.claim("a")[0]
	if second.Epoch != 2 || second.Token == claims[0].Token {
		t.Errorf("the second claim is %+v", second)
	}
	f.lost(f.tracker.Renew(t.Context(), lease, claims...), "a")
	f.lost(f.tracker.Settle(t.Context(), tracker.Settlement{ID: "a", Token: claims[0].Token, Request: tracker.Fail}), "a")
	got := f.item("a")
	if got.Status != tracker.InProgress || got.Claim == nil || got.Claim.Attempt != second.Attempt || got.Attempts != 0 {
		t.Errorf("the late holder changed the item: %+v", got)
	}
	f.clock.Advance(2 * lease)
	f.lost(f.tracker.Settle(t.Context(), tracker.Settlement{ID: "a", Token: second.Token, Request: tracker.Release}))
	if got := f.item("a"); got.Status != tracker.Todo || got.Claim != nil {
		t.Errorf("a lapsed claim was not its holder's to release: %+v", got)
	}
}

func testReclaim(t *testing.T, open Open) {
	f := start(t, open, Item("a"))
	first := f.claim("a")[0]
	f.refused(tracker.ConflictHeld, tracker.Want{ID: "a", Reclaim: tracker.AttemptID("another")})
	claims, err := f.tracker.Claim(t.Context(), tracker.Holder{Wave: "w1", Owner: "resume"}, lease,
		tracker.Want{ID: "a", Reclaim: first.Attempt, MinEpoch: 5})
	if err != nil {
		t.Fatal(err)
	}
	second := claims[0]
	if second.Token == first.Token || second.Epoch != 5 || f.item("a").Claim.Owner != "resume" {
		t.Errorf("reclaimed as %+v, item %+v", second, f.item("a").Claim)
	}
	f.lost(f.tracker.Renew(t.Context(), lease, first), "a")
	f.refused(tracker.ConflictHeld, tracker.Want{ID: "a", Reclaim: first.Attempt})
	f.clock.Advance(2 * lease)
	f.refused(tracker.ConflictChanged, tracker.Want{ID: "a", Reclaim: first.Attempt})
	f.lost(f.tracker.Settle(t.Context(), tracker.Settlement{ID: "a", Token: second.Token, Request: tracker.Release}))
	f.refused(tracker.ConflictNotClaimable, tracker.Want{ID: "a", Reclaim: second.Attempt})
}

func testRenew(t *testing.T, open Open) {
	f := start(t, open, Item("a"), Item("b"), Item("c"))
	claims := f.claim("a", "b", "c")
	f.lost(f.tracker.Settle(t.Context(), tracker.Settlement{ID: "b", Token: claims[1].Token, Request: tracker.Release}))
	f.clock.Advance(lease / 3)
	gone := tracker.Claim{ID: "gone", Token: claims[0].Token}
	f.lost(f.tracker.Renew(t.Context(), lease, claims[0], claims[1], gone, claims[2]), "b", "gone")
	for _, id := range []string{"a", "c"} {
		got := f.item(id)
		if want := f.clock.Now().Add(lease); got.Claim == nil || got.Claim.LeaseUntil.Before(want) {
			t.Errorf("%s: claim is %+v, want a lease until %s", id, got.Claim, want)
		} else if got.Claim.Wave != "w1" || got.Claim.Owner != "ann" || got.Status != tracker.InProgress || got.Epoch != 1 {
			t.Errorf("%s: renewing changed more than the lease: %+v", id, got)
		}
	}
	if got := f.item("b"); got.Claim != nil || got.Status != tracker.Todo {
		t.Errorf("renewing revived a released claim: %+v", got)
	}
	f.lost(f.tracker.Renew(t.Context(), lease, tracker.Claim{ID: "a", Token: claims[2].Token}), "a")
	f.lost(f.tracker.Renew(t.Context(), lease))
	if f.tracker.Renew(t.Context(), -lease, claims[0]) == nil {
		t.Error("a lease that ended before it began was accepted")
	}
}
