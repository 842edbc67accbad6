package wave

import (
	"context"
	"fmt"

	"aesop/cost"
	"aesop/driver"
	"aesop/tracker"
	"aesop/wave/journal"
)

// Gate is asked before work goes on. Nil means go, *Stop means no, any other error means that the gate cannot be evaluated. Both
// stop the whole wave, wherever its items are: agents and tests that run are ended, nothing more is started or pushed, and all is
// parked for a resume, also what is verified already.
type Gate interface {
	Name() string
	Check(ctx context.Context, at Point) error
}

// Point is where a wave is when it asks its gates.
type Point struct {
	Wave string
	Step string // claim, dispatch, repair, ship
	Item string // of dispatch and repair
}

// Stop is a gate's no.
type Stop struct {
	Outcome journal.Outcome // Halted or Ceiling; "" means Halted
	Reason  string
}

func (s *Stop) Error() string { return fmt.Sprintf("stopped: %s", s.Reason) }

// Change is a verified commit, as reviewers and approvers see it.
type Change struct {
	Wave      string
	Item      tracker.Item
	Commit    string
	Diff      string              // against the base, bounded
	Corrected []journal.Corrected // what people changed so far, and what came of it; of the newest that is why it is asked again
	// Dispatch runs a driver on a throw-away checkout of the commit, as an agent that is to read only: prompt, role, model, schema and
	// failure are the caller's, all else of the task is the engine's. *TouchedError where the checkout is then no longer the commit:
	// what the driver says is void. The Result counts also beside an error.
	Dispatch func(ctx context.Context, d driver.Driver, t driver.Task) (driver.Result, error)
}

// Reviewer judges a verified change. It cannot change it.
type Reviewer interface {
	// Review returns the judgement; an error means that there is none, and the change does not ship. Its Usage counts also then.
	Review(ctx context.Context, c Change) (Judgement, error)
}

// Approver decides, for people, whether a verified change may ship. It may wait, for days: claims are renewed meanwhile. It is asked
// about all items of a wave at once, and again about one that it corrected. Where a process dies before it could write the answer
// down, the next one asks for the same commit once more. Errors are as of a Reviewer.
type Approver interface {
	Approve(ctx context.Context, c Change) (Judgement, error)
}

// Judgement is a yes or a no with its reason.
type Judgement struct {
	OK     bool
	Reason string
	By     string // the person; "" where it was none
	// Usage is what the agents used that were asked; nil: none was.
	Usage *cost.Usage
	// Correction, of an approver, is neither: it is made and tested like an agent's work, and then the approver is asked again, about
	// the new commit or about the old one and why it stays. Nil: none.
	Correction *Correction
}

// Shipper is where the verified work of a repository goes.
type Shipper interface {
	// Name is what the report calls the destination.
	Name() string
	// Refs are the refs that the destination has now.
	Refs(ctx context.Context) (map[string]string, error)
	// Ship moves all refs or none, each only from its old value and to its new one ("" is absent). The objects are in the git repository objects.
	// An error says nothing about what the destination holds: the engine asks Refs.
	Ship(ctx context.Context, objects string, updates []journal.Update) error
}

// Observer hears of every event after it is stored, with a copy of the wave's state. It must return soon.
type Observer interface {
	Observe(w *journal.Wave, e journal.Event)
}

// PromptBuilder writes the prompt of a dispatch.
type PromptBuilder interface {
	// Version identifies the template; it stands in the report.
	Version() string
	Prompt(p PromptInput) (string, error)
}

// PromptInput is what a prompt is made from.
type PromptInput struct {
	Item    tracker.Item
	Test    string // the test command as people wrote it
	Round   int    // 1 for the first dispatch
	Failure *driver.Failure
}
