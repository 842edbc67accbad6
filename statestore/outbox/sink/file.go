package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"aesop/internal/filelock"
	"aesop/statestore/outbox"
)

const (
	fileTail = 4 << 20 // bytes at the end of a file that are looked through for ids
	fileIDs  = 10_000  // ids that are remembered
)

// File is an outbox.Sink that appends each intent to a file, one outbox.Document a line. An intent is on the disk when Send returns nil. The
// file is made where it is missing, private to its user, and written by any number of processes, which take turns at a lock file beside it.
//
// An intent whose id is among the last 4 MiB of the file, or was written by this File lately, is not written again. A line that was torn by a
// crash is ended, so that readers find one line that is not JSON there, and never glued to the next: nothing that a reader may have seen is
// taken back. A file that is renamed or removed is begun anew.
type File struct {
	path string

	mu    sync.Mutex
	info  os.FileInfo // of the file that was read; nil: none
	at    int64       // how far
	known map[string]bool
	order []string // of known, oldest first
}

// NewFile returns the sink of a file, which is not touched before the first Send.
func NewFile(path string) *File { return &File{path: path, known: map[string]bool{}} }

// Send implements outbox.Sink. Every error of the file is an outbox.ErrUnreachable: the next intent would fare no better.
func (f *File) Send(ctx context.Context, i outbox.Intent) error {
	line, err := outbox.Document(i)
	if err != nil {
		return err
	}
	if err := f.write(ctx, i.ID, append(line, '\n')); err != nil {
		return fmt.Errorf("%w: append to %s: %w", outbox.ErrUnreachable, f.path, err)
	}
	return nil
}

func (f *File) write(ctx context.Context, id string, line []byte) (err error) {
	unlock, err := filelock.Lock(ctx, resolve(f.path)+".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, torn, err := f.readOn(file)
	if err != nil {
		return err
	}
	var text []byte
	if torn {
		text = append(text, '\n')
	}
	if !f.known[id] {
		text = append(text, line...)
	}
	if len(text) > 0 {
		if _, err := file.Write(text); err != nil {
			return err
		}
	}
	if err := file.Sync(); err != nil { // also of what is known: whoever wrote it may have died before that
		return err
	}
	if size == 0 {
		if err := syncNew(f.path); err != nil {
			return err
		}
	}
	f.at = size + int64(len(text))
	f.remember(id)
	return nil
}

// resolve is a path without links, so that writers under different names take turns.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path // it is not there yet, or opening it will say what is wrong
}

// readOn learns the ids of lines that were not read yet, the size of the file, and whether its last line has no end.
func (f *File) readOn(file *os.File) (size int64, torn bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, false, err
	}
	if !os.SameFile(f.info, info) || info.Size() < f.at {
		f.at = 0
	}
	f.at = max(f.at, info.Size()-fileTail)
	text := make([]byte, info.Size()-f.at)
	if _, err := file.ReadAt(text, f.at); err != nil && err != io.EOF {
		return 0, false, err
	}
	for line := range bytes.Lines(text) {
		if i, err := outbox.ParseDocument(line); err == nil {
			f.remember(i.ID)
		}
	}
	ended := bytes.LastIndexByte(text, '\n') + 1
	f.info, f.at = info, f.at+int64(ended) // what is torn is read again, until it is ended
	return info.Size(), ended < len(text), nil
}

func (f *File) remember(id string) {
	if f.known[id] {
		return
	}
	f.known[id] = true
	if f.order = append(f.order, id); len(f.order) > fileIDs {
		delete(f.known, f.order[0])
		f.order = f.order[1:]
	}
}
