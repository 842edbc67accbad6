package tracker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// errSaved says that somebody saved the file after it was read; nothing was written.
var errSaved = errors.New("the file was saved by somebody else meanwhile")

// maxRounds bounds how often one call is done again because of saves by others. An editor does not get there.
const maxRounds = 100

// update is the only way to a write: it takes the lock, reads, lets decide choose the next content (nil: none), and puts that
// in the place of what was read. When the file was saved meanwhile, it starts again with the new content.
func (f *File) update(ctx context.Context, decide func(*snapshot) (*snapshot, error)) (err error) {
	unlock, err := f.gate.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if unlockErr := unlock(); unlockErr != nil {
			err = errors.Join(err, unlockErr)
		}
	}()
	for range maxRounds {
		s, err := f.read(ctx)
		if err != nil {
			return err
		}
		next, err := decide(s)
		if err != nil || next == nil || bytes.Equal(next.data, s.data) {
			return err
		}
		if err = replace(f.path, s.data, next.data, f.sync); err == nil {
			f.remember(next)
			return nil
		}
		if !errors.Is(err, errSaved) {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return fmt.Errorf("write %s, %d times: %w", f.name, maxRounds, errSaved)
}

// holds says whether the file at path has exactly this content. It reads no more than it has to, and keeps nothing.
func holds(path string, content []byte) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := file.Read(buffer)
		if n > len(content) || !bytes.Equal(buffer[:n], content[:n]) {
			return false
		}
		content = content[n:]
		if err != nil {
			return err == io.EOF && len(content) == 0
		}
	}
}

// renameOver renames the file temp over path after a last look. A save between look and rename would be lost, which only an
// exchange can prevent.
func renameOver(temp, path string, old []byte) error {
	if !holds(path, old) {
		return errSaved
	}
	return os.Rename(temp, path)
}

// swapEnding is what the name of a temporary file ends with from the moment when it may hold what somebody else wrote.
const swapEnding = ".swap"

// displace gives a save by somebody else a name beside the backlog that people see and no sweep removes.
func displace(temp, path string) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.displaced-%d", path, n)
		if _, err := os.Lstat(name); err != nil {
			return name, os.Rename(temp, name)
		}
	}
}

// staleAfter is how old a temporary file must be to be taken for a dead writer's. A live one exists for milliseconds.
const staleAfter = time.Hour

// sweep clears away temporary files that writers left beside the backlog when they were killed. It removes what nobody but a
// writer of ours can have written, or what the backlog holds as well; anything else may be a person's save, and is displaced.
// It takes the lock only where there is something to do.
func (f *File) sweep() error {
	stale := f.staleFiles()
	if len(stale) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := f.gate.Lock(ctx)
	if err != nil {
		return nil // somebody is busy; the files can wait
	}
	for _, path := range stale {
		if !strings.HasSuffix(path, swapEnding) {
			_ = os.Remove(path) // as above
		} else if content, err := os.ReadFile(path); err != nil {
			continue // it was a live writer's and is gone, or is not ours to judge
		} else if holds(f.path, content) {
			_ = os.Remove(path)
		} else {
			_, _ = displace(path, f.path)
		}
	}
	return unlock()
}

func (f *File) staleFiles() []string {
	dir, base := filepath.Split(f.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the first read will say so
	}
	temporary := regexp.MustCompile(`^\.` + regexp.QuoteMeta(base) + `[0-9]+(` + regexp.QuoteMeta(swapEnding) + `)?$`)
	var stale []string
	for _, e := range entries {
		if !temporary.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && f.clock().Sub(info.ModTime()) > staleAfter {
			stale = append(stale, filepath.Join(dir, e.Name()))
		}
	}
	return stale
}
