package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Class says why a dispatch failed; the caller's decision depends on it.
type Class string

// The classes. RateLimited and Overloaded are not counted against the item, see Limits.
const (
	Refused       Class = "refused"        // the model declined
	Truncated     Class = "truncated"      // the output was cut at a limit
	RateLimited   Class = "rate_limited"   // try later, see RetryAfter
	Overloaded    Class = "overloaded"     // the service is short of capacity
	Auth          Class = "auth"           // no login, or a wrong one
	Timeout       Class = "timeout"        // the total limit was reached
	Idle          Class = "idle"           // nothing was heard for too long
	Cancelled     Class = "cancelled"      // the caller's context ended
	InvalidOutput Class = "invalid_output" // the answer cannot be used
	Crashed       Class = "crashed"        // everything else
)

// Classes lists the classes in the order above.
func Classes() []Class {
	return []Class{Refused, Truncated, RateLimited, Overloaded, Auth, Timeout, Idle, Cancelled, InvalidOutput, Crashed}
}

// Known says whether c is one of Classes.
func (c Class) Known() bool { return slices.Contains(Classes(), c) }

// Limits says whether the failure is one of limits or overload, which is not counted against the item.
func (c Class) Limits() bool { return c == RateLimited || c == Overloaded }

// Error is how Run fails.
type Error struct {
	Class      Class
	RetryAfter time.Duration // 0: not said
	Message    string
	ExitCode   *int  // of the agent's program, where it ended by itself
	Err        error // the cause, or nil
}

func (e *Error) Error() string {
	text := string(e.Class)
	if e.Message != "" {
		text = fmt.Sprintf("%s: %s", text, e.Message)
	}
	if e.Err != nil {
		text = fmt.Sprintf("%s: %v", text, e.Err)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of an error of Run; an error that has none is Crashed, nil is "".
func ClassOf(err error) Class {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Class.Known() {
		return e.Class
	}
	return Crashed
}
