package ledgerfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"aesop/cost"
	"aesop/internal/filelock"
)

// Ledger is a cost.Ledger on a JSONL file, for any number of goroutines and processes. Writers take turns by a lock beside the file;
// readers need none. A file that is not there is an empty ledger, and only Record makes it.
//
// What a process wrote that died within it was never said to be kept: the next Record removes it. A file that was truncated or
// replaced since it was read is read from its beginning; Health counts that, because what was in it before counts no more. A file in which
// a newer program wrote cannot be read, because its sums would be too low.
type Ledger struct {
	path string

	mu     sync.Mutex // held while the file is read or written, which is what there is to do
	follow follower
	book   *cost.Book
	edges  edges
	info   fs.FileInfo // of the file that was read; nil: none
	differ int         // lines of it
	health Health      // what is counted over all files: calls given that differ, and restarts
}

// Health is what a ledger file is made of.
type Health struct {
	Report
	Differ   int `json:"differ"`   // lines, and calls given to this Ledger, with an id that an earlier one had with another content
	Future   int `json:"future"`   // rows that are later than now
	Restarts int `json:"restarts"` // how often the file was found truncated or replaced
}

// New returns the ledger of the file at path.
func New(path string) *Ledger { return &Ledger{path: path, book: new(cost.Book)} }

// Record implements cost.Ledger.
func (l *Ledger) Record(ctx context.Context, calls ...cost.Call) (done cost.Recorded, err error) {
	if len(calls) > maxRecord {
		return done, fmt.Errorf("record %d calls in %s: at most %d at a time", len(calls), l.path, maxRecord)
	}
	for _, c := range calls {
		if err := c.Check(); err != nil {
			return done, fmt.Errorf("record in %s: %w", l.path, err)
		}
	}
	if len(calls) == 0 {
		return done, nil
	}
	unlock, err := filelock.Lock(ctx, l.file()+".lock")
	if err != nil {
		return done, fmt.Errorf("record in %s: %w", l.path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return done, fmt.Errorf("record: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := l.readOn(file); err != nil {
		return done, err
	}
	fork := l.bookNow()
	var fresh []cost.Call
	for _, c := range calls {
		this := fork.Add(c)
		if this.Added > 0 {
			fresh = append(fresh, c)
		}
		done = done.Add(this)
	}
	if err := l.append(file, fresh); err != nil {
		return cost.Recorded{}, fmt.Errorf("record %d calls in %s: %w", len(calls), l.path, err)
	}
	l.health.Differ += done.Differ
	return done, l.readOn(file)
}

// file is the path without links, so that writers under different names take turns.
func (l *Ledger) file() string {
	if path, err := filepath.EvalSymlinks(l.path); err == nil {
		return path
	}
	return l.path // it is not there yet, or opening it will say what is wrong
}

// append writes a record behind the last whole one. Whoever calls it holds the lock and has just read on.
func (l *Ledger) append(file *os.File, record []cost.Call) error {
	if len(record) == 0 {
		return l.sync(file) // whoever wrote what is known may have died before that
	}
	at, text := l.follow.at, []byte(nil)
	switch {
	case l.follow.cut():
		if err := file.Truncate(at); err != nil {
			return err
		}
	case len(l.follow.last) > 0:
		end, err := file.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		at, text = end, []byte{'\n'}
	}
	text, err := encode(text, record...)
	if err != nil {
		return err
	}
	if _, err := file.WriteAt(text, at); err != nil {
		return errors.Join(err, file.Truncate(at)) // none rather than some
	}
	return l.sync(file)
}

// sync makes what is written durable, and the name of a new file.
func (l *Ledger) sync(file *os.File) error {
	if err := file.Sync(); err != nil || runtime.GOOS == "windows" { // which has no such call for folders
		return err
	}
	dir, err := os.Open(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Book implements cost.Ledger. The Book does not change with the file, and calls added to it go nowhere else.
func (l *Ledger) Book(ctx context.Context) (*cost.Book, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", l.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	return l.bookNow(), nil
}

// bookNow is what was read, with a last line that has no newline.
func (l *Ledger) bookNow() *cost.Book {
	book := l.book.Fork(l.book.Len())
	if last, whole := l.follow.tail(); whole {
		book.Add(last)
	}
	return book
}

// Health tells what the file is made of at a time.
func (l *Ledger) Health(ctx context.Context, now time.Time) (Health, error) {
	book, err := l.Book(ctx)
	if err != nil {
		return Health{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	health := l.health
	health.Report = l.follow.report
	health.Differ += l.differ
	health.Rows = book.Len()
	if _, whole := l.follow.tail(); whole {
		health.Torn = false
	}
	health.Future = book.Total(cost.Query{Window: cost.Window{From: now.Add(1)}}).Calls
	return health, nil
}

// refresh reads on without the lock of writers. Lines that are being written are not whole yet, and are left.
func (l *Ledger) refresh() (err error) {
	file, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		if l.info != nil {
			l.restart()
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return l.readOn(file)
}

// restart forgets what was read.
func (l *Ledger) restart() {
	l.follow, l.book, l.edges, l.info, l.differ = follower{}, new(cost.Book), edges{}, nil, 0
	l.health.Restarts++
}

// readOn takes what the file has gained, or all of it where it is not the one that was read before.
func (l *Ledger) readOn(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	if l.info != nil {
		same, err := l.edges.hold(file, l.follow.at)
		if err != nil {
			return fmt.Errorf("read the ledger %s: %w", l.path, err)
		}
		if !same || !os.SameFile(info, l.info) {
			l.restart()
		}
	}
	l.info = info
	from := l.follow.at
	err = l.follow.read(io.NewSectionReader(file, from, 1<<62), func(c cost.Call) error {
		l.differ += l.book.Add(c).Differ
		return nil
	})
	if l.follow.at != from && err == nil {
		l.edges, err = edgesOf(file, l.follow.at)
	}
	if err == nil {
		err = l.follow.newer
	}
	if err != nil {
		return fmt.Errorf("read the ledger %s: %w", l.path, err)
	}
	return nil
}

// edges are the bytes at the beginning and at the end of what was read, to see whether the file is still the one that it was. Where it
// became shorter there are zeroes, which a row never has.
type edges struct{ head, tail []byte }

const edge = 512

func edgesOf(file io.ReaderAt, end int64) (e edges, err error) {
	n := min(end, edge)
	e = edges{make([]byte, n), make([]byte, n)}
	if _, err := file.ReadAt(e.head, 0); err != nil && err != io.EOF {
		return edges{}, err
	}
	if _, err := file.ReadAt(e.tail, end-n); err != nil && err != io.EOF {
		return edges{}, err
	}
	return e, nil
}

func (e edges) hold(file io.ReaderAt, end int64) (bool, error) {
	now, err := edgesOf(file, end)
	return bytes.Equal(now.head, e.head) && bytes.Equal(now.tail, e.tail), err
}
