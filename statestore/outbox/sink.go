package outbox

import (
	"context"
	"errors"
	"time"
)

// Sink is a way to a receiver. Nil means that the receiver has the intent, for good; any error that it may not, and the intent stays owed.
// The same intent may come again, with the same ID, also after it was delivered, from this process or another: the second time must have no
// effect. Send is called from several goroutines at once, never while a transaction of the store is open, and returns soon after ctx ends.
type Sink interface {
	Send(ctx context.Context, i Intent) error
}

// SinkFunc is a function that is a Sink.
type SinkFunc func(ctx context.Context, i Intent) error

// Send implements Sink.
func (f SinkFunc) Send(ctx context.Context, i Intent) error { return f(ctx, i) }

// ErrUnreachable is, or is wrapped by, the error of a Sink whose receiver cannot be reached at all: nothing else is sent to it in that round.
// After any other error only what is of the same subject waits.
var ErrUnreachable = errors.New("receiver cannot be reached")

// LaterError is the error of a Sink whose receiver asks to be left alone for a while. It is an ErrUnreachable. A Notifier that runs waits for
// so long, but never longer than five minutes.
type LaterError struct {
	After time.Duration
	Err   error
}

func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap makes a LaterError an ErrUnreachable.
func (e *LaterError) Unwrap() []error { return []error{ErrUnreachable, e.Err} }
