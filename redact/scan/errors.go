package scan

import (
	"errors"
	"fmt"

	"aesop/internal/document"
	"aesop/internal/git"
)

// Error says why a scan could not be carried out.
type Error struct {
	// Code is a stable word: usage, unresolved, no_protected_branch, shallow, absent, unreadable, malformed_push, no_index_entry,
	// not_found, no_state, state_inside, rule, another_repository.
	Code    string
	Message string
	Hint    string // what to do next
	Err     error  // the cause, or nil
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Hint)
}

func (e *Error) Unwrap() error { return e.Err }

// ErrNotRepository says that a folder is in no git repository.
var ErrNotRepository = git.ErrNotRepository

// explained gives the errors of git that people can do something about a code and a hint.
func explained(err error) error {
	if _, ours := errors.AsType[*Error](err); ours {
		return err
	}
	switch {
	case errors.Is(err, git.ErrShallow):
		return &Error{Code: "shallow", Message: err.Error(), Hint: "fetch the whole history", Err: err}
	case errors.Is(err, git.ErrAbsent):
		return &Error{Code: "absent", Message: err.Error(),
			Hint: "a shallow or partial clone leaves objects out, and nothing is fetched here; clone it whole", Err: err}
	}
	return err
}

// veil takes secrets out of the text of an error, which can quote a name or a file.
func (r *run) veil(err error) error {
	text := r.shown(err.Error())
	if text == err.Error() {
		return err
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Code: e.Code, Message: r.shown(e.Message), Hint: r.shown(e.Hint)}
	}
	if e, ok := errors.AsType[*document.Error](err); ok {
		return &document.Error{Code: e.Code, File: r.shown(e.File), Line: e.Line, Field: r.shown(e.Field), Message: r.shown(e.Message), Hint: r.shown(e.Hint)}
	}
	return veiled{text, err}
}

// veiled is an error that says less than it is.
type veiled struct {
	text string
	err  error
}

func (v veiled) Error() string { return v.text }

func (v veiled) Unwrap() error { return v.err }
