package tracker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Claim takes all wanted items or none, in one write.
func (f *File) Claim(ctx context.Context, by Holder, lease time.Duration, want ...Want) ([]Claim, error) {
	want, err := f.prepare(lease, want)
	if err != nil || len(want) == 0 {
		return nil, err
	}
	var claims []Claim
	err = f.update(ctx, func(s *snapshot) (*snapshot, error) {
		claims = claims[:0]
		changes := make(map[int]Item, len(want))
		var conflicts []Conflict
		now := f.clock()
		for _, w := range want {
			i, exists := s.index[w.ID]
			if !exists {
				conflicts = append(conflicts, Conflict{ID: w.ID, Reason: ConflictMissing})
				continue
			}
			if reason := refusal(s.items[i], w, now); reason != "" {
				conflicts = append(conflicts, conflictWith(s.items[i], reason, now))
				continue
			}
			claim := Claim{
				ID: w.ID, Token: w.Token, Attempt: AttemptID(w.Token),
				Epoch: max(w.MinEpoch, s.items[i].Epoch+1), LeaseUntil: ceilSecond(now.Add(lease)),
				Shipped: clonePointer(s.items[i].Shipped),
			}
			changes[i] = s.items[i].claimed(by, claim)
			claims = append(claims, claim)
		}
		if len(conflicts) > 0 {
			return nil, &ConflictError{Conflicts: conflicts}
		}
		return s.with(changes)
	})
	if err != nil {
		return nil, err
	}
	return claims, nil
}

// prepare checks what is wanted and makes the tokens that are missing.
func (f *File) prepare(lease time.Duration, want []Want) ([]Want, error) {
	if lease <= 0 {
		return nil, fmt.Errorf("claim: a lease of %s is none", lease)
	}
	want = slices.Clone(want)
	seen := make(map[string]bool, len(want))
	for i := range want {
		if seen[want[i].ID] {
			return nil, fmt.Errorf("claim %s: the item is wanted twice", want[i].ID)
		}
		seen[want[i].ID] = true
		if want[i].Token != "" {
			continue
		}
		token, err := NewToken(f.rand)
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", want[i].ID, err)
		}
		want[i].Token = token
	}
	return want, nil
}

// refusal says why the item cannot be claimed so, or is empty.
func refusal(item Item, w Want, now time.Time) ConflictReason {
	request, by := ClaimItem, ByStranger
	if w.Reclaim != "" {
		request, by = Reclaim, AuthorityOf(item, w.Reclaim)
	}
	switch d := Decide(item, request, by, now); {
	case !d.Allowed && w.Reclaim != "" && d.Refusal != ConflictHeld && item.Claim != nil:
		return ConflictChanged // lapsed, but not the claim that was to be taken over
	case !d.Allowed:
		return d.Refusal
	case item.Defect() != nil:
		return ConflictNotClaimable
	case w.Fingerprint != "" && w.Fingerprint != item.Fingerprint():
		return ConflictChanged
	}
	return ""
}

func conflictWith(item Item, reason ConflictReason, now time.Time) Conflict {
	c := Conflict{ID: item.ID, Reason: reason}
	if item.Claim.Live(now) {
		c.Owner, c.Until = item.Claim.Owner, item.Claim.LeaseUntil
	}
	return c
}

// claimed is the item under a new claim.
func (i Item) claimed(by Holder, c Claim) Item {
	i.Status, i.StatusReason, i.Epoch = InProgress, "", c.Epoch
	i.Claim = &ClaimState{Wave: plain(by.Wave), Owner: plain(by.Owner), Attempt: c.Attempt, LeaseUntil: c.LeaseUntil}
	return i
}

// plain makes a text one that JSON can hold.
func plain(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// Renew moves the ends of the leases to the moment of the write plus lease, in one write.
func (f *File) Renew(ctx context.Context, lease time.Duration, held ...Claim) error {
	if lease <= 0 {
		return fmt.Errorf("renew: a lease of %s is none", lease)
	}
	if len(held) == 0 {
		return nil
	}
	var lost []string
	err := f.update(ctx, func(s *snapshot) (*snapshot, error) {
		lost = lost[:0]
		changes := make(map[int]Item, len(held))
		now := f.clock()
		for _, h := range held {
			i, exists := s.index[h.ID]
			if !exists || !Decide(s.items[i], Renew, AuthorityOf(s.items[i], AttemptID(h.Token)), now).Allowed {
				lost = append(lost, h.ID)
				continue
			}
			item := s.items[i].clone()
			item.Claim.LeaseUntil = ceilSecond(now.Add(lease))
			changes[i] = item
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

// lostError is nil for none.
func lostError(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return &LostError{IDs: ids}
}
