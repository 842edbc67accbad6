package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"aesop/statestore"
)

// Named is a sink with its subscription.
type Named struct {
	Subscription
	Sink Sink
}

// Config configures a Notifier.
type Config struct {
	Store       statestore.Store
	Sinks       []Named
	Settled     SettledFunc         // nil: nobody is told
	Redact      func(string) string // takes secrets out of errors that are stored, returned or logged; nil: they are kept as they are
	SendTimeout time.Duration       // for one intent to one sink; 0: 15 s
	Retry       time.Duration       // how long Run waits after a failure; it doubles up to 16 times that. 0: 1 s
	Jitter      func() float64      // in [0, 1): between half of a wait and all of it; nil: random
	Logger      *zap.Logger         // told of failures by Run; nil: none
}

// Notifier sends what is owed to its sinks. Sinks are independent of each other: one that is slow or fails holds up no other. To a sink, what
// is of one subject goes in order: after a failure, later news of that subject waits until the older is through, and other subjects go on,
// unless the receiver is unreachable.
//
// Several notifiers of one sink, in any processes, take turns, so that normally each intent is sent once; a process that died or sleeps loses
// its turn after five seconds, by the store's clock. That two send the same is still possible, and harmless: see Sink.
//
// Its methods are safe for concurrent use.
type Notifier struct {
	store   statestore.Store
	sinks   []Named
	settled SettledFunc
	redact  func(string) string
	timeout time.Duration
	retry   time.Duration
	jitter  func() float64
	log     *zap.Logger
}

// New subscribes the sinks and returns their notifier, which sends nothing before Flush or Run.
func New(ctx context.Context, c Config) (*Notifier, error) {
	n := &Notifier{
		store:   c.Store,
		sinks:   slices.Clone(c.Sinks),
		settled: c.Settled,
		redact:  c.Redact,
		timeout: cmp.Or(c.SendTimeout, 15*time.Second),
		retry:   cmp.Or(c.Retry, time.Second),
		jitter:  c.Jitter,
		log:     c.Logger,
	}
	if n.redact == nil {
		n.redact = func(text string) string { return text }
	}
	if n.jitter == nil {
		n.jitter = rand.Float64
	}
	if n.log == nil {
		n.log = zap.NewNop()
	}
	if n.store == nil {
		return nil, errors.New("outbox: no store given")
	}
	names := map[string]bool{}
	for _, s := range n.sinks {
		if s.Sink == nil {
			return nil, fmt.Errorf("outbox: subscription %q has no sink", s.Name)
		}
		if names[s.Name] {
			return nil, fmt.Errorf("outbox: two sinks have the name %q: rename one", s.Name)
		}
		names[s.Name] = true
	}
	err := n.store.Update(ctx, func(tx statestore.Tx) error {
		for _, s := range n.sinks {
			if err := Subscribe(tx, s.Subscription); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: subscribe: %w", err)
	}
	return n, nil
}

// SendError says that a sink did not get an intent, which stays owed.
type SendError struct {
	Sink   string
	Intent Intent
	Err    error
}

func (e *SendError) Error() string {
	return fmt.Sprintf("send %s of %s to %s: %v", e.Intent.Kind, e.Intent.Subject, e.Sink, e.Err)
}

// Unwrap returns the sink's error, or that of settling.
func (e *SendError) Unwrap() error { return e.Err }

// cleanError is an error whose text was cleaned of secrets.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }
func (e *cleanError) Unwrap() error { return e.err }
