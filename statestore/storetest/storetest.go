// Package storetest is the contract of statestore.Store as tests. Who writes a backend runs them on it:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) statestore.Store {
//			store, err := mystore.Open(t.TempDir())
//			if err != nil {
//				t.Fatal(err)
//			}
//			return store
//		})
//	}
package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"aesop/statestore"
)

// Run runs the whole contract. The function open returns a new and empty store each time; Run closes it. The sentences of the
// interface have a subtest each; the races take a second or two.
func Run(t *testing.T, open func(t *testing.T) statestore.Store) {
	for group, tests := range map[string][]test{
		"Records":      recordTests(),
		"Scan":         scanTests(),
		"Events":       eventTests(),
		"Transactions": transactionTests(),
		"Changed":      changedTests(),
		"Close":        closeTests(),
		"Race":         raceTests(),
	} {
		t.Run(group, func(t *testing.T) {
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					store := open(t)
					t.Cleanup(func() {
						if err := store.Close(); err != nil {
							t.Errorf("close: %v", err)
						}
					})
					// No test of a sound store comes near this limit; it turns a hang into a failure.
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					test.run(&fixture{T: t, store: store, ctx: ctx})
				})
			}
		})
	}
}

type test struct {
	name string
	run  func(f *fixture)
}

// fixture is one store under test with the calls that must not fail.
type fixture struct {
	*testing.T
	store statestore.Store
	ctx   context.Context
}

func (f *fixture) update(fn func(tx statestore.Tx)) {
	f.Helper()
	if err := f.store.Update(f.ctx, func(tx statestore.Tx) error { fn(tx); return nil }); err != nil {
		f.Fatalf("update: %v", err)
	}
}

func (f *fixture) view(fn func(r statestore.Reader)) {
	f.Helper()
	if err := f.store.View(f.ctx, func(r statestore.Reader) error { fn(r); return nil }); err != nil {
		f.Fatalf("view: %v", err)
	}
}

func (f *fixture) put(tx statestore.Tx, k statestore.Key, value string, ifRev statestore.Rev) statestore.Rev {
	f.Helper()
	rev, err := tx.Put(k, []byte(value), ifRev)
	if err != nil {
		f.Fatalf("put %s: %v", k, err)
	}
	return rev
}

func (f *fixture) get(r statestore.Reader, k statestore.Key) statestore.Record {
	f.Helper()
	record, err := r.Get(k)
	if err != nil {
		f.Fatalf("get %s: %v", k, err)
	}
	return record
}

func (f *fixture) missing(r statestore.Reader, k statestore.Key) {
	f.Helper()
	if record, err := r.Get(k); !errors.Is(err, statestore.ErrNotFound) {
		f.Fatalf("get %s: %v, %v, want ErrNotFound", k, record, err)
	}
}

func (f *fixture) append(tx statestore.Tx, stream string, v statestore.Version, events ...statestore.Entry) statestore.Seq {
	f.Helper()
	seq, err := tx.Append(stream, v, events...)
	if err != nil {
		f.Fatalf("append to %s: %v", stream, err)
	}
	return seq
}

func (f *fixture) events(r statestore.Reader, q statestore.EventQuery) []statestore.Stored {
	f.Helper()
	var events []statestore.Stored
	for event, err := range r.Events(q) {
		if err != nil {
			f.Fatalf("events %+v: %v", q, err)
		}
		events = append(events, event)
	}
	return events
}

func (f *fixture) keys(r statestore.Reader, q statestore.Range) []statestore.Key {
	f.Helper()
	keys := []statestore.Key{}
	for record, err := range r.Scan(q) {
		if err != nil {
			f.Fatalf("scan %+v: %v", q, err)
		}
		keys = append(keys, record.Key)
	}
	return keys
}

// conflict checks that err is a conflict that says what was compared.
func (f *fixture) conflict(err error, what string, want, got uint64) {
	f.Helper()
	var conflict *statestore.ConflictError
	if !errors.Is(err, statestore.ErrConflict) || !errors.As(err, &conflict) {
		f.Fatalf("error is %v, want a ConflictError", err)
	}
	if conflict.What != what || conflict.Want != want || conflict.Got != got {
		f.Fatalf("conflict is %+v, want %s %d %d", *conflict, what, want, got)
	}
}

func entry(id, text string) statestore.Entry {
	return statestore.Entry{ID: id, Type: "test." + text, Data: []byte(`{"text":"` + text + `"}`)}
}
