package wave

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/job"
)

// allowance ends an agent that uses more than it may, as far as its driver tells on the way.
type allowance struct {
	run   *run
	item  string
	model string
	end   context.CancelCauseFunc

	mu    sync.Mutex
	may   *job.Reservation // nil: as much as it likes
	ended bool             // it used too much
}

// allow is what the item's job has reserved for an agent that starts now. Its context ends where more is used.
func (r *run) allow(ctx context.Context, item, model string) (context.Context, *allowance, error) {
	a := &allowance{run: r, item: item, model: model}
	ctx, a.end = context.WithCancelCause(ctx)
	err := r.s.config.Store.View(ctx, func(reader statestore.Reader) error {
		record, err := job.Get(reader, r.jobID(item))
		a.may = record.Reserved
		return err
	})
	return ctx, a, err
}

// reserved is what the agent may use now.
func (a *allowance) reserved() *job.Reservation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.may
}

// hear compares what an agent has used so far. What no agent can have used is not believed.
func (a *allowance) hear(used cost.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.may == nil || a.ended || used.Check() != nil {
		return
	}
	if used.Model == "" {
		used.Model = a.model
	}
	used.Metered = true // so far
	row := cost.Call{At: a.run.s.config.Clock(), Usage: used}
	a.run.s.price(&row)
	if charge := row.Charge(); over(charge, a.may.Amount) || over(charge, a.run.s.config.Budget.Attempt) {
		if err := a.more(charge); err != nil {
			a.ended = true
			a.end(a.run.cannotTell(err))
		}
	}
}

func over(used, may cost.Amount) bool {
	return may.Tokens > 0 && used.Tokens > may.Tokens || may.Money > 0 && used.Money > may.Money
}

// more reserves twice of what was used, or else what is left; the error says why the agent must end.
func (a *allowance) more(used cost.Amount) error {
	if bound := a.run.s.config.Budget.Attempt; over(used, bound) {
		return &driver.Error{Class: driver.Truncated, Message: "it used " + spentOf(used, bound) + ", which is what limits let one agent use"}
	}
	ask := cost.Ask{Subject: cost.Subject{Wave: a.run.id, Item: a.item, Model: a.model}, Least: used, Most: used.Add(used)}
	refusal := a.reserve(ask)
	if errors.Is(refusal, cost.ErrCeiling) {
		ask.Most = cost.Amount{}
		refusal = a.reserve(ask)
	}
	if refusal == nil {
		return nil
	}
	return fmt.Errorf("cut off while it worked: %w", refusalOf(refusal))
}

func spentOf(used, bound cost.Amount) string {
	if bound.Tokens > 0 && used.Tokens > bound.Tokens {
		return fmt.Sprintf("%d tokens of %d", used.Tokens, bound.Tokens)
	}
	return fmt.Sprintf("$%s of $%s", used.Money, bound.Money)
}

func (a *allowance) reserve(ask cost.Ask) error {
	ctx, cancel := a.run.bookkeeping()
	defer cancel()
	var now job.Record
	err := a.run.s.config.Store.Update(ctx, func(tx statestore.Tx) error {
		by, err := a.run.authority(tx, a.item)
		if err != nil {
			return err
		}
		now, err = a.run.s.apply(tx, job.Reserve{ID: a.run.jobID(a.item), By: by, Reserve: a.run.s.purse(ask)})
		return err
	})
	if err == nil {
		a.may = now.Reserved
		return nil
	}
	if _, answer := errors.AsType[*jobError](err); !answer {
		err = &gateError{ceilingGate, err}
	}
	return err
}

// cutOff is why the agent was ended before its time, nil where it was not.
func cutOff(ctx context.Context) error {
	cause := context.Cause(ctx)
	if e, ok := errors.AsType[*driver.Error](cause); ok {
		return e
	}
	if _, gate := errors.AsType[*gateError](cause); errors.Is(cause, cost.ErrCeiling) && !gate {
		return cause
	}
	return nil
}
