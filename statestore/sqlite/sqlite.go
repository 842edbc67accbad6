// Package sqlite is a statestore.Store in one SQLite file, for all processes of one machine.
//
// A nil error of Update means that the change is on the disk (WAL with synchronous=FULL). Goroutines of one process that
// update at the same time share one commit; processes take turns at a gate of two file locks beside the database
// (in the folder locks there, never removed), which the kernel opens when a process dies. Readers wait for nobody.
//
// Time: a transaction's Now is the latest of its clock, of what this handle gave out before, and of the newest event. So it never
// goes back for a handle, nor from an event to any transaction after it, whatever clocks the handles and processes have: who
// judges a lease as lapsed and appends an event is agreed with by all who come later. A clock that is behind the newest event
// stands still until it is past it, which lengthens a lease and never cuts it short; one that is ahead ends the leases of others
// as much too early, which no store can know that has only its callers' clocks. Processes of one machine share one clock, unless
// it is set.
//
// Damage: records and events carry checksums and events a gapless number, which are compared whenever they are read. Open
// compares the log with what was committed to it, and the tables with their indexes (of more than 64 MiB, the records' only). What
// does not fit is a *DamagedError. No check can tell a database that was put back whole to an older state.
//
// The file must lie on a local disk. While a store is open, no other code of the process may open and close the database
// file: on Unix, closing any descriptor of a file drops all locks that the process has on it.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"aesop/statestore"
	"aesop/statestore/internal/backend"
)

// Config says which database to open.
type Config struct {
	Path   string           // of the database file; it and its directory are made where they are missing
	Clock  func() time.Time // nil: time.Now. The store keeps microseconds; see the package's words on time.
	Logger *zap.Logger      // nil: none
}

// Store is an open database. It is safe for concurrent use by goroutines; other processes may have the same file open.
type Store struct {
	path   string
	file   os.FileInfo // which file that is
	clock  func() time.Time
	log    *zap.Logger
	gate   gate
	life   *backend.Life
	change *backend.Signal
	latest atomic.Int64 // newest time given out, so that Now never goes back

	writer *conn // belongs to who leads; nil after a failure, until the next group dials anew

	mu      sync.Mutex
	leading bool       // somebody leads a group or was called to
	queue   []*request // callers of Update that wait to lead or to join
	idle    []*conn    // readers
}

var _ statestore.Store = (*Store)(nil)

const (
	busyTimeout = "busy_timeout = 10000" // ms; our own writers never meet, but checkpoints and other programs do
	maxIdle     = 16                     // readers kept; more are opened when needed and closed after use
)

// Open opens the database at c.Path, makes it where it is missing, and examines it: a file that is not a state store or cannot be
// written to is an error that names it, one that is damaged a *DamagedError, a schema that is newer than this binary's a
// *SchemaError; all of them leave it as it is. A schema that is older is upgraded, after a backup (PATH.vN.backup) that is left
// there. Open waits at the gate for as long as ctx allows. Close the store when done.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Path == "" {
		return nil, errors.New("open state store: no path given")
	}
	s := &Store{
		clock:  c.Clock,
		log:    c.Logger,
		life:   backend.NewLife(),
		change: backend.NewSignal(),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.log == nil {
		s.log = zap.NewNop()
	}
	s.latest.Store(math.MinInt64)
	if err := s.open(ctx, c.Path); err != nil {
		var schema *SchemaError
		var damaged *DamagedError
		switch {
		case errors.As(err, &schema):
			return nil, schema
		case errors.As(err, &damaged):
			return nil, damaged
		}
		return nil, fmt.Errorf("open state store %s: %w", c.Path, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	if s.path, err = resolve(path); err != nil {
		return err
	}
	s.gate = newGate(s.path)
	if err := s.atGate(ctx, s.prepare); err != nil {
		return err
	}
	if err := check(s.path); err != nil {
		return err
	}
	return s.atGate(ctx, s.tryWriting)
}

// atGate does what other processes must not do at the same time.
func (s *Store) atGate(ctx context.Context, do func() error) error {
	unlock, err := s.gate.Lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(), unlock())
}

// prepare sees to it that there is a database of our schema.
func (s *Store) prepare() error {
	if err := create(s.path); err != nil {
		return err
	}
	if err := checkLog(s.path); err != nil {
		return err
	}
	version, err := examine(s.path)
	if err != nil {
		return err
	}
	if version < schemaVersion {
		if err := upgrade(s.path, version); err != nil {
			return err
		}
		s.log.Info("upgraded the state store", zap.String("path", s.path), zap.Int("from", version), zap.Int("to", schemaVersion))
	}
	s.file, err = os.Stat(s.path)
	return err
}

// tryWriting writes and takes it back, so that a file that is read-only is refused now and not by the first thing that must be
// kept.
func (s *Store) tryWriting() error {
	g, err := s.begin()
	if err == nil {
		_, err = g.conn.exec("UPDATE deleted SET rev = rev")
		_, undo := g.conn.exec("ROLLBACK")
		err = errors.Join(err, undo)
	}
	if err != nil && s.writer != nil {
		err = errors.Join(err, s.writer.close())
	}
	return err
}

// resolve follows links, so that all who open one file by different names meet at one gate.
func resolve(path string) (string, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// Close implements statestore.Store. Updates that wait for their turn fail with ErrClosed.
func (s *Store) Close() error {
	if !s.life.Close() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fail("close_begun")
	var errs []error
	for _, c := range append(s.idle, s.writer) {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	s.idle, s.writer = nil, nil
	fail("closed")
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close state store %s: %w", s.path, err)
	}
	return nil
}
