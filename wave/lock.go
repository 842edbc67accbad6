package wave

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aesop/internal/filelock"
	"aesop/internal/git"
)

func (s *Scheduler) lockFile(name string) string {
	return filepath.Join(s.config.State, "locks", name+".lock")
}

// take holds a wave for this process. Who has it knows that no other process runs the wave: the kernel lets go of it when its
// holder dies. *AliveError where somebody else has it.
func (s *Scheduler) take(id string) (release func() error, err error) {
	path := s.lockFile("wave-" + id)
	unlock, ok, err := tryFor(lookTime, path)
	if err != nil {
		return nil, fmt.Errorf("lock of wave %s: %w", id, err)
	}
	owner := path + ".owner"
	if !ok {
		who, readErr := os.ReadFile(owner)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			return nil, readErr
		}
		return nil, &AliveError{Wave: id, Owner: strings.TrimSpace(string(who))}
	}
	note := fmt.Sprintf("%s, process %d", s.config.Owner, os.Getpid())
	if err := os.WriteFile(owner, []byte(note+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// lookTime is longer than anybody holds a wave's lock only to see whether it is free.
const lookTime = 100 * time.Millisecond

func tryFor(limit time.Duration, path string) (unlock func() error, ok bool, err error) {
	again := time.NewTicker(limit / 10)
	defer again.Stop()
	for range 10 {
		if unlock, ok, err = filelock.TryLock(path); ok || err != nil {
			return unlock, ok, err
		}
		<-again.C
	}
	return nil, false, nil
}

// Alive says whether a process runs a wave of a state directory, and which.
func Alive(state, id string) (owner string, alive bool, err error) {
	path := filepath.Join(state, "locks", "wave-"+id+".lock")
	if !exists(path) {
		return "", false, nil
	}
	unlock, free, err := filelock.TryLock(path)
	if err != nil {
		return "", false, err
	}
	if free {
		return "", false, unlock()
	}
	who, err := os.ReadFile(path + ".owner")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", true, err
	}
	return strings.TrimSpace(string(who)), true, nil
}

// staleAge is how old a lock file of git must be before it is taken for one that a killed git left.
const staleAge = time.Minute

// freeEngine removes lock files that a killed git left in the engine's repository, unless another wave is alive.
func (s *Scheduler) freeEngine(ctx context.Context, id string, engine *git.Engine) error {
	stale, err := engine.StaleLocks(s.config.Clock(), staleAge)
	if err != nil || len(stale) == 0 {
		return err
	}
	others, err := s.unfinished(ctx)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other == id {
			continue
		}
		unlock, dead, err := filelock.TryLock(s.lockFile("wave-" + other))
		if err != nil || !dead {
			return err
		}
		if err := unlock(); err != nil {
			return err
		}
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
