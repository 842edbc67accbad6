package sqlite

import (
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"aesop/statestore"
)

// group is one transaction of the database that carries those of several callers, each in a savepoint.
type group struct {
	conn    *conn
	now     time.Time
	members []*request

	seq, oldSeq int64 // of the newest event: now, and before the group
	rev, oldRev int64 // newest that was given out, also where it was rolled back, and before the group
}

// lead runs one group. Its caller has put the token into s.turn and entered the store.
func (s *Store) lead() {
	defer s.life.Leave()
	defer func() { <-s.turn }()
	unlock, err := s.gate.Lock(s.life.Context())
	if err != nil {
		if s.life.Context().Err() != nil {
			err = statestore.ErrClosed
		}
		for _, r := range s.takeAll() {
			r.finish(err)
		}
		return
	}
	members, err := s.runGroup()
	if err := unlock(); err != nil {
		s.log.Warn("the write lock of the state store was not released", zap.String("path", s.path), zap.Error(err))
	}
	for _, r := range members {
		r.finish(err)
	}
}

// runGroup runs those who wait and those who come while it runs, and commits. Its outcome is that of all members it returns.
// Those whose own function failed are not among them; they have their answer.
func (s *Store) runGroup() ([]*request, error) {
	g, err := s.begin()
	if err != nil {
		return s.takeAll(), s.broken(err)
	}
	for range maxGroup {
		r := s.take()
		if r == nil {
			break
		}
		if err := g.serve(r); err != nil {
			return g.members, s.broken(err)
		}
	}
	if err := g.commit(); err != nil {
		return g.members, s.broken(err)
	}
	if g.seq > g.oldSeq {
		s.change.Give()
	}
	return g.members, nil
}

// broken ends a transaction that went wrong: closing its connection rolls back whatever state it is in.
func (s *Store) broken(err error) error {
	err = fmt.Errorf("update %s: %w", s.path, err)
	if s.writer != nil {
		s.discard(s.writer, err)
		s.writer = nil
	}
	return err
}

// begin starts the transaction of a group.
func (s *Store) begin() (*group, error) {
	// Writing to a file that has no name any more would lose everything without a word.
	if file, err := os.Stat(s.path); err != nil {
		return nil, err
	} else if !os.SameFile(file, s.file) {
		return nil, errors.New("the database file was replaced while it was open")
	}
	if s.writer == nil {
		c, err := dial(s.path, busyTimeout, "synchronous = FULL", "fullfsync = ON", "temp_store = MEMORY")
		if err != nil {
			return nil, err
		}
		s.writer = c
	}
	g := &group{conn: s.writer}
	if _, err := g.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	var err error
	if g.oldSeq, g.now, err = s.newest(g.conn); err != nil {
		return nil, err
	}
	if g.oldRev, err = g.conn.integer("SELECT rev FROM counter"); err != nil {
		return nil, err
	}
	g.seq, g.rev = g.oldSeq, g.oldRev
	return g, nil
}

// serve runs one caller's function. Its error means that the group cannot go on.
func (g *group) serve(r *request) error {
	g.members = append(g.members, r)
	seq := g.seq
	if _, err := g.conn.exec("SAVEPOINT member"); err != nil {
		return err
	}
	t := &tx{conn: g.conn, group: g, now: g.now}
	r.run <- t
	err := <-r.ran
	t.end()
	if err == nil {
		err = t.failure // what fn did not report
	}
	if err == nil {
		_, err := g.conn.exec("RELEASE member")
		return err
	}
	g.seq = seq
	if _, err := g.conn.exec("ROLLBACK TO member"); err != nil {
		return errors.Join(t.failure, err)
	}
	if _, err := g.conn.exec("RELEASE member"); err != nil {
		return err
	}
	g.members = g.members[:len(g.members)-1]
	r.finish(err)
	return nil
}

func (g *group) commit() error {
	if g.rev != g.oldRev {
		if _, err := g.conn.exec("UPDATE counter SET rev = ?", g.rev); err != nil {
			return err
		}
	}
	_, err := g.conn.exec("COMMIT")
	return err
}
