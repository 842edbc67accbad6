package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// Bounds of what NewestChange looks at.
const (
	MaxFiles = 100_000 // files and folders
	MaxDepth = 200     // folders within each other: each is found through all that it is in
)

// ErrTooManyFiles is returned for a folder with more than MaxFiles in it, or deeper than MaxDepth: the newest of some of them would say
// nothing.
var ErrTooManyFiles = errors.New("too many files")

// NewestChange is when something in a folder last changed, by the times of its files and folders and its own: the
// Progress of an agent whose output, transcripts or tree are there. A folder that is missing, is no folder or cannot be
// read whole is an error, since it says nothing of the agent. Symbolic links are not followed, and the folder itself must
// be none. What goes away meanwhile is passed over.
//
// It says what the file system says: a program can set any time, and another machine's clock may be ahead. Judge takes a
// time from the future for what it is.
func NewestChange(ctx context.Context, folder string) (time.Time, error) {
	return newestChange(ctx, folder, MaxFiles)
}

func newestChange(ctx context.Context, folder string, limit int) (newest time.Time, err error) {
	info, err := os.Lstat(folder)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "read", Path: folder, Err: errors.New("it is not a folder")}
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(folder)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("newest change: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return time.Time{}, errors.Join(fmt.Errorf("newest change in %s: it was replaced meanwhile", folder), err)
	}
	seen := 0
	err = fs.WalkDir(hostileTree{root, limit}, ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seen++; seen > limit {
			return fmt.Errorf("more than %d: %w", limit, ErrTooManyFiles)
		}
		if strings.Count(name, "/") >= MaxDepth {
			return fmt.Errorf("more than %d within each other: %w", MaxDepth, ErrTooManyFiles)
		}
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != ".":
			return nil
		case err != nil:
			return err
		}
		newest = latest(newest, info.ModTime())
		return nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("newest change in %s: %w", folder, err)
	}
	return newest.UTC(), nil
}

// hostileTree is a tree that somebody changes on purpose while it is read: what was a folder may be a pipe by now, and a folder may have
// any number of entries.
type hostileTree struct {
	root  *os.Root
	limit int
}

func (t hostileTree) Open(name string) (fs.File, error) { return t.open(name) }

func (t hostileTree) open(name string) (*os.File, error) {
	return t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would wait for who writes to it
}

// ReadDir reads no more entries than make the walk end.
func (t hostileTree) ReadDir(name string) ([]fs.DirEntry, error) {
	folder, err := t.open(name)
	if err != nil {
		return nil, err
	}
	entries, err := folder.ReadDir(t.limit + 1)
	if errors.Is(err, io.EOF) { // of an empty folder
		err = nil
	}
	return entries, errors.Join(err, folder.Close())
}
