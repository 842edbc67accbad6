package wave

import (
	"aesop/driver"
	"aesop/wave/journal"
)

// attemptEnded stores what came of an attempt, and with it the item's end where there is nothing more to try.
func (r *run) attemptEnded(w *work, end journal.AttemptEnded) error {
	id := w.item.ID
	along := both(w.tellJob(), r.settleSpent(id, w.ran))
	if w.ran != nil {
		w.ran.about.Verdict, w.ran.about.DurationMs = ledgerVerdict(end), end.DurationMs
		end.Charge = charge(r.s.rows(*w.ran, r.s.config.Clock()), w.ran.left)
	}
	defer r.spentSome()
	failure := &journal.Failure{Step: "build", Command: r.s.config.Driver.Info().Name, Exit: end.Exit, Tail: joinLines(end.Tail, end.Reason)}
	ended := journal.ItemEnded{Item: id, Reason: end.Reason, Counted: true, Failure: failure}
	switch end.Outcome {
	case journal.OutcomeBuilt, journal.OutcomeCancelled: // of what was cancelled the item stays open: parked, or lost
		return r.recordWith(along, end)
	case journal.OutcomeCeiling:
		return r.recordWith(both(along, r.cancelJob(id, ceilingGate)), end, ceilingEnd(id, end.Reason))
	case journal.OutcomeNoChanges:
		ended.State, ended.Failure = journal.StateNoChanges, nil
	case journal.OutcomeFence:
		ended.State = journal.StateFenceViolation
		failure.Step = "fence"
	case journal.OutcomeSecret:
		ended.State = journal.StateSecretFound
		failure.Step, failure.Command, failure.Tail = "scan", "", end.Tail
	case journal.OutcomeSetup:
		ended.State, ended.Counted = journal.StateSetupFailed, false
		failure.Step = "setup"
	default:
		ended.State, ended.Counted = journal.StateDriverFailed, !driver.Class(end.Class).Limits()
	}
	err := r.recordWith(both(along, r.failJob(id, string(ended.State))), end, ended)
	if taken(err) { // the end is not this wave's to write, and what was used was used
		if err := r.recordWith(along, end); err != nil {
			return err
		}
	}
	return err
}
