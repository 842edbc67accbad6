package manifest

import (
	"errors"
	"fmt"
)

// ErrNone says that there is no manifest: the agent has declared nothing.
var ErrNone = errors.New("no manifest")

// What an *Error can wrap.
var (
	// ErrDamaged says that what is in the manifest's place cannot be read as one.
	ErrDamaged = errors.New("the manifest is damaged")
	// ErrVoid says that the report is not, or not any more, the one that was declared. It can be finalised again.
	ErrVoid = errors.New("the manifest is void")
	// ErrOther says that the manifest is that of another job or attempt.
	ErrOther = errors.New("the manifest is another attempt's")
)

// Error is why a manifest that is there does not count.
type Error struct {
	File    string // that the complaint is about, absolute
	Line    int    // of the manifest, from 1; 0: none
	Field   string // of the manifest, such as sideEffects[0].ref; "": none
	Message string
	Err     error // ErrDamaged, ErrVoid or ErrOther
}

func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, e.Line)
	}
	if e.Field != "" {
		place += ": " + e.Field
	}
	return fmt.Sprintf("%s: %s (%v)", place, e.Message, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
