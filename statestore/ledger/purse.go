package ledger

import (
	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/job"
)

// Judge is what a reader's store says of limits: what is spent, and what running jobs have reserved, but for the job named but. same is
// as in cost.Judge.
func (l *Ledger) Judge(r statestore.Reader, limits []cost.Limit, but string, same func(model string) string) (cost.Judge, error) {
	spending, err := l.In(r)
	if err != nil {
		return cost.Judge{}, err
	}
	judge := cost.Judge{Limits: limits, Spending: spending, Now: r.Now(), Same: same}
	for record, err := range job.Reserving(r) {
		if err != nil {
			return cost.Judge{}, err
		}
		if record.ID == but {
			continue
		}
		judge.Held = append(judge.Held, cost.Reservation{Subject: cost.Subject{Wave: record.Wave, Item: record.Item, Model: record.Reserved.Model},
			Amount: record.Reserved.Amount, Stale: !record.Deadline.IsZero() && record.Deadline.Before(r.Now())})
	}
	return judge, nil
}

// Purse is a job.Purse: it grants what limits leave, by the ledger and the reservations as they are in the transaction of the request.
type Purse struct {
	Ledger *Ledger
	Limits []cost.Limit
	Ask    cost.Ask                  // its wave and item are those of the job
	Same   func(model string) string // as in cost.Judge
}

// Grant implements job.Purse.
func (p Purse) Grant(r statestore.Reader, record job.Record) (*job.Reservation, error) {
	for _, l := range p.Limits {
		if err := l.Check(); err != nil {
			return nil, err
		}
	}
	judge, err := p.Ledger.Judge(r, p.Limits, record.ID, p.Same)
	if err != nil {
		return nil, err
	}
	ask := p.Ask
	ask.Wave, ask.Item = record.Wave, record.Item
	granted, err := judge.Grant(ask)
	if err != nil {
		return nil, err
	}
	return &job.Reservation{Model: p.Ask.Model, Amount: granted}, nil
}
