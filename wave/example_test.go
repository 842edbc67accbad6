package wave_test

import (
	"context"
	"fmt"
	"time"

	"aesop/wave"
	"aesop/wave/journal"
)

// night lets agents begin at night only, and what they began end at any time.
type night struct{ now func() time.Time }

func (night) Name() string { return "night" }

func (n night) Check(_ context.Context, at wave.Point) error {
	if hour := n.now().Hour(); at.Step == "dispatch" && hour >= 7 && hour < 22 {
		return &wave.Stop{Reason: fmt.Sprintf("no agent begins at %d o'clock", hour)}
	}
	return nil
}

func ExampleGate() {
	var gate wave.Gate = night{now: func() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) }}
	fmt.Println(gate.Check(context.Background(), wave.Point{Step: "dispatch", Item: "greet"}))
	fmt.Println(gate.Check(context.Background(), wave.Point{Step: "ship"}))
	// Output:
	// stopped: no agent begins at 9 o'clock
	// <nil>
}

// bell tells of what a person wants to hear.
type bell struct{}

func (bell) Observe(w *journal.Wave, e journal.Event) {
	switch e := e.(type) {
	case journal.Shipped:
		fmt.Printf("wave %s shipped %d of %d items to %s\n", w.ID, len(e.Items), len(w.Order), e.Branch)
	case journal.AttemptEnded:
		if e.Class != "" {
			fmt.Println(e.Item, "failed:", e.Reason)
		}
	}
}

// An observer gets every event after it is stored, with the wave as it is then.
func ExampleObserver() {
	var observer wave.Observer = bell{}
	at := &journal.Wave{ID: "20261130-091500-7f3a", Order: []string{"greet", "part"}}
	observer.Observe(at, journal.AttemptEnded{Item: "part", Class: "auth", Reason: "not logged in"})
	observer.Observe(at, journal.Shipped{Branch: "aesop/20261130-091500-7f3a", Items: map[string]string{"greet": "5d0a4c9"}})
	// Output:
	// part failed: not logged in
	// wave 20261130-091500-7f3a shipped 1 of 2 items to aesop/20261130-091500-7f3a
}
