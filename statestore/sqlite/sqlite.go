// Package sqlite is a statestore.Store in one SQLite file, for all processes of one machine.
//
// A nil error of Update means that the change is on the disk (WAL with synchronous=FULL). Goroutines of one process that
// update at the same time share one commit; processes take turns at a gate of two file locks beside the database
// (in the folder locks there, never removed), which the kernel opens when a process dies. Readers wait for nobody.
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
	Clock  func() time.Time // nil: time.Now. The store keeps microseconds.
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

// Open opens the database at c.Path, makes it where it is missing, and examines it: a file that is damaged, truncated or not a
// state store is an error that names it, a schema of another version is a *SchemaError. It waits at the gate for as long as
// ctx allows. Close the store when done.
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
		if errors.As(err, &schema) {
			return nil, schema
		}
		return nil, fmt.Errorf("open state store %s: %w", c.Path, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if s.path, err = resolve(path); err != nil {
		return err
	}
	s.gate = newGate(s.path)
	unlock, err := s.gate.Lock(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(create(s.path), unlock()); err != nil {
		return err
	}
	c, err := s.reader()
	if err != nil {
		return err
	}
	if err := c.check(s.path); err != nil {
		return errors.Join(err, c.close())
	}
	s.idle = append(s.idle, c)
	s.file, err = os.Stat(s.path)
	return err
}

// resolve follows links, so that all who open one file by different names meet at one gate.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
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
	var errs []error
	for _, c := range append(s.idle, s.writer) {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	s.idle, s.writer = nil, nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close state store %s: %w", s.path, err)
	}
	return nil
}
