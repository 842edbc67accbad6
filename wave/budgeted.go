package wave

import (
	"cmp"
	"fmt"
	"strconv"

	"go.uber.org/zap"

	"aesop/cost"
	"aesop/wave/journal"
)

// budgeted is how the limits stand when this process is done with the wave, as an event; none where nothing is limited, or where they
// cannot be read, which the report then says. A limit of all waves that was passed halts them: reservations keep spending below it,
// so people must look at what got past them.
func (r *run) budgeted() []journal.Event {
	b := r.s.config.Budget
	if !b.Limited() {
		return nil
	}
	r.alert() // what an earlier process spent and could not tell, or what a sink did not take
	ctx, cancel := r.bookkeeping()
	defer cancel()
	var all []cost.Ceiling
	if err := r.s.judged(ctx, func(judge cost.Judge, _ *cost.Book) { all = r.ceilings(judge) }); err != nil {
		r.s.config.Logger.Error("how the limits stand cannot be read", zap.String("wave", r.id), zap.Error(err))
		return nil
	}
	now := r.s.config.Clock()
	event := journal.Budgeted{Limits: []journal.LimitState{}, Unpriced: cmp.Or(b.Unpriced, cost.Estimate), Unmetered: cmp.Or(b.Unmetered, cost.Estimate),
		Prices: r.s.config.Prices.Checked()}
	if old := r.s.config.Prices.Age(now); old != "" {
		event.Warnings = append(event.Warnings, old)
	}
	event.Warnings = append(event.Warnings, r.ledgerWarnings()...)
	for _, i := range r.journal.Wave().Select(func(i *journal.ItemState) bool { return i.Charge() != nil && i.Charge().Passed != nil }) {
		event.Warnings = append(event.Warnings, fmt.Sprintf("an agent of %s used more than the %s that were reserved for it: its driver told that too late to end it",
			i.ID, reservedText(*i.Charge().Passed)))
	}
	for _, s := range all {
		event.Limits = append(event.Limits, limitState(s))
		if s.Passed() && !s.Limit.Soft && (s.Limit.Scope == cost.PerDay || s.Limit.Scope == cost.PerModel) {
			r.trip(s.Standing)
		}
	}
	return []journal.Event{event}
}

// ceilings are all limits as they concern the wave and each of its items.
func (r *run) ceilings(judge cost.Judge) []cost.Ceiling {
	var all []cost.Ceiling
	for _, s := range judge.Standings(cost.Subject{Wave: r.id}) {
		all = append(all, cost.Ceiling{Standing: s})
	}
	for _, id := range r.journal.Wave().Order {
		who := cost.Subject{Item: id}
		for _, s := range judge.Standings(who) {
			if s.Limit.Scope == cost.PerItem {
				all = append(all, cost.Ceiling{Standing: s, Subject: who})
			}
		}
	}
	return all
}

func limitState(s cost.Ceiling) journal.LimitState {
	row := journal.LimitState{Name: s.Limit.Name(), Item: s.Subject.Item, Unit: "tokens", Unknown: s.Unknown, Soft: s.Limit.Soft, State: "below"}
	show := func(n int64) string { return strconv.FormatInt(n, 10) }
	if s.Limit.Tokens == 0 {
		row.Unit, show = "usd", func(n int64) string { return cost.Money(n).String() }
	}
	row.Limit, row.Spent, row.Estimated, row.Reserved = show(s.Limit.Max()), show(s.Spent), show(s.Estimated), show(s.Reserved)
	switch {
	case s.Passed():
		row.State = "passed"
	case s.Reached():
		row.State = "reached"
	}
	return row
}

// trip halts all waves, unless they are halted already.
func (r *run) trip(s cost.Standing) {
	note := HaltNote{Reason: "a limit is passed: " + s.String(), At: r.s.config.Clock(), By: ceilingGate}
	if _, err := r.s.halt.SetFirst(note); err != nil {
		r.s.config.Logger.Error("waves could not be halted", zap.String("wave", r.id), zap.Error(err))
	}
}

// ledgerWarnings say what of the ledger is in no figure.
func (r *run) ledgerWarnings() []string {
	ctx, cancel := r.bookkeeping()
	defer cancel()
	health, err := r.s.ledger.Health(ctx)
	if err != nil {
		return []string{r.s.redact(err.Error())}
	}
	var all []string
	if health.Corrupt > 0 {
		all = append(all, fmt.Sprintf("%d rows of the ledger are damaged: what they cost is in no figure", health.Corrupt))
	}
	if health.Future > 0 {
		all = append(all, fmt.Sprintf("%d rows of the ledger are later than the clock", health.Future))
	}
	return all
}

// reservedText is an amount of which a measure that is 0 was not bounded.
func reservedText(a cost.Amount) string {
	switch {
	case a.Money == 0:
		return fmt.Sprintf("%d tokens", a.Tokens)
	case a.Tokens == 0:
		return "$" + a.Money.String()
	}
	return fmt.Sprintf("%d tokens or $%s", a.Tokens, a.Money)
}
