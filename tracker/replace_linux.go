package tracker

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takePlace puts the file temp in the place of the one at path by an exchange. For that it gets another name, by which the
// sweep knows that it may hold somebody's save.
//
// What came out is looked at once more after settle, which makes the names durable and takes its time: an editor that had the file
// open may write into it until then.
func takePlace(temp, path string, old, data []byte, settle func() error) error {
	swap := temp + swapEnding
	if err := os.Rename(temp, swap); err != nil {
		return err
	}
	err := exchangeWhole(swap, path, old, data, settle)
	if stranded, ok := errors.AsType[*strandedError](err); ok {
		return stranded.keep(path)
	}
	_ = os.Remove(swap) // the old content, or ours; swept later if it stays
	return err
}

// strandedError says that a save by somebody else was displaced and could not be put back. The save is kept. It does not unwrap
// to errSaved, after which the write would be done again over it.
type strandedError struct {
	path  string
	cause error
}

func (e *strandedError) Error() string {
	return fmt.Sprintf("a save by somebody else is in %s, move it back by hand: %v", e.path, e.cause)
}

// keep displaces the save where it can; where not, the sweep will.
func (e *strandedError) keep(path string) *strandedError {
	if kept, err := displace(e.path, path); err == nil {
		e.path = kept
	}
	return e
}

// exchangeWhole exchanges the file temp with the one at path and looks at what came out. If that is not what was read before,
// somebody saved in between: it is put back, and errSaved returned. What comes out when it is put back must be ours, or yet
// another save has to be put back, and so on; each round needs a save within microseconds.
func exchangeWhole(temp, path string, old, data []byte, settle func() error) error {
	err := exchange(temp, path)
	switch {
	case errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS):
		if err := renameOver(temp, path, old); err != nil {
			return err
		}
		return settle() // a file system without exchange
	case errors.Is(err, unix.ENOENT):
		return errSaved // an editor has the file out of its place for a moment
	case err != nil:
		return err
	}
	expected, placed := old, data
	for round := range maxRounds {
		same := holds(temp, expected)
		if same && round > 0 {
			return errSaved
		}
		if same {
			if err := settle(); err != nil {
				return err
			}
			if holds(temp, expected) {
				return nil
			}
		}
		out, _ := os.ReadFile(temp) // what cannot be read is put back unseen
		switch cameOut, err := putBack(temp, path); {
		case err != nil:
			return &strandedError{path: temp, cause: err}
		case !cameOut:
			return errSaved
		}
		expected, placed = placed, out
	}
	return &strandedError{path: temp, cause: errSaved}
}

// putBack gives a displaced save its place again, also where an editor has just taken ours away. It says whether something
// came out in exchange.
func putBack(temp, path string) (cameOut bool, err error) {
	if err = exchange(temp, path); !errors.Is(err, unix.ENOENT) {
		return true, err
	}
	err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EEXIST) {
		return true, exchange(temp, path)
	}
	return false, err
}

func exchange(temp, path string) error {
	return unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
}
