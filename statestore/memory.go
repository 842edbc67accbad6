package statestore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"aesop/statestore/internal/backend"
)

// MemoryConfig configures a Memory store.
type MemoryConfig struct {
	Clock func() time.Time // nil: time.Now
}

// Memory is a Store that lives in this process and ends with it: for tests and for trying things out. Writers run one after
// another; readers see the newest committed state and hold nobody up.
type Memory struct {
	clock  func() time.Time
	life   *backend.Life
	change *backend.Signal
	turn   chan struct{} // holds a token while a writer runs
	state  atomic.Pointer[memoryState]

	mu   sync.Mutex
	last time.Time // newest time given out, so that Now never goes back
}

// memoryState is what one commit left and never changes. Later states share the memory of its events but write only beyond
// their end; records are copied by the first write of a transaction.
type memoryState struct {
	records []*Record // by Key
	events  []Stored  // by Seq, which is the index plus one
	rev     Rev       // newest that was given out
	streams map[string]*memoryStream
}

// memoryStream belongs to the writer whose turn it is; readers never look.
type memoryStream struct {
	version Version
	ids     map[string]Seq
}

// NewMemory returns an empty store.
func NewMemory(config MemoryConfig) *Memory {
	m := &Memory{
		clock:  config.Clock,
		life:   backend.NewLife(),
		change: backend.NewSignal(),
		turn:   make(chan struct{}, 1),
	}
	if m.clock == nil {
		m.clock = time.Now
	}
	m.state.Store(&memoryState{streams: map[string]*memoryStream{}})
	return m
}

// View implements Store.
func (m *Memory) View(ctx context.Context, fn func(Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !m.life.Enter() {
		return ErrClosed
	}
	defer m.life.Leave()
	tx := m.begin()
	defer tx.end()
	return fn(struct{ Reader }{tx}) // a Reader that cannot be turned into a Tx
}

// Update implements Store.
func (m *Memory) Update(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !m.life.Enter() {
		return ErrClosed
	}
	defer m.life.Leave()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	tx := m.begin()
	defer tx.end()
	if err := fn(tx); err != nil {
		return err
	}
	m.state.Store(tx.commit())
	if len(tx.added) > 0 {
		m.change.Give()
	}
	return nil
}

// Changed implements Store.
func (m *Memory) Changed(ctx context.Context, after Seq) error {
	for {
		next := m.change.Next()
		select {
		case <-m.life.Done():
			return ErrClosed
		default:
		}
		if Seq(len(m.state.Load().events)) > after {
			return nil
		}
		select {
		case <-next:
		case <-m.life.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close implements Store.
func (m *Memory) Close() error {
	m.life.Close()
	return nil
}

func (m *Memory) begin() *memoryTx {
	state := m.state.Load() // before the time is read, so that no event is later than now
	return &memoryTx{state: state, records: state.records, rev: state.rev, now: m.now()}
}

func (m *Memory) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.clock().UTC().Round(0); now.After(m.last) {
		m.last = now
	}
	return m.last
}
