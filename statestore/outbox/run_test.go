package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"aesop/statestore"
	"aesop/statestore/outbox"
)

// running starts Run and returns what ends it and checks its error.
func running(t *testing.T, n *outbox.Notifier) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	}
}

func TestRunSendsWhatIsOwedAlreadyAndThenWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, to := memory(t), &receiver{}
		n := notifier(t, store, named("s", to))
		for seq := 1; seq <= 20; seq++ {
			must(t, happen(t.Context(), store, "a", seq, "k"))
		}
		stop := running(t, n)
		defer stop()
		synctest.Wait()
		if len(to.all()) != 20 {
			t.Fatalf("sent %q", to.all())
		}
		for seq := 21; seq <= 23; seq++ {
			began := time.Now()
			must(t, happen(t.Context(), store, "a", seq, "k"))
			synctest.Wait()
			if len(to.all()) != seq || time.Since(began) != 0 {
				t.Fatalf("after %v: sent %q", time.Since(began), to.all())
			}
		}
	})
}

// TestRunBacksOff: a failing sink is tried after 1, 2, 4, 8, 16, 16 s of which jitter takes up to a half, and after it has recovered from 1 s again.
func TestRunBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, began := memory(t), time.Now()
		var tries []time.Duration
		sink := outbox.SinkFunc(func(context.Context, outbox.Intent) error {
			tries = append(tries, time.Since(began))
			if len(tries) == 8 {
				return nil
			}
			return errors.New("secret")
		})
		core, logged := observer.New(zap.WarnLevel)
		jitter := 0.0
		n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: []outbox.Named{named("s", sink)}, Jitter: func() float64 { return jitter },
			Redact: func(text string) string { return strings.ReplaceAll(text, "secret", "***") }, Logger: zap.New(core)})
		must(t, err)
		must(t, happen(t.Context(), store, "a", 1, "k"))
		stop := running(t, n)
		<-time.After(time.Minute)
		synctest.Wait()
		var gaps []string
		for at := range tries[1:] {
			gaps = append(gaps, (tries[at+1] - tries[at]).String())
		}
		same(t, "waits", gaps, "500ms", "1s", "2s", "4s", "8s", "8s", "8s")
		jitter = 0.5
		must(t, happen(t.Context(), store, "a", 2, "k"))
		<-time.After(751 * time.Millisecond)
		synctest.Wait()
		if len(tries) != 10 || tries[9]-tries[8] != 750*time.Millisecond {
			t.Errorf("after the recovery: %v", tries[8:])
		}
		stop()
		for _, line := range logged.All() {
			if text := fmt.Sprint(line.ContextMap()); !strings.Contains(text, "***") || strings.Contains(text, "secret") || line.ContextMap()["sink"] != "s" {
				t.Errorf("logged %s", text)
			}
		}
		if logged.Len() != 9 {
			t.Errorf("logged %d lines", logged.Len())
		}
	})
}

// TestOtherSubjectsDoNotWaitForARetry, and the one that failed comes in order.
func TestOtherSubjectsDoNotWaitForARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, to, down := memory(t), &receiver{}, atomic.Bool{}
		down.Store(true)
		tries := 0
		to.fail = func(i outbox.Intent) error {
			if i.Subject == "a" && down.Load() {
				tries++
				return errors.New("no")
			}
			return nil
		}
		n := notifier(t, store, named("s", to))
		must(t, happen(t.Context(), store, "a", 1, "k"))
		stop := running(t, n)
		defer stop()
		<-time.After(20 * time.Second) // it waits for 8 s or more
		synctest.Wait()
		before := tries
		for seq, subject := range []string{"b", "a", "b"} {
			must(t, happen(t.Context(), store, subject, seq+2, "k"))
			synctest.Wait()
		}
		if same(t, "sent", to.all(), "b:2", "b:4"); tries != before {
			t.Errorf("news made it try %d times more", tries-before)
		}
		down.Store(false)
		<-time.After(17 * time.Second)
		synctest.Wait()
		same(t, "sent", to.all(), "b:2", "b:4", "a:1", "a:3")
	})
}

// TestReceiversMayAskForTime, but for no more than five minutes; news does not disturb them.
func TestReceiversMayAskForTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, began := memory(t), time.Now()
		var tries []string
		sink := outbox.SinkFunc(func(context.Context, outbox.Intent) error {
			tries = append(tries, time.Since(began).String())
			return &outbox.LaterError{After: []time.Duration{time.Minute, time.Hour, 0}[min(len(tries)-1, 2)], Err: errors.New("busy")}
		})
		n := notifier(t, store, named("s", sink))
		must(t, happen(t.Context(), store, "a", 1, "k"))
		stop := running(t, n)
		defer stop()
		<-time.After(30 * time.Second)
		must(t, happen(t.Context(), store, "b", 2, "k"))
		<-time.After(331 * time.Second)
		synctest.Wait()
		same(t, "tries", tries, "0s", "1m0s", "6m0s")
	})
}

// TestRunTakesOverFromTheDead: a turn that its holder took with it into death holds for five seconds.
func TestRunTakesOverFromTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, to := memory(t), &receiver{}
		n := notifier(t, store, named("s", to))
		must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
			_, err := tx.Put("outbox/turn/s", fmt.Appendf(nil, `{"until":%q}`, tx.Now().Add(5*time.Second).Format(time.RFC3339Nano)), 0)
			return err
		}))
		must(t, happen(t.Context(), store, "a", 1, "k"))
		stop := running(t, n)
		defer stop()
		<-time.After(6 * time.Second)
		synctest.Wait()
		same(t, "sent", to.all(), "a:1")
	})
}

func TestRunEndsWithTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory(t)
		n := notifier(t, store, named("s", &receiver{}))
		ended := make(chan error, 1)
		go func() { ended <- n.Run(t.Context()) }()
		synctest.Wait()
		must(t, store.Close())
		if err := <-ended; !errors.Is(err, statestore.ErrClosed) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// flaky is a store whose reads fail while it is told to.
type flaky struct {
	statestore.Store
	down atomic.Bool
}

func (f *flaky) View(ctx context.Context, fn func(statestore.Reader) error) error {
	if f.down.Load() {
		return errors.New("disk")
	}
	return f.Store.View(ctx, fn)
}

func TestRunOutlivesAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, to := &flaky{Store: memory(t)}, &receiver{}
		n := notifier(t, store, named("s", to))
		store.down.Store(true)
		must(t, happen(t.Context(), store, "a", 1, "k"))
		stop := running(t, n)
		defer stop()
		<-time.After(10 * time.Second)
		if _, err := n.Flush(t.Context()); err == nil {
			t.Error("Flush does not tell of it")
		}
		store.down.Store(false)
		<-time.After(17 * time.Second)
		synctest.Wait()
		same(t, "sent", to.all(), "a:1")
	})
}
