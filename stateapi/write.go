package stateapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aesop/statestore"
	"aesop/statestore/lifecycle"
)

// WriteConfig is what a WriteAPI needs.
type WriteConfig struct {
	Store  statestore.Store
	Redact func(string) string // what may be stored of text from outside; nil: all of it
}

// WriteAPI writes. It is safe for concurrent use, and any number of them, in any processes, may write to one store.
type WriteAPI struct {
	c WriteConfig
}

// NewWrite returns a WriteAPI.
func NewWrite(c WriteConfig) (*WriteAPI, error) {
	if c.Store == nil {
		return nil, errors.New("write to the state: no store given")
	}
	if c.Redact == nil {
		c.Redact = func(text string) string { return text }
	}
	return &WriteAPI{c}, nil
}

// How says how a write is made. The zero How writes whatever was written before.
type How struct {
	// Key makes the write happen once: up to 200 bytes, made by the caller for this one request. A call that repeats key
	// and request gets the first one's answer and changes nothing; with another request it is a *KeyReusedError. A call
	// that failed with an error has not used its key. The newest KeysKept keys of a store are remembered. "": none.
	Key string
	// Version is that of what the caller has seen: Status.Version, the Version of the newest Line, or the TransitionSeq
	// of a job's record; 0 is of what is not there yet. What has another by now is a *statestore.ConflictError. Nil: any.
	Version *statestore.Version
}

// version is the expected version in the store's words.
func (h How) version() statestore.Version {
	if h.Version == nil {
		return statestore.AnyVersion
	}
	return *h.Version
}

// maxText bounds what is kept of a status or a line, in bytes.
const maxText = 4096

// text checks a line of text.
func text(what, s string) error {
	if len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%s %.80q: %w: must be one line of at most %d bytes", what, s, ErrInvalid, maxText)
	}
	return nil
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// StatusChange is what to say in a status.
type StatusChange struct {
	ID       string  // letters, digits and . _ - up to 64; "": MainStatus
	Role     string  // "": as it was, at first MainRole
	Activity *string // nil: as it was
	Phase    *string // nil: as it was
}

// clean is the change with the text that may be stored.
func (w *WriteAPI) clean(c StatusChange) (StatusChange, error) {
	var err error
	if c.ID, err = statusID(c.ID); err != nil {
		return c, err
	}
	c.Role = w.c.Redact(c.Role)
	if err := text("role", c.Role); err != nil {
		return c, err
	}
	if c.Activity, err = w.cleanText("activity", c.Activity); err != nil {
		return c, err
	}
	c.Phase, err = w.cleanText("phase", c.Phase)
	return c, err
}

// statusID is the id of a status as a caller gives it.
func statusID(id string) (string, error) {
	if id == "" {
		return MainStatus, nil
	}
	if !idForm.MatchString(id) {
		return "", fmt.Errorf("id of a status %.80q: %w: must be letters, digits and . _ -", id, ErrInvalid)
	}
	return id, nil
}

func (w *WriteAPI) cleanText(what string, given *string) (*string, error) {
	if given == nil {
		return nil, nil
	}
	cleaned := w.c.Redact(*given)
	return &cleaned, text(what, cleaned)
}

// SetStatus says what an orchestrator does, all of it in one event, and returns its status.
func (w *WriteAPI) SetStatus(ctx context.Context, how How, change StatusChange) (Status, error) {
	change, err := w.clean(change)
	if err != nil {
		return Status{}, fmt.Errorf("set status: %w", err)
	}
	return once(ctx, w, "set status", how.Key, change, func(tx statestore.Tx) (Status, error) {
		s, err := loadStatus(tx, change.ID)
		if err != nil && !errors.Is(err, statestore.ErrNotFound) {
			return Status{}, err // also of one that is damaged: what it was cannot be kept
		}
		says := said{Role: MainRole, Activity: s.Activity, Phase: s.Phase}
		if s.Role != "" {
			says.Role = s.Role
		}
		if change.Role != "" {
			says.Role = change.Role
		}
		if change.Activity != nil {
			says.Activity = *change.Activity
		}
		if change.Phase != nil {
			says.Phase = *change.Phase
		}
		stored, err := appendOne(tx, statusStream(change.ID), how.version(), statusSet, says)
		if err != nil {
			return Status{}, err
		}
		after, err := statusAfter(stored)
		if err != nil {
			return Status{}, err
		}
		data, err := json.Marshal(after)
		if err != nil {
			return Status{}, err
		}
		_, err = tx.Put(statusKey(change.ID), data, statestore.Any)
		return *after, err
	})
}

// ClearStatus takes back what an orchestrator said; "" is MainStatus. Where there is no status it changes nothing.
func (w *WriteAPI) ClearStatus(ctx context.Context, how How, id string) error {
	id, err := statusID(id)
	if err != nil {
		return fmt.Errorf("clear status: %w", err)
	}
	_, err = once(ctx, w, "clear status", how.Key, id, func(tx statestore.Tx) (struct{}, error) {
		if _, err := tx.Append(statusStream(id), how.version()); err != nil { // compares the version, also of what is cleared already
			return struct{}{}, err
		}
		switch _, err := tx.Get(statusKey(id)); {
		case errors.Is(err, statestore.ErrNotFound):
			return struct{}{}, nil
		case err != nil:
			return struct{}{}, err
		}
		if _, err := tx.Append(statusStream(id), statestore.AnyVersion, statestore.Entry{Type: statusCleared}); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, tx.Delete(statusKey(id), statestore.Any)
	})
	return err
}

// appendOne appends an event and returns it as it is stored.
func appendOne(tx statestore.Tx, stream string, version statestore.Version, kind string, value any) (statestore.Stored, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return statestore.Stored{}, err
	}
	seq, err := tx.Append(stream, version, statestore.Entry{Type: kind, Data: data})
	if err != nil {
		return statestore.Stored{}, err
	}
	for stored, err := range tx.Events(statestore.EventQuery{Stream: stream, After: seq - 1, Limit: 1}) {
		return stored, err
	}
	return statestore.Stored{}, fmt.Errorf("event %d of %s: %w", seq, stream, statestore.ErrNotFound)
}

// Beat keeps a heartbeat, as lifecycle.Beat does. It replaces the one before, so that repeating it needs no key. A
// heartbeat of an attempt that does not run is lifecycle.ErrNotRunning.
func (w *WriteAPI) Beat(ctx context.Context, h lifecycle.Heartbeat) error {
	h.Note = w.c.Redact(h.Note)
	return w.c.Store.Update(ctx, func(tx statestore.Tx) error { return lifecycle.Beat(tx, h) })
}

// BuildLog is the stream of the build log. Its events are lines: NoteType with the data {"text": …}.
const (
	BuildLog = "buildlog"
	NoteType = "note.added"
)

// Line is a line of the build log.
type Line struct {
	Seq     statestore.Seq     `json:"seq"`
	Version statestore.Version `json:"version"` // its number, from 1
	At      time.Time          `json:"at"`
	Text    string             `json:"text"`
}

type noted struct {
	Text string `json:"text"`
}

// Note adds a line to the build log.
func (w *WriteAPI) Note(ctx context.Context, how How, line string) (Line, error) {
	line = w.c.Redact(line)
	err := text("line", line)
	if err == nil && strings.TrimSpace(line) == "" {
		err = fmt.Errorf("an empty line: %w", ErrInvalid)
	}
	if err != nil {
		return Line{}, fmt.Errorf("note: %w", err)
	}
	return once(ctx, w, "note", how.Key, line, func(tx statestore.Tx) (Line, error) {
		stored, err := appendOne(tx, BuildLog, how.version(), NoteType, noted{line})
		if err != nil {
			return Line{}, err
		}
		return Line{Seq: stored.Seq, Version: stored.Version, At: stored.At, Text: line}, nil
	})
}
