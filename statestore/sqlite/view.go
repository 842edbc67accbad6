package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"aesop/statestore"
)

// poll is how often Changed looks for events of other processes.
const poll = 100 * time.Millisecond

// View implements statestore.Store.
func (s *Store) View(ctx context.Context, fn func(statestore.Reader) error) error {
	return s.read(ctx, func(c *conn) error {
		_, now, err := s.newest(c) // the first read, which fixes the state that all others see
		if err != nil {
			return fmt.Errorf("view %s: %w", s.path, err)
		}
		t := &tx{conn: c, now: now}
		defer t.end()
		return fn(struct{ statestore.Reader }{t}) // a Reader that cannot be turned into a Tx
	})
}

// Changed implements statestore.Store. Events of this process wake it at once, those of others within a tenth of a second.
func (s *Store) Changed(ctx context.Context, after statestore.Seq) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		next := s.change.Next()
		var newest int64
		err := s.read(ctx, func(c *conn) (err error) {
			newest, _, err = c.integer("SELECT max(seq) FROM events")
			return err
		})
		if err != nil || uint64(newest) > uint64(after) {
			return err
		}
		select {
		case <-next:
		case <-ticker.C:
		case <-s.life.Done():
			return statestore.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// read runs fn on a connection of its own within a transaction that is then given up.
func (s *Store) read(ctx context.Context, fn func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.life.Enter() {
		return statestore.ErrClosed
	}
	defer s.life.Leave()
	if err := s.inPlace(); err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	c, err := s.reader()
	if err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	defer s.release(c)
	if _, err := c.exec("BEGIN"); err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	return fn(c)
}

// reader returns a connection to read with, which is given back to release.
func (s *Store) reader() (*conn, error) {
	s.mu.Lock()
	if last := len(s.idle) - 1; last >= 0 {
		c := s.idle[last]
		s.idle = s.idle[:last]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	return dial(s.path, busyTimeout, "query_only = ON")
}

// release ends the transaction of a reader and keeps it for later. One that does not come clean is closed.
func (s *Store) release(c *conn) {
	_, err := c.exec("ROLLBACK")
	s.mu.Lock()
	keep := err == nil && len(s.idle) < maxIdle
	if keep {
		s.idle = append(s.idle, c)
	}
	s.mu.Unlock()
	if !keep {
		s.discard(c, err)
	}
}

// discard closes a connection that is not needed, or not to be trusted after why.
func (s *Store) discard(c *conn, why error) {
	if err := errors.Join(why, c.close()); err != nil {
		s.log.Warn("a connection of the state store was dropped", zap.String("path", s.path), zap.Error(err))
	}
}

// newest returns the newest event and the time of a transaction that has just begun on c: that of the clock, but never before
// what was given out earlier nor before that event. A database whose schema changed since it was opened is not touched.
func (s *Store) newest(c *conn) (seq int64, now time.Time, err error) {
	if err := c.sameSchema(); err != nil {
		return 0, time.Time{}, err
	}
	at := s.clock().UnixMicro()
	err = c.query(newestEvent, func(row []driver.Value) error {
		e, err := event(row) // whole, since a time that is damaged would be the time of all that follows
		seq, at = int64(e.Seq), max(at, e.At.UnixMicro())
		return err
	})
	for err == nil {
		latest := s.latest.Load()
		at = max(at, latest)
		if s.latest.CompareAndSwap(latest, at) {
			break
		}
	}
	return seq, time.UnixMicro(at).UTC(), err
}

// sameSchema says how the schema differs from the one that this binary knows, and that an open store had.
func (c *conn) sameSchema() error {
	version, _, err := c.integer("PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case version > schemaVersion: // a newer binary upgraded it
		return &SchemaError{Path: c.path, Found: int(version), Known: schemaVersion}
	case version < schemaVersion:
		return &DamagedError{c.path, fmt.Errorf("its schema version was %d and is %d", schemaVersion, version)}
	}
	return nil
}
