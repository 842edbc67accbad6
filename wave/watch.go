package wave

import (
	"time"

	"aesop/driver"
)

// Watcher is an Observer that also hears of agents while they work, between the events of the wave.
type Watcher interface {
	Observer
	// Watch tells of a sign of life of an attempt's agent: its kind and, with kind usage, what the attempt has used so far. It is
	// called at most five times a second for an attempt, by several goroutines for several, and must return soon. What the agent says
	// is in the item's log.
	Watch(wave, item, attempt string, e driver.Event)
}

// watchPause is the least time between two calls of Watch for an attempt, but for the last.
const watchPause = time.Second / 5

// watchers hear of one attempt.
type watchers struct {
	tell  func(driver.Event)
	clock func() time.Time
	last  time.Time
	held  *driver.Event // the newest usage that was not told yet
}

func (w *work) watchers() *watchers {
	var all []Watcher
	for _, o := range w.s.config.Observers {
		if watcher, ok := o.(Watcher); ok {
			all = append(all, watcher)
		}
	}
	return &watchers{clock: w.s.config.Clock, tell: func(e driver.Event) {
		for _, watcher := range all {
			watcher.Watch(w.id, w.item.ID, w.attempt, e)
		}
	}}
}

// hear passes an event on, unless another was just told. Usage is held and not lost, for what follows may come late.
func (h *watchers) hear(e driver.Event) {
	e.Text = ""
	if e.Kind == "usage" {
		h.held = &e
	}
	now := h.clock()
	if now.Sub(h.last) < watchPause {
		return
	}
	h.last = now
	if h.held != nil {
		e, h.held = *h.held, nil
	}
	h.tell(e)
}

// flush tells the usage that is held.
func (h *watchers) flush() {
	if h.held != nil {
		h.tell(*h.held)
		h.held = nil
	}
}
