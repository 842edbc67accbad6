package tracker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"aesop/internal/filelock"
)

// FileConfig says where a file tracker lives.
type FileConfig struct {
	Path    string           // of the backlog; a symbolic link is followed, and its target is edited
	LockDir string           // local directory for the lock files; every process must name the same one
	Clock   func() time.Time // by which leases are judged and made; nil: time.Now
	Rand    io.Reader        // for tokens; nil: crypto/rand
}

// File is the tracker in a JSON file that people edit. It implements Tracker and Operator. A write changes only the bytes of
// the items concerned that have to change, replaces the file at once, and is on disk when the call returns. Saves by editors
// that completed before a write are never lost to it; on Linux that holds to the last instant.
type File struct {
	name  string // as configured, for messages
	path  string // resolved
	clock func() time.Time
	rand  io.Reader
	gate  *filelock.Turnstile
	sync  func(*os.File) error // puts a file or a directory on disk; tests watch it and let it fail

	mu   sync.Mutex
	last *snapshot // the newest that was read or written, so that unchanged bytes are not parsed again
}

var (
	_ Tracker  = (*File)(nil)
	_ Operator = (*File)(nil)
)

// How long a file that cannot be read is taken for one that an editor is saving, and how often it is looked at.
const (
	patience = time.Second
	glance   = 20 * time.Millisecond
)

// OpenFile opens the backlog, which must exist, and clears away what writers that died long ago left beside it. A save of
// somebody else that one of them had displaced is kept as Path.displaced-N. It does not read the backlog yet.
func OpenFile(config FileConfig) (*File, error) {
	if config.Path == "" || config.LockDir == "" {
		return nil, errors.New("open tracker: Path and LockDir must be set")
	}
	f := &File{name: config.Path, clock: config.Clock, rand: config.Rand, sync: (*os.File).Sync}
	if f.clock == nil {
		f.clock = time.Now
	}
	path, err := filepath.Abs(config.Path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, f.unreadable(err)
	}
	f.path = path
	sum := sha256.Sum256([]byte(FoldPath(filepath.ToSlash(path))))
	f.gate = filelock.NewTurnstile(config.LockDir, "tracker-"+hex.EncodeToString(sum[:8]))
	return f, f.sweep()
}

// Backlog reads all items. It takes no lock and waits up to a second for an editor to finish a save.
func (f *File) Backlog(ctx context.Context) (Backlog, error) {
	s, err := f.read(ctx)
	if err != nil {
		return Backlog{}, err
	}
	return s.backlog(f.name), nil
}

// clone shares nothing with i.
func (i Item) clone() Item {
	i.OwnsFiles = slices.Clone(i.OwnsFiles)
	i.TestCmd.Argv = slices.Clone(i.TestCmd.Argv)
	i.DependsOn = slices.Clone(i.DependsOn)
	i.AcceptanceCriteria = slices.Clone(i.AcceptanceCriteria)
	i.Claim = clonePointer(i.Claim)
	i.Shipped = clonePointer(i.Shipped)
	return i
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// read returns the present content. What looks like an editor's unfinished save is looked at again for a second.
func (f *File) read(ctx context.Context) (*snapshot, error) {
	s, err := f.readOnce()
	if err == nil || !f.unfinished(err) {
		return s, err
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	again := time.NewTicker(glance)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("read %s: %w", f.name, ctx.Err())
		case <-limit.C:
			return nil, err
		case <-again.C:
			if s, err = f.readOnce(); err == nil || !f.unfinished(err) {
				return s, err
			}
		}
	}
}

func (f *File) readOnce() (*snapshot, error) {
	if last := f.remembered(); last != nil && holds(f.path, last.data) {
		return last, nil
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, f.unreadable(err)
	}
	s, err := parseBacklog(f.name, data)
	if err == nil {
		f.remember(s)
	}
	return s, err
}

// unfinished says whether an error may come from reading between two steps of an editor's save. A file that was never there
// is only missing.
func (f *File) unfinished(err error) bool {
	var e *FileError
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == "empty" || e.Code == "syntax" || e.Code == "encoding" || e.Code == "missing" && f.remembered() != nil
}

func (f *File) unreadable(err error) error {
	e := &FileError{Code: "unreadable", File: f.name, Message: "cannot be read: " + err.Error(), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code, e.Message, e.Hint = "missing", "there is no such file", "create the backlog, or name another file"
	}
	return e
}

func (f *File) remember(s *snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = s
}

func (f *File) remembered() *snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}
