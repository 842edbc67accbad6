package wave

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"
)

// ItemLog names the log of an item.
type ItemLog struct {
	Wave string
	Item string // id
	Path string // below the state directory
}

// Log copies what agents and tests of an item said to w, by whole characters. With follow it goes on until the item ends, or its wave
// stops. *RefusedError where there is no log.
func (a Archive) Log(ctx context.Context, wave, item string, follow bool, w io.Writer) (ItemLog, error) {
	fold, i, err := a.find(ctx, wave, item)
	if err != nil {
		return ItemLog{}, err
	}
	log := ItemLog{Wave: fold.ID, Item: i.ID, Path: filepath.ToSlash(logName(fold.ID, i.ID))}
	tail := logTail{path: filepath.Join(a.State, filepath.FromSlash(log.Path)), to: w}
	defer tail.close()
	tick := time.NewTicker(logPoll)
	defer tick.Stop()
	for {
		over := !follow
		if follow {
			if over, err = a.over(ctx, log); err != nil {
				return log, err
			}
		}
		if err := tail.copy(over); err != nil { // after the look, so that nothing written before the end is missed
			return log, err
		}
		if over {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return log, context.Cause(ctx)
		}
	}
	if tail.file == nil {
		return log, &RefusedError{Code: "nothing_kept", Message: fmt.Sprintf("%s has no log in wave %s: no agent began, or the log was removed", i.ID, fold.ID)}
	}
	return log, nil
}

// logPoll is how often a log is looked at for more.
const logPoll = 200 * time.Millisecond

// over says that nothing more is written to an item's log now.
func (a Archive) over(ctx context.Context, log ItemLog) (bool, error) {
	_, alive, err := Alive(a.State, log.Wave)
	if err != nil || !alive {
		return true, err
	}
	fold, i, err := a.find(ctx, log.Wave, log.Item)
	if err != nil {
		return false, err
	}
	return !i.Open() || fold.Stop != nil || fold.End != nil, nil
}

// logTail copies a file that grows.
type logTail struct {
	path string
	to   io.Writer
	file *os.File // nil before it is there
	held []byte   // of a line that is not whole yet
}

// maxHeld bounds the part of a line that is waited for.
const maxHeld = 64 << 10

func (t *logTail) copy(last bool) error {
	if t.file == nil {
		file, err := os.Open(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		t.file = file
	}
	chunk := make([]byte, maxHeld)
	for {
		n, err := t.file.Read(chunk)
		t.held = append(t.held, chunk[:n]...)
		if err := t.pass(last && err != nil); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// pass hands on whole lines; all of what is held in the end, and of a line that is too long whole characters.
func (t *logTail) pass(all bool) error {
	whole := bytes.LastIndexByte(t.held, '\n') + 1
	if whole == 0 && len(t.held) >= maxHeld {
		for whole = len(t.held); whole > len(t.held)-utf8.UTFMax && !utf8.RuneStart(t.held[whole-1]); whole-- {
		}
		whole-- // its start may lack the rest
	}
	if all {
		whole = len(t.held)
	}
	if whole == 0 {
		return nil
	}
	_, err := t.to.Write(t.held[:whole])
	t.held = append(t.held[:0], t.held[whole:]...)
	return err
}

func (t *logTail) close() {
	if t.file != nil {
		_ = t.file.Close() // only read
	}
}
