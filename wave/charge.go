package wave

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"aesop/cost"
	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/wave/journal"
)

// spent is what an agent used, as the ledger gets it: one row for each call that its driver knows of.
type spent struct {
	about  cost.Call // what the rows have in common; Attempt is set
	model  string    // that was asked for
	result driver.Result
	left   *job.Reservation // what was still set aside for it; nil: nothing was
	lapse  string           // names the loss of what was set aside, since an item's job can lose that of several agents; "": nothing is lost
}

// rows are the ledger's rows of what was used, priced by the store's clock, with what is charged in place of what is not known.
func (s *Scheduler) rows(x spent, now time.Time) []cost.Call {
	var rows []cost.Call
	known := cost.Amount{}
	for i, usage := range x.result.Calls {
		row := x.about
		row.ID, row.At, row.Usage = fmt.Sprintf("%s/%d", x.about.Attempt, i+1), now, usage
		if row.Usage.Model == "" {
			row.Usage.Model = x.model
		}
		row.Usage.Model, row.Service = s.rowName(row.Usage.Model), s.rowName(x.result.Service)
		s.price(&row)
		known = known.Add(row.Charge())
		rows = append(rows, row)
	}
	if x.result.Usage().Metered {
		return rows
	}
	return append(rows, s.unknownRow(x, now, known))
}

// unknownRow stands for what an agent used and nobody can tell.
func (s *Scheduler) unknownRow(x spent, now time.Time, known cost.Amount) cost.Call {
	row := x.about
	row.ID, row.At, row.Usage = x.about.Attempt+"/"+cmp.Or(x.lapse, "unknown"), now, cost.Usage{Model: s.rowName(x.model)}
	if x.left != nil && s.config.Budget.Unmetered != cost.Allow {
		rest := cost.Amount{Tokens: max(0, x.left.Amount.Tokens-known.Tokens), Money: max(0, x.left.Amount.Money-known.Money)}
		if rest != (cost.Amount{}) {
			row.Estimate = &rest
		}
	}
	return row
}

// believed is a result without usage that cannot be, which a ledger does not take: where there was some, not all is known.
func believed(result driver.Result) driver.Result {
	calls := slices.DeleteFunc(slices.Clone(result.Calls), func(u cost.Usage) bool { return u.Check() != nil })
	if len(calls) < len(result.Calls) {
		result.Calls, result.Metered = calls, false
	}
	return result
}

// rowName is a name as the ledger takes it from an agent's program: on one line, and not endless.
func (s *Scheduler) rowName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s.redact(name), ""))
	if len(name) > maxRowName {
		name = strings.ToValidUTF8(name[:maxRowName], "")
	}
	return name
}

// maxRowName is enough for every name that means something, in bytes.
const maxRowName = 256

// price gives a row its cost, or, where it has none and money is limited, what the policy charges instead. An agent's usage may be the
// sum of several requests, so that a price by their sizes is not known either.
func (s *Scheduler) price(row *cost.Call) {
	row.Summed = true
	b := s.config.Budget
	if s.config.Prices.Charge(row) == nil || !row.Usage.Metered || !b.LimitsMoney() || b.Unpriced == cost.Allow {
		return
	}
	if most, ok := s.config.Prices.Most(*row); ok {
		row.Estimate = &cost.Amount{Money: most}
	}
}

// lapsed are the rows of an attempt that ended with its process: all that it had reserved is charged.
func (s *Scheduler) lapsed(record job.Record, now time.Time) []cost.Call {
	x := spent{about: cost.Call{Wave: record.Wave, Item: record.Item, Attempt: record.Attempt, Agent: record.Seat, Source: ledger.WaveSource, Verdict: cost.Hung},
		left: record.Reserved, lapse: fmt.Sprintf("lapsed-%d", record.TransitionSeq)}
	if x.left != nil {
		x.model = x.left.Model
	}
	return s.rows(x, now)
}

// settleSpent gives back what the item's job has reserved for an agent and writes what it used into the ledger, in the caller's transaction.
// Where none was started, ran is nil, and nothing is charged.
func (r *run) settleSpent(item string, ran *spent) func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		record, err := job.Get(tx, r.jobID(item))
		if err != nil {
			return err
		}
		if record.Reserved != nil {
			by, err := r.authority(tx, item)
			if err != nil {
				return err
			}
			if _, err := r.s.apply(tx, job.Reserve{ID: record.ID, By: by}); err != nil {
				return err
			}
		}
		if ran == nil {
			return nil
		}
		x := *ran
		x.left = record.Reserved // nil: nothing was, or another wave took the item and charged it
		return ledger.Append(tx, r.s.rows(x, tx.Now())...)
	}
}

// both runs two parts of a transaction.
func both(first, second func(statestore.Tx) error) func(statestore.Tx) error {
	return func(tx statestore.Tx) error {
		if err := first(tx); err != nil || second == nil {
			return err
		}
		return second(tx)
	}
}

// charge is what rows come to, as events tell it. left is what was reserved for them, or nil.
func charge(rows []cost.Call, left *job.Reservation) *journal.Charge {
	c, sum := &journal.Charge{Known: true}, cost.Amount{}
	for _, row := range rows {
		if row.Cost == nil {
			c.Known = false
		} else {
			c.USD = cost.Amount{Money: c.USD}.Add(cost.Amount{Money: *row.Cost}).Money
		}
		if row.Estimate != nil {
			c.Estimated = c.Estimated.Add(*row.Estimate)
		}
		sum = sum.Add(row.Charge())
	}
	if left != nil && over(sum, left.Amount) {
		c.Passed = &left.Amount
	}
	return c
}

// ledgerVerdict is an attempt's outcome in the ledger's words.
func ledgerVerdict(end journal.AttemptEnded) cost.Verdict {
	switch {
	case end.Outcome == journal.OutcomeBuilt:
		return cost.OK
	case end.Outcome == journal.OutcomeNoChanges:
		return cost.Empty
	case end.Outcome == journal.OutcomeCancelled, end.Outcome == journal.OutcomeCeiling, end.Class == string(driver.Timeout), end.Class == string(driver.Idle):
		return cost.Hung
	}
	return cost.Failed
}

// used notes what an agent used, before its end is written down.
func (w *work) used(task driver.Task, info driver.Info, result driver.Result) {
	phase := "build"
	switch {
	case task.Role != driver.Worker:
		phase = string(task.Role)
	case w.round > 1:
		phase = "repair"
	}
	about := cost.Call{Wave: w.id, Item: w.item.ID, Attempt: w.attempt, Phase: phase, Backend: info.Name, Agent: string(cmp.Or(task.Role, driver.Worker)),
		Session: w.s.rowName(result.SessionID), Source: ledger.WaveSource}
	w.ran = &spent{about: about, model: cmp.Or(task.Model, info.Model(task.Role)), result: result, left: w.may.reserved()}
}
