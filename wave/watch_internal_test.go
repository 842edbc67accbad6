package wave

import (
	"testing"
	"time"

	"aesop/cost"
	"aesop/driver"
)

func TestWatchersHearAtABoundedRateAndLoseNoUsage(t *testing.T) {
	now := time.Unix(0, 0)
	var told []driver.Event
	h := &watchers{clock: func() time.Time { return now }, tell: func(e driver.Event) { told = append(told, e) }}
	for n := range 1000 {
		h.hear(driver.Event{Kind: "usage", Usage: cost.Usage{Input: int64(n)}, Text: "no secret must be here"})
		h.hear(driver.Event{Kind: "text", Text: "nor here"})
		now = now.Add(time.Millisecond)
	}
	h.hear(driver.Event{Kind: "usage", Usage: cost.Usage{Input: 5000}})
	h.flush()
	h.flush()
	if len(told) < 5 || len(told) > 7 {
		t.Errorf("told %d times in a second", len(told))
	}
	for n, e := range told {
		if e.Text != "" || n > 0 && e.Kind == "usage" && e.Usage.Input <= told[n-1].Usage.Input {
			t.Errorf("told %+v", e)
		}
	}
	if last := told[len(told)-1]; last.Usage.Input != 5000 {
		t.Errorf("the last usage was lost: %+v", last)
	}
}
