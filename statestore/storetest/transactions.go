package storetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"aesop/statestore"
)

func transactionTests() []test {
	return []test{
		{"an error of the function undoes everything and comes back as it is", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				f.put(tx, "kept", "old", 0)
				f.put(tx, "deleted", "old", 0)
				f.append(tx, "s", 0, entry("", "e1"))
			})
			failed := errors.New("no")
			err := f.store.Update(f.ctx, func(tx statestore.Tx) error {
				f.put(tx, "kept", "new", statestore.Any)
				f.put(tx, "new", "new", 0)
				f.append(tx, "s", 1, entry("", "e2"))
				f.append(tx, "t", 0, entry("", "e1"))
				return errors.Join(tx.Delete("deleted", statestore.Any), failed)
			})
			if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 1 || joined.Unwrap()[0] != failed {
				f.Fatalf("the error is %v, want the function's own", err)
			}
			f.view(func(r statestore.Reader) {
				f.missing(r, "new")
				f.get(r, "deleted")
				if got := f.get(r, "kept"); string(got.Value) != "old" {
					f.Errorf("value is %q", got.Value)
				}
				if events := f.events(r, statestore.EventQuery{}); len(events) != 1 {
					f.Errorf("events are %+v", events)
				}
			})
			f.update(func(tx statestore.Tx) {
				f.append(tx, "s", 1, entry("", "e2"))
				f.append(tx, "t", 0, entry("", "e1"))
			})
		}},
		{"an error inside that the function handles undoes nothing", func(f *fixture) {
			f.update(func(tx statestore.Tx) {
				f.put(tx, "a", "1", 0)
				if _, err := tx.Put("a", []byte("2"), 0); err == nil {
					f.Fatal("no conflict")
				}
				f.put(tx, "b", "1", 0)
			})
			f.view(func(r statestore.Reader) {
				f.get(r, "b")
				if got := f.get(r, "a"); string(got.Value) != "1" {
					f.Errorf("value is %q", got.Value)
				}
			})
		}},
		{"a panic of the function undoes everything and harms nobody", func(f *fixture) {
			func() {
				defer func() {
					if recover() == nil {
						f.Fatal("the panic did not come through")
					}
				}()
				_ = f.store.Update(f.ctx, func(tx statestore.Tx) error {
					f.put(tx, "k", "1", 0)
					panic("no")
				})
			}()
			f.update(func(tx statestore.Tx) { f.missing(tx, "k") })
			func() {
				defer func() { _ = recover() }()
				_ = f.store.View(f.ctx, func(statestore.Reader) error { panic("no") })
			}()
			f.view(func(r statestore.Reader) { f.missing(r, "k") })
		}},
		{"an error of a View comes back as it is", func(f *fixture) {
			failed := errors.New("no")
			if err := f.store.View(f.ctx, func(statestore.Reader) error { return failed }); err != failed {
				f.Errorf("error is %v", err)
			}
		}},
		{"a View is one state, whatever is committed meanwhile", func(f *fixture) {
			f.update(func(tx statestore.Tx) { f.put(tx, "k", "old", 0) })
			f.view(func(r statestore.Reader) {
				now := r.Now()
				f.update(func(tx statestore.Tx) {
					f.put(tx, "k", "new", statestore.Any)
					f.put(tx, "l", "new", 0)
					f.append(tx, "s", 0, entry("", "e1"))
				})
				if got := f.get(r, "k"); string(got.Value) != "old" {
					f.Errorf("the view sees %q", got.Value)
				}
				f.missing(r, "l")
				if keys := f.keys(r, statestore.Range{}); len(keys) != 1 {
					f.Errorf("the view sees %v", keys)
				}
				if events := f.events(r, statestore.EventQuery{}); len(events) != 0 {
					f.Errorf("the view sees %v", events)
				}
				if !r.Now().Equal(now) {
					f.Errorf("the view's time went from %v to %v", now, r.Now())
				}
				f.view(func(r statestore.Reader) { f.get(r, "l") })
			})
		}},
		{"a Reader and a Tx are not valid after their function returned", func(f *fixture) {
			var tx statestore.Tx
			var r statestore.Reader
			f.update(func(t statestore.Tx) { tx = t })
			f.view(func(v statestore.Reader) { r = v })
			_, put := tx.Put("k", nil, statestore.Any)
			_, appended := tx.Append("s", statestore.AnyVersion, entry("", "e"))
			_, get := r.Get("k")
			for what, err := range map[string]error{"put": put, "append": appended, "delete": tx.Delete("k", 0), "get": get} {
				if err == nil || errors.Is(err, statestore.ErrNotFound) {
					f.Errorf("%s afterwards: %v", what, err)
				}
			}
			for _, err := range r.Scan(statestore.Range{}) {
				if err == nil {
					f.Error("scan afterwards yields")
				}
			}
			f.view(func(r statestore.Reader) { f.missing(r, "k") })
		}},
		{"the Reader of a View cannot write", func(f *fixture) {
			f.view(func(r statestore.Reader) {
				if _, ok := r.(statestore.Tx); ok {
					f.Error("it is a Tx")
				}
			})
		}},
		{"events carry the time of their transaction, which stands still and never goes back", func(f *fixture) {
			var last time.Time
			for range 50 {
				var now time.Time
				f.update(func(tx statestore.Tx) {
					now = tx.Now()
					f.append(tx, "s", statestore.AnyVersion, entry("", "e"))
					if !tx.Now().Equal(now) {
						f.Errorf("time went from %v to %v", now, tx.Now())
					}
				})
				f.view(func(r statestore.Reader) {
					events := f.events(r, statestore.EventQuery{})
					if at := events[len(events)-1].At; !at.Equal(now) {
						f.Errorf("the event is of %v, its transaction of %v", at, now)
					}
					if r.Now().Before(now) || now.Before(last) {
						f.Errorf("time went from %v over %v to %v", last, now, r.Now())
					}
				})
				last = now
			}
		}},
		{"a context that has ended starts nothing", func(f *fixture) {
			ctx, cancel := context.WithCancel(f.ctx)
			cancel()
			err := f.store.Update(ctx, func(statestore.Tx) error { f.Error("the update ran"); return nil })
			if !errors.Is(err, context.Canceled) {
				f.Errorf("update: %v", err)
			}
			err = f.store.View(ctx, func(statestore.Reader) error { f.Error("the view ran"); return nil })
			if !errors.Is(err, context.Canceled) {
				f.Errorf("view: %v", err)
			}
			if err := f.store.Changed(ctx, 0); !errors.Is(err, context.Canceled) {
				f.Errorf("changed: %v", err)
			}
		}},
		{"a context that ends while another writes lets go, and the store goes on", func(f *fixture) {
			ctx, cancel := context.WithCancel(f.ctx)
			inside, leave := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				err := f.store.Update(f.ctx, func(tx statestore.Tx) error {
					close(inside)
					<-leave
					_, err := tx.Put("first", nil, 0)
					return err
				})
				if err != nil {
					f.Errorf("the writer: %v", err)
				}
			})
			<-inside
			cancelled := make(chan error)
			go func() {
				cancelled <- f.store.Update(ctx, func(tx statestore.Tx) error {
					_, err := tx.Put("cancelled", nil, 0)
					return err
				})
			}()
			cancel()
			if err := <-cancelled; !errors.Is(err, context.Canceled) {
				f.Errorf("the cancelled one: %v", err)
			}
			close(leave)
			wg.Wait()
			f.update(func(tx statestore.Tx) {
				f.get(tx, "first")
				f.missing(tx, "cancelled")
			})
		}},
	}
}

func changedTests() []test {
	wait := func(f *fixture, after statestore.Seq) chan error {
		done := make(chan error, 1)
		go func() { done <- f.store.Changed(f.ctx, after) }()
		return done
	}
	return []test{
		{"returns at once when there is more", func(f *fixture) {
			f.update(func(tx statestore.Tx) { f.append(tx, "s", 0, entry("", "e1"), entry("", "e2")) })
			if err := f.store.Changed(f.ctx, 1); err != nil {
				f.Error(err)
			}
		}},
		{"wakes all who wait", func(f *fixture) {
			first, second := wait(f, 0), wait(f, 0)
			f.update(func(tx statestore.Tx) { f.append(tx, "s", 0, entry("", "e1")) })
			if err := errors.Join(<-first, <-second); err != nil {
				f.Error(err)
			}
		}},
		{"a follower sees every event once and in order", func(f *fixture) {
			const n = 100
			var seen []statestore.Seq
			done := make(chan error, 1)
			go func() {
				defer close(done) // also when a check below ends the goroutine
				var after statestore.Seq
				for len(seen) < n {
					if err := f.store.Changed(f.ctx, after); err != nil {
						done <- err
						return
					}
					f.view(func(r statestore.Reader) {
						for _, e := range f.events(r, statestore.EventQuery{After: after}) {
							seen, after = append(seen, e.Seq), e.Seq
						}
					})
				}
			}()
			for range n {
				f.update(func(tx statestore.Tx) { f.append(tx, "s", statestore.AnyVersion, entry("", "e")) })
			}
			if err := <-done; err != nil {
				f.Fatal(err)
			}
			if len(seen) != n {
				f.Errorf("%d events were seen, want %d", len(seen), n)
			}
		}},
		{"waits where nothing happens, but for now and then", func(f *fixture) {
			f.update(func(tx statestore.Tx) { f.append(tx, "s", 0, entry("", "e1")) })
			ctx, cancel := context.WithTimeout(f.ctx, 200*time.Millisecond)
			defer cancel()
			returned := 0
			for f.store.Changed(ctx, 1) == nil && ctx.Err() == nil {
				returned++
			}
			if returned > 20 {
				f.Errorf("it returned %d times", returned)
			}
		}},
		{"ends with its context", func(f *fixture) {
			ctx, cancel := context.WithCancel(f.ctx)
			done := make(chan error, 1)
			go func() { done <- f.store.Changed(ctx, 0) }()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				f.Error(err)
			}
		}},
		{"ends with the store", func(f *fixture) {
			done := wait(f, 0)
			if err := f.store.Close(); err != nil {
				f.Fatal(err)
			}
			if err := <-done; !errors.Is(err, statestore.ErrClosed) {
				f.Error(err)
			}
		}},
	}
}

func closeTests() []test {
	return []test{
		{"later calls are ErrClosed, and a second Close is none", func(f *fixture) {
			if err := f.store.Close(); err != nil {
				f.Fatal(err)
			}
			calls := map[string]error{
				"view":    f.store.View(f.ctx, func(statestore.Reader) error { return nil }),
				"update":  f.store.Update(f.ctx, func(statestore.Tx) error { return nil }),
				"changed": f.store.Changed(f.ctx, 0),
			}
			for what, err := range calls {
				if !errors.Is(err, statestore.ErrClosed) {
					f.Errorf("%s: %v, want ErrClosed", what, err)
				}
			}
			if err := f.store.Close(); err != nil {
				f.Errorf("close again: %v", err)
			}
		}},
		{"transactions under way end first", func(f *fixture) {
			inside, leave := make(chan struct{}, 2), make(chan struct{})
			results := make(chan error, 2)
			go func() {
				results <- f.store.Update(f.ctx, func(tx statestore.Tx) error {
					inside <- struct{}{}
					<-leave
					_, err := tx.Put("k", nil, 0)
					return err
				})
			}()
			go func() {
				results <- f.store.View(f.ctx, func(r statestore.Reader) error {
					inside <- struct{}{}
					<-leave
					_, err := r.Get("k")
					return err
				})
			}()
			<-inside
			<-inside
			waiting := make(chan error, 1)
			go func() { waiting <- f.store.Changed(f.ctx, 0) }()
			closed := make(chan error, 1)
			go func() { closed <- f.store.Close() }()
			<-waiting // Close has begun
			ctx, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
			defer cancel()
			select {
			case err := <-closed:
				f.Error("Close did not wait")
				closed <- err
			case <-ctx.Done():
			}
			close(leave)
			for range 2 {
				if err := <-results; err != nil && !errors.Is(err, statestore.ErrNotFound) {
					f.Error(err)
				}
			}
			if err := <-closed; err != nil {
				f.Error(err)
			}
		}},
	}
}
