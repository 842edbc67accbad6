package wave

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// itemLog is the file that keeps what agents and tests of one item said, redacted.
type itemLog struct {
	io.Writer
	closers []io.Closer
}

// wholeWave stands where an item's id would, for what is done for the wave as a whole. No item's name begins so.
const wholeWave = "_wave"

// logName is the log of an item, or of wholeWave, below the state directory.
func logName(wave, item string) string {
	name := wholeWave
	if item != wholeWave {
		name = itemName(item)
	}
	return filepath.Join("waves", wave, name+".log")
}

func (r *run) openLog(item string) (*itemLog, error) {
	path := filepath.Join(r.s.config.State, logName(r.id, item))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	w := r.s.config.Redactor.NewWriter(f)
	return &itemLog{Writer: w, closers: []io.Closer{w, f}}, nil
}

func (l *itemLog) section(format string, args ...any) {
	fmt.Fprintf(l, "--- "+format+"\n", args...)
}

func (l *itemLog) write(text []byte) {
	_, _ = l.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		fmt.Fprintln(l)
	}
}

// Close writes what the redactor held back. A log that cannot be written stops no work.
func (l *itemLog) Close() {
	for _, c := range l.closers {
		_ = c.Close()
	}
}

// redact takes secrets out of a text.
func (s *Scheduler) redact(text string) string { return s.config.Redactor.String(text) }
