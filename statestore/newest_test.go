package statestore_test

import (
	"iter"
	"math/bits"
	"testing"

	"aesop/statestore"
)

// counted is a Reader of which only events are looked at, with gaps between them.
type counted struct {
	statestore.Reader
	events []statestore.Seq
	asked  int
}

func (c *counted) Events(q statestore.EventQuery) iter.Seq2[statestore.Stored, error] {
	c.asked++
	return func(yield func(statestore.Stored, error) bool) {
		for _, seq := range c.events {
			if seq > q.After {
				yield(statestore.Stored{Seq: seq}, nil)
				return
			}
		}
	}
}

// TestNewestAsksForFewEvents, however many there are and wherever it begins.
func TestNewestAsksForFewEvents(t *testing.T) {
	for _, count := range []int{0, 1, 2, 3, 7, 8, 9, 1000, 4097} {
		for _, gap := range []int{1, 5} {
			r := &counted{}
			for n := range count {
				r.events = append(r.events, statestore.Seq(1+n*gap))
			}
			var want statestore.Seq
			if count > 0 {
				want = r.events[count-1]
			}
			for _, from := range []statestore.Seq{0, want / 2, want} {
				r.asked = 0
				got, err := statestore.Newest(r, from)
				if err != nil || got != want || r.asked > 2*bits.Len(uint(want))+2 {
					t.Errorf("%d events from %d: %d, %v after %d questions, want %d", count, from, got, err, r.asked, want)
				}
			}
		}
	}
}
