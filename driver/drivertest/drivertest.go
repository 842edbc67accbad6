// Package drivertest is the suite that every driver passes. A driver's own test hands it a function that makes a driver
// whose model or agent is played:
//
//	func TestDriver(t *testing.T) {
//		drivertest.Run(t, func(t *testing.T, play drivertest.Play) driver.Driver {
//			if play.Prompt != "" {
//				t.Skip("not applicable: this driver hands no prompt on")
//			}
//			return mydriver.New(mydriver.Config{Model: fakeModel(t, play)})
//		})
//	}
//
// The driver is the real one; only what it talks to is played. What cannot be played is skipped with a reason. Processes are
// looked for on Linux only.
package drivertest

import (
	"testing"
	"time"

	"aesop/cost"
	"aesop/driver"
)

// Play is what the played model or agent does on every task, in the order of the fields. The zero Play ends at once, well.
type Play struct {
	Files  map[string]string // path below the task's directory to content
	Prompt string            // path of a file that gets the prompt, verbatim
	Say    string            // last words
	Usage  *cost.Usage       // what it says it used; nil: it does not say
	Hang   Hang              // it does not end by itself
	Fail   driver.Class      // it fails in such a way that the driver reports this class
}

// Hang is a way of not ending.
type Hang string

// The ways of not ending.
const (
	Silent  Hang = "silent"  // no output at all
	Talking Hang = "talking" // a line of output at least every 200 ms
)

// limit bounds every run: a driver that passes it hangs.
const limit = 2 * time.Minute

// Run runs the suite. It calls newDriver for each of its tests, with the test's t.
func Run(t *testing.T, newDriver func(t *testing.T, play Play) driver.Driver) {
	s := suite{newDriver: newDriver}
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"InfoIsStatic", s.info},
		{"WorksOnlyBelowDir", s.below},
		{"LargePrompt", s.largePrompt},
		{"PromptArrivesVerbatim", s.verbatim},
		{"UsageIsReported", s.usage},
		{"UsageIsUnknownWhenNotSaid", s.noUsage},
		{"TokenBudget", s.tokens},
		{"Failures", s.failures},
		{"CancelledBeforeTheStart", s.cancelledBefore},
		{"Cancelled", s.cancelled},
		{"TotalDeadline", s.total},
		{"TotalDeadlineWhileTalking", s.totalTalking},
		{"IdleDeadline", s.idle},
		{"TasksDoNotMix", s.concurrent},
		{"NothingSecretInArguments", s.arguments},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t)
		})
	}
}

type suite struct {
	newDriver func(t *testing.T, play Play) driver.Driver
}
