package trackertest

import (
	"errors"
	"testing"

	"aesop/tracker"
)

func testSettle(t *testing.T, open Open) {
	tests := []struct {
		name     string
		end      tracker.Settlement
		status   tracker.Status
		attempts int
	}{
		{"fail", tracker.Settlement{Request: tracker.Fail}, tracker.Failed, 2},
		{"block", tracker.Settlement{Request: tracker.Block}, tracker.Blocked, 1},
		{"block counted", tracker.Settlement{Request: tracker.Block, Counted: true}, tracker.Blocked, 2},
		{"release", tracker.Settlement{Request: tracker.Release}, tracker.Todo, 1},
		{"release counted", tracker.Settlement{Request: tracker.Release, Counted: true}, tracker.Todo, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			item := Item("a")
			item.Attempts = 1
			f := start(t, open, item)
			c := f.claim("a")[0]
			tt.end.ID, tt.end.Token, tt.end.Reason = "a", c.Token, "because <it> \"is\" so"
			f.lost(f.tracker.Settle(t.Context(), tt.end))
			got := f.item("a")
			if got.Status != tt.status || got.Attempts != tt.attempts || got.Claim != nil || got.Epoch != 1 || got.Shipped != nil {
				t.Errorf("item is %+v", got)
			}
			if got.StatusReason != tt.end.Reason {
				t.Errorf("reason is %q", got.StatusReason)
			}
			f.lost(f.tracker.Renew(t.Context(), lease, c), "a")
		})
	}
}

func testComplete(t *testing.T, open Open) {
	f := start(t, open, Item("a"), Item("b"))
	claims := f.claim("a", "b")
	shipped := &tracker.Shipped{Wave: "w1", Branch: "aesop/w1", Commit: "0123456789abcdef"}
	done := tracker.Settlement{ID: "a", Token: claims[0].Token, Request: tracker.Complete, Shipped: shipped, Counted: true}
	bare := done
	bare.Shipped = nil
	before := f.revision()
	if err := f.tracker.Settle(t.Context(), bare); err == nil {
		t.Error("complete without what was shipped was accepted")
	}
	if err := f.tracker.Settle(t.Context(), done, done); err == nil {
		t.Error("one item was settled twice in a call")
	}
	reopen := tracker.Settlement{ID: "b", Token: claims[1].Token, Request: tracker.Reopen}
	if err := f.tracker.Settle(t.Context(), done, reopen); err == nil {
		t.Error("reopen was accepted as a settlement")
	}
	if f.revision() != before {
		t.Error("a refused settlement changed the backlog")
	}
	f.lost(f.tracker.Settle(t.Context(), done))
	got := f.item("a")
	if got.Status != tracker.Done || got.Shipped == nil || *got.Shipped != *shipped || got.Claim != nil || got.Attempts != 0 {
		t.Errorf("item is %+v", got)
	}
	before = f.revision()
	f.lost(f.tracker.Settle(t.Context(), done)) // once more is no error
	if f.revision() != before {
		t.Error("a repeated settlement changed the backlog")
	}
	done.Shipped = &tracker.Shipped{Wave: "w1", Branch: "aesop/w1", Commit: "fedcba9876543210"}
	f.lost(f.tracker.Settle(t.Context(), done), "a") // but another shipment is
}

func testSettleLost(t *testing.T, open Open) {
	f := start(t, open, Item("a"), Item("b"), Item("c"))
	claims := f.claim("a", "b", "c")
	err := f.tracker.Settle(t.Context(),
		tracker.Settlement{ID: "a", Token: "not the token of anything here", Request: tracker.Fail},
		tracker.Settlement{ID: "gone", Token: claims[0].Token, Request: tracker.Fail},
		tracker.Settlement{ID: "b", Token: claims[1].Token, Request: tracker.Release, Counted: true},
		tracker.Settlement{ID: "c", Token: claims[1].Token, Request: tracker.Release})
	f.lost(err, "a", "gone", "c")
	if got := f.item("a"); got.Status != tracker.InProgress || got.Claim == nil || got.Attempts != 0 {
		t.Errorf("a wrong token changed the item: %+v", got)
	}
	if got := f.item("b"); got.Status != tracker.Todo || got.Claim != nil || got.Attempts != 1 {
		t.Errorf("what was not lost was not settled: %+v", got)
	}
	f.lost(f.tracker.Settle(t.Context()))
}

func testOperate(t *testing.T, open Open) {
	failed := Item("a")
	failed.Status, failed.StatusReason, failed.Attempts, failed.Epoch = tracker.Failed, "tests are red", 3, 4
	failed.Shipped = &tracker.Shipped{Wave: "w0", Branch: "aesop/w0", Commit: "abc"}
	f := start(t, open, failed, Item("b"), Item("c"))
	operator, ok := f.tracker.(tracker.Operator)
	if !ok {
		t.Skip("the tracker takes no orders of operators")
	}
	f.claim("b")
	before := f.revision()
	for _, orders := range [][]tracker.Order{
		{{ID: "a", Request: tracker.Reopen}, {ID: "b", Request: tracker.Block}},
		{{ID: "a", Request: tracker.Reopen}, {ID: "gone", Request: tracker.Block}},
	} {
		var conflict *tracker.ConflictError
		if err := operator.Operate(t.Context(), orders...); !errors.As(err, &conflict) || conflict.Conflicts[0].ID != orders[1].ID {
			t.Errorf("%v: error is %v, want a conflict on %s", orders, err, orders[1].ID)
		}
	}
	for _, order := range []tracker.Order{
		{ID: "c", Request: tracker.Finalize}, {ID: "c", Request: tracker.Finalize, Status: tracker.Todo}, {ID: "c", Request: tracker.Fail},
	} {
		if err := operator.Operate(t.Context(), order); err == nil {
			t.Errorf("%v was accepted", order)
		}
	}
	if f.revision() != before {
		t.Error("a refused order changed the backlog")
	}
	err := operator.Operate(t.Context(), tracker.Order{ID: "a", Request: tracker.Reopen},
		tracker.Order{ID: "c", Request: tracker.Block, Reason: "waits for a key"})
	if err != nil {
		t.Fatal(err)
	}
	got := f.item("a")
	if got.Status != tracker.Todo || got.Attempts != 0 || got.StatusReason != "" || got.Epoch != 4 || got.Shipped == nil {
		t.Errorf("reopened as %+v", got)
	}
	if got := f.item("c"); got.Status != tracker.Blocked || got.StatusReason != "waits for a key" {
		t.Errorf("blocked as %+v", got)
	}
	if err := operator.Operate(t.Context(), tracker.Order{ID: "c", Request: tracker.Finalize, Status: tracker.Done}); err != nil {
		t.Fatal(err)
	}
	if got := f.item("c"); got.Status != tracker.Done {
		t.Errorf("finalized as %+v", got)
	}
	f.clock.Advance(2 * lease)
	if err := operator.Operate(t.Context(), tracker.Order{ID: "b", Request: tracker.Finalize, Status: tracker.Failed}); err != nil {
		t.Fatalf("a lapsed claim is in the operator's way: %v", err)
	}
	if got := f.item("b"); got.Status != tracker.Failed || got.Claim != nil {
		t.Errorf("finalized as %+v", got)
	}
}
