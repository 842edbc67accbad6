package wave

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aesop/internal/filelock"
)

func (s *Scheduler) lockFile(name string) string {
	return filepath.Join(s.config.State, "locks", name+".lock")
}

// take holds a wave for this process. Who has it knows that no other process runs the wave: the kernel lets go of it when its
// holder dies. *AliveError where somebody else has it.
func (s *Scheduler) take(id string) (release func() error, err error) {
	path := s.lockFile("wave-" + id)
	unlock, ok, err := filelock.TryLock(path)
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
