package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/wave"
)

// owedRow is what somebody in notify has not been told yet.
type owedRow struct {
	Receiver  string `json:"receiver"`
	Owed      int    `json:"owed"`
	LastError string `json:"lastError"` // of the oldest; "": it was not tried
}

// owedNews is what receivers are owed, by receiver. What is damaged of it is told in its row, and hides nothing else.
func owedNews(ctx context.Context, store statestore.Store) ([]owedRow, error) {
	rows := []owedRow{}
	err := store.View(ctx, func(r statestore.Reader) error {
		rows = rows[:0]
		for s, err := range outbox.Subscriptions(r) {
			row := owedRow{Receiver: s.Name}
			if err := row.note(err, ""); err != nil {
				return err
			}
			for o, err := range outbox.Pending(r, s.Name) {
				row.Owed++
				if err := row.note(err, o.LastError); err != nil {
					return err
				}
			}
			if row.Owed > 0 || row.LastError != "" {
				rows = append(rows, row)
			}
		}
		return nil
	})
	return rows, err
}

// note keeps the first that is wrong; an error that is no damage comes back.
func (row *owedRow) note(err error, tried string) error {
	if damaged, ok := errors.AsType[*statestore.DamagedError](err); ok {
		tried, err = damaged.Error(), nil
	}
	row.LastError = cmp.Or(row.LastError, tried)
	return err
}

func printOwed(w io.Writer, rows []owedRow) {
	for _, row := range rows {
		fmt.Fprintf(w, "news is owed to %s: %d", row.Receiver, row.Owed)
		if row.LastError != "" {
			fmt.Fprintf(w, "; %s", cli.OneLine(row.LastError))
		}
		fmt.Fprintln(w, "; the next wave, or aesop-jobs recover, tells it")
	}
}

// saidText is what an agent said of its attempt, where that should be known.
func saidText(s *wave.SaidReport) string {
	switch {
	case s == nil:
		return ""
	case s.Fault != nil:
		return "what its agent left to be heard does not count: " + firstLine(*s.Fault)
	case s.Status != nil && s.Reason != nil:
		return fmt.Sprintf("its agent said: %s, %s", *s.Status, firstLine(*s.Reason))
	case s.Status != nil:
		return "its agent said: " + *s.Status
	}
	return ""
}

// tellOwed says on standard error what receivers are still owed after a run. That it cannot be told is no reason against the run.
func tellOwed(c *cli.Context, store statestore.Store) {
	if rows, err := owedNews(context.WithoutCancel(c), store); err == nil {
		printOwed(c.Stderr, rows)
	}
}
