package ledger

import (
	"fmt"
	"maps"

	"aesop/cost"
	"aesop/statestore"
)

// sessions are those that waves have recorded: a program's name and its session's. Their program tells of the same calls in its transcripts.
type sessions struct {
	seq  statestore.Seq // up to which rows were looked at
	seen map[[2]string]bool
}

// readOn looks at the rows that are new.
func (s *sessions) readOn(r statestore.Reader) error {
	for event, err := range r.Events(statestore.EventQuery{Stream: Stream, After: s.seq}) {
		if err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		s.seq = event.Seq
		call, err := Read(event)
		if err != nil || call.Source != WaveSource || call.Session == "" {
			continue // what cannot be read is in the ledger's health
		}
		if s.seen == nil {
			s.seen = map[[2]string]bool{}
		}
		s.seen[[2]string{call.Backend, call.Session}] = true
	}
	return nil
}

func (s sessions) clone() sessions { return sessions{s.seq, maps.Clone(s.seen)} }

// have says whether a wave has recorded the call's session.
func (s sessions) have(c cost.Call) bool {
	return c.Session != "" && s.seen[[2]string{c.Backend, c.Session}]
}
