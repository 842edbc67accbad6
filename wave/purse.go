package wave

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/tracker"
	"aesop/wave/journal"
)

// purse grants what an attempt asks for, in the transaction that starts it. What cannot be read there is a gate that cannot be evaluated.
func (s *Scheduler) purse(ask cost.Ask) job.Purse {
	return purse{ledger.Purse{Ledger: s.ledger, Limits: s.config.Budget.Limits, Ask: ask, Same: s.config.Prices.Name}, s.config.Budget.Attempt}
}

type purse struct {
	ledger.Purse
	bound cost.Amount // what one attempt may use; more than that in the ask is a guess
}

// Grant implements job.Purse. Where the dearest attempts of late have no room, a usual one may have.
func (p purse) Grant(r statestore.Reader, record job.Record) (*job.Reservation, error) {
	granted, err := p.Purse.Grant(r, record)
	if refusal, ok := errors.AsType[*cost.Refusal](err); ok && !refusal.Waits && p.Ask.Most != p.bound {
		usual := p.Purse
		usual.Ask.Most = p.bound
		granted, err = usual.Grant(r, record)
	}
	if err != nil && !errors.Is(err, cost.ErrCeiling) {
		err = &gateError{ceilingGate, err}
	}
	return granted, err
}

// judged calls do with what the store says of the limits, at one moment.
func (s *Scheduler) judged(ctx context.Context, do func(judge cost.Judge, book *cost.Book)) error {
	if _, err := s.ledger.Book(ctx); err != nil { // it remembers what it reads, and a view would read it all again
		return err
	}
	return s.config.Store.View(ctx, func(r statestore.Reader) error {
		book, err := s.ledger.In(r)
		if err != nil {
			return err
		}
		judge, err := s.ledger.Judge(r, s.config.Budget.Limits, "", s.config.Prices.Name)
		if err == nil {
			do(judge, book)
		}
		return err
	})
}

// ceilingGate is the name of the gate that the limits are.
const ceilingGate = "ceiling"

// ceiling keeps a wave from claiming anything on a day whose limit is used up. Each dispatch asks a purse, which sees all limits.
type ceiling struct{ s *Scheduler }

func (ceiling) Name() string { return ceilingGate }

func (g ceiling) Check(ctx context.Context, _ Point) error {
	var stop error
	err := g.s.judged(ctx, func(judge cost.Judge, _ *cost.Book) {
		stop = nil
		for _, s := range judge.Standings(cost.Subject{}) {
			if s.Limit.Scope == cost.PerDay && !s.Limit.Soft && s.Reached() {
				stop = &Stop{Outcome: journal.Ceiling, Reason: s.String()}
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return stop
}

// spentItems says of the items whose own limit is used up how that stands.
func (s *Scheduler) spentItems(ctx context.Context, backlog tracker.Backlog) (map[string]string, error) {
	spent := map[string]string{}
	if !slices.ContainsFunc(s.config.Budget.Limits, func(l cost.Limit) bool { return l.Scope == cost.PerItem && !l.Soft }) {
		return spent, nil
	}
	err := s.judged(ctx, func(judge cost.Judge, _ *cost.Book) {
		for _, item := range backlog.Items {
			if item.Status != tracker.Todo {
				continue
			}
			for _, l := range judge.Standings(cost.Subject{Item: item.ID}) {
				if l.Limit.Scope == cost.PerItem && !l.Limit.Soft && l.Reached() {
					spent[item.ID] = l.String()
				}
			}
		}
	})
	if err != nil {
		return nil, &gateError{ceilingGate, err}
	}
	return spent, nil
}

// thinHistory is how many attempts must have been seen before what they used says what one can use.
const thinHistory = 3

// ask is what an agent of a driver and model asks for: what the configuration lets one use, or else what the dearest of the newest
// ones used. While too few are known it asks for all that is left, so that the first of them run one after the other.
func (s *Scheduler) ask(ctx context.Context, backend string, who cost.Subject) (cost.Ask, error) {
	ask := cost.Ask{Subject: who, Most: s.config.Budget.Attempt}
	book, err := s.ledger.Book(ctx)
	if err != nil {
		return ask, &gateError{ceilingGate, err}
	}
	seen := s.typical(book, backend, who.Model)
	if tokens := seen.Tokens; tokens != nil {
		ask.Least.Tokens = tokens.Middle
		if ask.Most.Tokens == 0 && tokens.Attempts >= thinHistory {
			ask.Most.Tokens = tokens.High
		}
	}
	if money := seen.Money; money != nil {
		ask.Least.Money = money.Middle
		if ask.Most.Money == 0 && money.Attempts >= thinHistory {
			ask.Most.Money = money.High
		}
	}
	return ask, nil
}

// typical is what attempts of a driver and model used. A vendor's answer can have another name for the model than was asked for.
func (s *Scheduler) typical(book *cost.Book, backend, model string) cost.Sample {
	if model == "" {
		return book.Typical(cost.Query{Backend: backend})
	}
	var most cost.Sample
	for _, g := range book.Groups(cost.Query{Backend: backend}, cost.ByModel) {
		answered := g.Key[cost.ByModel]
		if s.config.Prices.Name(answered) != s.config.Prices.Name(model) {
			continue
		}
		if seen := book.Typical(cost.Query{Backend: backend, Model: answered}); seen.Attempts > most.Attempts {
			most = seen
		}
	}
	return most
}

// purse is what an agent of the item may take from, or nil where nothing is limited.
func (r *run) purse(ctx context.Context, item, backend, model string) (job.Purse, error) {
	if !r.s.config.Budget.Limited() {
		return nil, nil
	}
	ask, err := r.s.ask(ctx, backend, cost.Subject{Wave: r.id, Item: item, Model: model})
	if err != nil {
		return nil, err
	}
	return r.s.purse(ask), nil
}

// unpaid is the reason of an item that no agent is started for, though nothing is used up: a limit could not be held against it.
func (s *Scheduler) unpaid(model string) string {
	b := s.config.Budget
	if b.Unpriced != cost.Refuse || !b.LimitsMoney() {
		return ""
	}
	if _, ok := s.config.Prices.Price(model, s.config.Clock()); ok {
		return ""
	}
	if model == "" {
		return "unpriced: no model is named, so what the agent costs could not be held against a limit; name one, or set limits.unpriced"
	}
	return fmt.Sprintf("unpriced: there is no price for model %s, so what the agent costs could not be held against a limit; give one in limits.prices, or set limits.unpriced", model)
}

// unmetered says why a driver cannot work under the limits at all.
func (s *Scheduler) unmetered(info driver.Info) error {
	b := s.config.Budget
	if info.Metered || !b.Limited() || b.Unmetered != cost.Refuse {
		return nil
	}
	return &SetupError{Code: "unmetered", Message: fmt.Sprintf("the driver %s does not promise to say what its agents use, and limits.unmetered is refuse", info.Name),
		Hint: "set limits.unmetered to estimate, which charges what it does not say, or take another driver"}
}

// admit starts something that reserves, waiting while agents that run may leave room for it. The error is a *cost.Refusal where there
// will be none.
func (r *run) admit(ctx context.Context, item, step string, start func() error) error {
	told := false
	for {
		settled := r.s.settled()
		err := start()
		refusal, refused := errors.AsType[*cost.Refusal](err)
		if !refused || !refusal.Waits {
			return err
		}
		if !told {
			told = true
			now := func(statestore.Tx) error { return nil } // or nobody hears of it before the wait is over
			if err := r.recordWith(now, journal.GateChecked{Name: ceilingGate, At: step, Verdict: "wait", Reason: item + " waits: " + refusal.Error()}); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-settled:
		case <-time.After(othersPoll): // another process may have settled
		}
	}
}

// inTurn waits until the items before this one have asked, where there is something to ask for.
func (r *run) inTurn(ctx context.Context, item string) error {
	if !r.s.config.Budget.Limited() {
		return nil
	}
	return r.asking.wait(ctx, item, func(other string) bool {
		wave := r.journal.Wave()
		i := wave.Items[other]
		return i == nil || !i.Open() || wave.Of(i).Failed != nil
	})
}

// othersPoll is how often an attempt that waits for room looks whether other processes have left some.
const othersPoll = time.Second

// settled is closed when an attempt of this process has ended.
func (s *Scheduler) settled() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room
}

// leaveRoom wakes those who wait for room.
func (s *Scheduler) leaveRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.room)
	s.room = make(chan struct{})
}

// spentSome is called when an attempt has ended and is settled.
func (r *run) spentSome() {
	r.s.leaveRoom()
	r.alert()
}

// refuse ends an item for which a limit has no room. It is released, and nothing counts against it.
func (r *run) refuse(item, step string, why error) error {
	if err := r.record(journal.GateChecked{Name: ceilingGate, At: step, Verdict: "stop", Reason: why.Error()}); err != nil {
		return err
	}
	return r.recordWith(r.cancelJob(item, ceilingGate), ceilingEnd(item, why.Error()))
}

func ceilingEnd(item, why string) journal.ItemEnded {
	return journal.ItemEnded{Item: item, State: journal.StateCancelled, Reason: ceilingGate + ": " + why, Ceiling: true}
}

// refusalOf is the refusal that an error came from.
func refusalOf(err error) error {
	if refusal, ok := errors.AsType[*cost.Refusal](err); ok {
		return refusal
	}
	return err
}

// cannotTell stops the wave where what is spent cannot be read; any other error stays what it is.
func (r *run) cannotTell(err error) error {
	if gate, ok := errors.AsType[*gateError](err); ok {
		r.stop.cancel(gate)
		return gate
	}
	return err
}

// reserveForSeat reserves what an agent of a seat may use, on the job of the item that it looks at.
func (r *run) reserveForSeat(ctx context.Context, item string, task driver.Task, info driver.Info) error {
	if !r.s.config.Budget.Limited() {
		return nil
	}
	model := cmp.Or(task.Model, info.Model(task.Role))
	if err := r.s.unmetered(info); err != nil {
		return err
	}
	if reason := r.s.unpaid(model); reason != "" {
		return errors.New(reason)
	}
	err := r.admit(ctx, item, "dispatch", func() error {
		from, err := r.purse(ctx, item, info.Name, model)
		if err != nil {
			return err
		}
		return r.recordWith(func(tx statestore.Tx) error {
			by, err := r.authority(tx, item)
			if err != nil {
				return err
			}
			_, err = r.s.apply(tx, job.Reserve{ID: r.jobID(item), By: by, Reserve: from, Deadline: r.s.deadline(tx)})
			return err
		})
	})
	if errors.Is(err, cost.ErrCeiling) {
		return r.noRoom(refusalOf(err))
	}
	return r.cannotTell(err)
}

// noRoom stops the wave where an agent of a seat has no room: what it is asked about was paid for, and waits for a resume.
func (r *run) noRoom(why error) error {
	stop := &Stop{Outcome: journal.Ceiling, Reason: why.Error()}
	r.stop.cancel(stop)
	return stop
}
