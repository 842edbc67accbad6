package tracker

import (
	"context"
	"fmt"
	"time"
)

// Settle ends claims, in one write. The file keeps no trace of a claim that has ended, except for what shipped: a repeated
// Complete is told by its commit and wave and is no error, any other repeated settlement is lost.
func (f *File) Settle(ctx context.Context, ends ...Settlement) error {
	if err := checkSettlements(ends); err != nil || len(ends) == 0 {
		return err
	}
	var lost []string
	err := f.update(ctx, func(s *snapshot) (*snapshot, error) {
		lost = lost[:0]
		changes := make(map[int]Item, len(ends))
		for _, e := range ends {
			i, exists := s.index[e.ID]
			if !exists {
				lost = append(lost, e.ID)
				continue
			}
			settled, held := s.items[i].settled(e, f.clock())
			if held {
				changes[i] = settled
			} else if !s.items[i].shippedBy(e) {
				lost = append(lost, e.ID)
			}
		}
		if len(changes) == 0 {
			return nil, nil
		}
		return s.with(changes)
	})
	if err != nil {
		return err
	}
	return lostError(lost)
}

func checkSettlements(ends []Settlement) error {
	seen := make(map[string]bool, len(ends))
	for _, e := range ends {
		switch {
		case seen[e.ID]:
			return fmt.Errorf("settle %s: the item is settled twice", e.ID)
		case e.Request == Complete && (e.Shipped == nil || e.Shipped.Commit == ""):
			return fmt.Errorf("complete %s: the shipped commit is missing", e.ID)
		case e.Request == Complete, e.Request == Fail, e.Request == Block, e.Request == Release:
			seen[e.ID] = true
		default:
			return fmt.Errorf("settle %s: %q is not complete, fail, block or release", e.ID, e.Request)
		}
	}
	return nil
}

// settled is the item after a settlement by the holder of its claim, or false.
func (i Item) settled(e Settlement, now time.Time) (Item, bool) {
	d := Decide(i, e.Request, AuthorityOf(i, AttemptID(e.Token)), now)
	if !d.Allowed {
		return i, false
	}
	if !d.Stands {
		i.Status, i.StatusReason = d.To, plain(e.Reason)
	}
	i.Claim = nil
	switch e.Request {
	case Complete:
		i.Shipped = &Shipped{Wave: plain(e.Shipped.Wave), Branch: plain(e.Shipped.Branch), Commit: plain(e.Shipped.Commit)}
	case Fail:
		i.Attempts++
	default:
		if e.Counted {
			i.Attempts++
		}
	}
	return i, true
}

// shippedBy says whether the settlement is one that was made already.
func (i Item) shippedBy(e Settlement) bool {
	return e.Request == Complete && i.Status == Done && i.Shipped != nil &&
		i.Shipped.Commit == e.Shipped.Commit && i.Shipped.Wave == e.Shipped.Wave
}

// Operate carries out orders on items that nobody holds, all or none, in one write.
func (f *File) Operate(ctx context.Context, orders ...Order) error {
	if err := checkOrders(orders); err != nil || len(orders) == 0 {
		return err
	}
	return f.update(ctx, func(s *snapshot) (*snapshot, error) {
		changes := make(map[int]Item, len(orders))
		var conflicts []Conflict
		now := f.clock()
		for _, o := range orders {
			i, exists := s.index[o.ID]
			if !exists {
				conflicts = append(conflicts, Conflict{ID: o.ID, Reason: ConflictMissing})
			} else if d := Decide(s.items[i], o.Request, ByOperator, now); !d.Allowed {
				conflicts = append(conflicts, conflictWith(s.items[i], d.Refusal, now))
			} else {
				changes[i] = s.items[i].ordered(o, d)
			}
		}
		if len(conflicts) > 0 {
			return nil, &ConflictError{Conflicts: conflicts}
		}
		return s.with(changes)
	})
}

func checkOrders(orders []Order) error {
	seen := make(map[string]bool, len(orders))
	for _, o := range orders {
		final := o.Status == Done || o.Status == Failed || o.Status == Blocked
		switch {
		case seen[o.ID]:
			return fmt.Errorf("operate on %s: the item has two orders", o.ID)
		case o.Request == Finalize && !final:
			return fmt.Errorf("finalize %s: %q is not done, failed or blocked", o.ID, o.Status)
		case o.Request == Finalize, o.Request == Reopen, o.Request == Block:
			seen[o.ID] = true
		default:
			return fmt.Errorf("operate on %s: %q is not reopen, block or finalize", o.ID, o.Request)
		}
	}
	return nil
}

// ordered is the item after an operator's order. Epoch and shipped stay, so that nothing later is taken for something older.
func (i Item) ordered(o Order, d Decision) Item {
	i.Status, i.StatusReason, i.Claim = d.To, plain(o.Reason), nil
	switch o.Request {
	case Finalize:
		i.Status = o.Status
	case Reopen:
		i.Attempts = 0
	}
	return i
}
