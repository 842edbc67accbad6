package wave

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2/maybe"

	"aesop/redact"
)

// Halt is the switch that stops every wave of a state directory: a file, so that neither a database nor a network is needed.
type Halt struct {
	Dir      string           // state directory
	Redactor *redact.Redactor // of what people write as reasons; nil: the default one
}

// HaltNote says why and since when waves are halted.
type HaltNote struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	By     string    `json:"by"`
}

// Path is the file whose existence halts.
func (h Halt) Path() string { return filepath.Join(h.Dir, "HALT") }

// Set halts. A later call replaces the note.
func (h Halt) Set(note HaltNote) error { return h.write(note, h.Path()) }

// write writes a note into a file, at once.
func (h Halt) write(note HaltNote, path string) error {
	if note.Reason == "" {
		return errors.New("halt: a reason is required")
	}
	redactor, err := theRedactor(h.Redactor)
	if err != nil {
		return err
	}
	note.Reason = redactor.String(note.Reason)
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return fmt.Errorf("halt: %w", err)
	}
	return maybe.WriteFile(path, append(data, '\n'), 0o600)
}

// SetFirst is Set, but leaves a note that is there; it says whether it set its own.
func (h Halt) SetFirst(note HaltNote) (bool, error) {
	folder, err := os.MkdirTemp(h.Dir, "halt-")
	if err != nil {
		return false, fmt.Errorf("halt: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	own := filepath.Join(folder, "HALT") // it lives on under the other name
	if err := h.write(note, own); err != nil {
		return false, err
	}
	err = os.Link(own, h.Path())
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("halt: %w", err)
	}
	return true, nil
}

// Clear lets waves go on. It is no error where nothing halted.
func (h Halt) Clear() error {
	if err := os.Remove(h.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("halt clear: %w", err)
	}
	return nil
}

// Note returns the note, or nil where nothing halts. A file that cannot be read, or says nothing, halts all the same. The
// error is that nobody can tell.
func (h Halt) Note() (*HaltNote, error) {
	if _, err := os.Lstat(h.Path()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("halt: %w", err)
	}
	note := HaltNote{Reason: "the HALT file cannot be read"}
	if data, err := os.ReadFile(h.Path()); err == nil {
		if json.Unmarshal(data, &note) != nil || note.Reason == "" {
			note.Reason = "the HALT file says no reason"
		}
	}
	return &note, nil
}

// Name and Check make Halt a Gate.
func (h Halt) Name() string { return "halt" }

// Check says no while the file exists.
func (h Halt) Check(context.Context, Point) error {
	note, err := h.Note()
	if err != nil {
		return err
	}
	if note != nil {
		return &Stop{Reason: note.Reason}
	}
	return nil
}
