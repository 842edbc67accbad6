package wave

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"aesop/wave/journal"
)

// gateError is a gate that could not be evaluated.
type gateError struct {
	name string
	err  error
}

func (e *gateError) Error() string {
	return fmt.Sprintf("gate %s cannot be evaluated: %v", e.name, e.err)
}
func (e *gateError) Unwrap() error { return e.err }

// pass asks every gate at a point, and more. A no, or an answer that cannot be had, stops the whole wave and comes back as the error.
func (r *run) pass(step, item string, more ...Gate) error {
	at := Point{Wave: r.id, Step: step, Item: item}
	for _, gate := range r.s.gates(more...) {
		if err := r.ask(gate, at); err != nil {
			r.stop.cancel(err)
			return err
		}
	}
	if r.stop.ctx.Err() != nil {
		return context.Cause(r.stop.ctx)
	}
	return nil
}

// gates are those that are asked: HALT, more, and the caller's own.
func (s *Scheduler) gates(more ...Gate) []Gate {
	return slices.Concat([]Gate{s.halt}, more, s.config.Gates)
}

// newWaveGates are those that are asked, beside the others, before a new wave: the limits. Later each attempt asks for itself, so that a
// resumed wave ships what was paid for.
func (s *Scheduler) newWaveGates() []Gate {
	if !s.config.Budget.Limited() {
		return nil
	}
	return []Gate{ceiling{s}}
}

func (r *run) ask(gate Gate, at Point) error {
	answer := journal.GateChecked{Name: gate.Name(), At: at.Step, Verdict: "go"}
	err := gateAnswer(gate, gate.Check(r.stop.ctx, at))
	if err != nil && r.stop.ctx.Err() != nil {
		return context.Cause(r.stop.ctx)
	}
	if stop, ok := errors.AsType[*Stop](err); ok {
		answer.Verdict, answer.Reason = "stop", stop.Reason
	} else if err != nil {
		answer.Verdict, answer.Reason = "unavailable", err.Error()
	}
	if noteErr := r.record(answer); noteErr != nil {
		return errors.Join(err, noteErr)
	}
	return err
}

// gateAnswer is nil, a *Stop or a *gateError.
func gateAnswer(gate Gate, err error) error {
	if _, no := errors.AsType[*Stop](err); no || err == nil {
		return err
	}
	return &gateError{gate.Name(), err}
}
