package sqlite

import (
	"context"
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
	failure error // of the database: nothing of the group may be kept

	seq, oldSeq int64 // of the newest event: now, and before the group
}

// lock waits at the gate until ctx or the store ends.
func (s *Store) lock(ctx context.Context) (unlock func() error, err error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life.Context(), cancel)()
	unlock, err = s.gate.Lock(waiting)
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case waiting.Err() != nil:
		return nil, statestore.ErrClosed
	}
	return nil, fmt.Errorf("update %s: %w", s.path, err)
}

// unlock opens the gate. What was committed is committed, also where that fails.
func (s *Store) unlock(unlock func() error) {
	if err := unlock(); err != nil {
		s.log.Warn("the write lock of the state store was not released", zap.String("path", s.path), zap.Error(err))
	}
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

// inPlace says that the database file is still the one that was opened: writing to one that has no name any more would lose everything
// without a word, and reading it would tell for ever what was.
func (s *Store) inPlace() error {
	file, err := os.Stat(s.path)
	if err == nil && !os.SameFile(file, s.file) {
		err = errors.New("the database file was replaced while it was open")
	}
	return err
}

// begin starts the transaction of a group.
func (s *Store) begin() (*group, error) {
	if err := s.inPlace(); err != nil {
		return nil, err
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
	g.seq = g.oldSeq
	fail("group_begun")
	return g, nil
}

// serve runs fn for a request. A request whose fn failed has its answer then; the others are members, whose answer is that of
// the commit.
func (g *group) serve(r *request, fn func(statestore.Tx) error) {
	g.members = append(g.members, r)
	oldSeq := g.seq
	if _, g.failure = g.conn.exec("SAVEPOINT member"); g.failure != nil {
		return
	}
	t := &tx{conn: g.conn, group: g, now: g.now}
	err := errNoReturn
	defer func() { // also when fn panics
		t.end()
		if err == nil {
			err = t.failure // what fn did not report
		}
		if err == nil {
			_, g.failure = g.conn.exec("RELEASE member")
			fail("member_kept")
			return
		}
		g.seq = oldSeq
		if _, g.failure = g.conn.exec("ROLLBACK TO member"); g.failure != nil {
			g.failure = errors.Join(t.failure, g.failure)
			return
		}
		if _, g.failure = g.conn.exec("RELEASE member"); g.failure != nil {
			return
		}
		g.members = g.members[:len(g.members)-1]
		r.done <- err
	}()
	err = fn(t)
}

// commit makes the group durable. Its error is that of all members.
func (s *Store) commit(g *group) error {
	if g.failure == nil {
		fail("group_whole")
		_, g.failure = g.conn.exec("COMMIT")
		fail("group_committed")
	}
	if g.failure != nil {
		return s.broken(g.failure)
	}
	if g.seq > g.oldSeq {
		s.change.Give()
	}
	return nil
}
