package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/statestore/outbox/sink"
)

func TestTheOldestGoesFirst(t *testing.T) {
	store, to := openStore(t, t.TempDir()), &receiver{}
	n := notifier(t, store, named("s", to))
	var want []string
	for seq := 1; seq <= 40; seq++ { // more than are read at once
		must(t, happen(t.Context(), store, fmt.Sprint("subject", seq%3), seq, "k"))
		want = append(want, fmt.Sprintf("subject%d:%d", seq%3, seq))
	}
	if done := flush(t, n, 40, 0); done.Pending != 0 {
		t.Errorf("%d are pending", done.Pending)
	}
	same(t, "sent", to.all(), want...)
	flush(t, n, 0, 0)
}

func TestAFailedSendLeavesTheIntentPending(t *testing.T) {
	store := openStore(t, t.TempDir())
	to := &receiver{fail: func(outbox.Intent) error { return errors.New("password hunter2 is wrong " + strings.Repeat("é", 600)) }}
	n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: []outbox.Named{named("s", to)}, Redact: func(text string) string {
		return strings.ReplaceAll(text, "hunter2", "***")
	}})
	must(t, err)
	must(t, happen(t.Context(), store, "a", 1, "k"))
	for try := 1; try <= 2; try++ {
		done := flush(t, n, 0, 1)
		if failure := (*outbox.SendError)(nil); done.Pending != 1 || len(done.Errors) != 1 || !errors.As(done.Errors[0], &failure) || failure.Sink != "s" {
			t.Errorf("flushed %+v", done)
		}
		must(t, store.View(t.Context(), func(r statestore.Reader) error {
			owed, err := outbox.Owing(r, outbox.ID("a", 1, "k"))
			if len(owed) != 1 || owed[0].Tries != try || owed[0].LastTry.IsZero() || !strings.HasPrefix(owed[0].LastError, "password *** is wrong é") || strings.Contains(done.Errors[0].Error(), "hunter2") ||
				len(owed[0].LastError) > 1000 {
				t.Errorf("owed: %+v", owed)
			}
			return err
		}))
	}
	to.fail = nil
	flush(t, n, 1, 0)
	same(t, "pending", pending(t, store, "s"))
}

func TestAfterAFailureLaterNewsOfTheSubjectWaits(t *testing.T) {
	store, to := openStore(t, t.TempDir()), &receiver{}
	to.fail = func(i outbox.Intent) error {
		if short(i) == "a:2" {
			return errors.New("no")
		}
		return nil
	}
	n := notifier(t, store, named("s", to))
	for seq, subject := range []string{"a", "a", "b", "a", "b"} {
		must(t, happen(t.Context(), store, subject, seq+1, "k"))
	}
	flush(t, n, 3, 1)
	same(t, "sent", to.all(), "a:1", "b:3", "b:5")
	same(t, "pending", pending(t, store, "s"), "a:2", "a:4")
	to.fail = nil
	flush(t, n, 2, 0)
	same(t, "sent", to.all(), "a:1", "b:3", "b:5", "a:2", "a:4")
}

func TestAnUnreachableReceiverEndsTheRound(t *testing.T) {
	store, calls := openStore(t, t.TempDir()), 0
	down := outbox.SinkFunc(func(context.Context, outbox.Intent) error {
		calls++
		return fmt.Errorf("dial: %w", outbox.ErrUnreachable)
	})
	up := &receiver{}
	n := notifier(t, store, named("down", down), named("up", up))
	for seq, subject := range []string{"a", "b", "c"} {
		must(t, happen(t.Context(), store, subject, seq+1, "k"))
	}
	if done := flush(t, n, 3, 1); calls != 1 || done.Pending != 3 {
		t.Errorf("%d calls, %+v", calls, done)
	}
	same(t, "up", up.all(), "a:1", "b:2", "c:3")
}

// TestASlowSinkHoldsUpNoOther: the other one has everything while the slow one has not returned once.
func TestASlowSinkHoldsUpNoOther(t *testing.T) {
	store, other := openStore(t, t.TempDir()), make(chan string, 3)
	slow := outbox.SinkFunc(func(ctx context.Context, _ outbox.Intent) error {
		if len(other) == cap(other) {
			return nil
		}
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for len(other) < cap(other) {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	n := notifier(t, store, named("slow", slow), named("other", outbox.SinkFunc(func(_ context.Context, i outbox.Intent) error {
		other <- short(i)
		return nil
	})))
	for seq := range cap(other) {
		must(t, happen(t.Context(), store, "a", seq+1, "k"))
	}
	flush(t, n, 6, 0)
}

func TestASinkThatHangsIsTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory(t)
		n := notifier(t, store, named("s", outbox.SinkFunc(func(ctx context.Context, _ outbox.Intent) error {
			<-ctx.Done()
			return ctx.Err()
		})))
		must(t, happen(t.Context(), store, "a", 1, "k"))
		began := time.Now()
		if done := flush(t, n, 0, 1); !errors.Is(done.Errors[0], context.DeadlineExceeded) || time.Since(began) != 15*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), done)
		}
	})
}

// TestSettledIsCalledWithTheLastSink: in the transaction that settles, so that its error leaves the intent owed.
func TestSettledIsCalledWithTheLastSink(t *testing.T) {
	store, other, hook := openStore(t, t.TempDir()), &receiver{}, errors.New("hook")
	other.fail = func(outbox.Intent) error { return errors.New("no") }
	var settled []string
	n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: []outbox.Named{named("a", &receiver{}), named("b", other)},
		Settled: func(tx statestore.Tx, i outbox.Intent) error {
			settled = append(settled, short(i))
			if _, err := tx.Put("noted", []byte(short(i)), 0); err != nil {
				return err
			}
			return hook
		}})
	must(t, err)
	must(t, happen(t.Context(), store, "s", 1, "k"))
	flush(t, n, 1, 1)
	same(t, "settled while b is owed it", settled)
	other.fail = nil
	if done := flush(t, n, 0, 1); done.Pending != 1 || !errors.Is(done.Errors[0], hook) {
		t.Errorf("flushed %+v", done)
	}
	hook, settled = nil, nil
	flush(t, n, 1, 0)
	same(t, "settled", settled, "s:1")
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		_, err := r.Get("noted")
		return err
	}))
	same(t, "b got it again", other.all(), "s:1", "s:1")
	for _, prefix := range []statestore.Key{"outbox/intent", "outbox/newest", "outbox/owed", "outbox/queue", "outbox/turn"} {
		must(t, store.View(t.Context(), func(r statestore.Reader) error {
			for record, err := range r.Scan(statestore.Range{Prefix: prefix}) {
				t.Errorf("%s is left, %v", record.Key, err)
			}
			return nil
		}))
	}
}

// TestSettlingIsOfTheExactIntent: a newer one that lands while an older is being sent stays owed.
func TestSettlingIsOfTheExactIntent(t *testing.T) {
	store, calls := openStore(t, t.TempDir()), 0
	var settled []string
	sink := outbox.SinkFunc(func(ctx context.Context, i outbox.Intent) error {
		if calls++; calls > 1 {
			return errors.New("no")
		}
		return errors.Join(happen(ctx, store, "a", 2, "k"), happen(ctx, store, "a", 1, "other"))
	})
	n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: []outbox.Named{named("s", sink)}, Settled: func(_ statestore.Tx, i outbox.Intent) error {
		settled = append(settled, short(i))
		return nil
	}})
	must(t, err)
	must(t, happen(t.Context(), store, "a", 1, "k"))
	flush(t, n, 1, 1)
	same(t, "settled", settled, "a:1")
	same(t, "pending", pending(t, store, "s"), "a:2", "a:1")
}

// TestSettlingTwiceIsNoError: two notifiers send the same, because the first one lost its turn; the intent is settled once.
func TestSettlingTwiceIsNoError(t *testing.T) {
	store, settled := openStore(t, t.TempDir()), atomic.Int32{}
	make := func(sink outbox.Sink) *outbox.Notifier {
		n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: []outbox.Named{named("s", sink)}, Settled: func(statestore.Tx, outbox.Intent) error {
			settled.Add(1)
			return nil
		}})
		must(t, err)
		return n
	}
	second := make(&receiver{})
	first := make(outbox.SinkFunc(func(ctx context.Context, i outbox.Intent) error {
		err := store.Update(ctx, func(tx statestore.Tx) error { return tx.Delete("outbox/turn/s", statestore.Any) })
		must(t, err)
		flush(t, second, 1, 0)
		return nil
	}))
	must(t, happen(t.Context(), store, "a", 1, "k"))
	flush(t, first, 1, 0)
	if settled.Load() != 1 {
		t.Errorf("settled %d times", settled.Load())
	}
}

func TestOneOfTwoNotifiersSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, sending, finish := memory(t), make(chan struct{}), make(chan struct{})
		slow := notifier(t, store, named("s", outbox.SinkFunc(func(context.Context, outbox.Intent) error {
			sending <- struct{}{}
			<-finish
			return nil
		})))
		must(t, happen(t.Context(), store, "a", 1, "k"))
		ended := make(chan outbox.Flushed)
		go func() {
			done, _ := slow.Flush(t.Context())
			ended <- done
		}()
		<-sending
		other := &receiver{}
		n := notifier(t, store, named("s", other))
		for range 3 { // it is renewed
			began := time.Now()
			if done := flush(t, n, 0, 0); !slices.Equal(done.Busy, []string{"s"}) || done.Pending != 1 || time.Since(began) > 2*time.Second {
				t.Errorf("after %v: %+v", time.Since(began), done)
			}
			<-time.After(4 * time.Second)
		}
		must(t, happen(t.Context(), store, "b", 2, "k"))
		flush(t, n, 0, 0)
		close(finish)
		<-sending // what came while it had the turn is its to send
		if done := <-ended; done.Sent != 2 || len(other.all()) != 0 {
			t.Errorf("%+v, and the other sent %q", done, other.all())
		}
		must(t, happen(t.Context(), store, "a", 3, "k"))
		began := time.Now()
		if flush(t, n, 1, 0); time.Since(began) != 0 {
			t.Errorf("a turn that was given back was waited for: %v", time.Since(began))
		}
	})
}

// released is a store in which something is committed right after the turn was given back.
type released struct {
	statestore.Store
	then func()
}

func (s *released) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	gave := false
	err := s.Store.Update(ctx, func(tx statestore.Tx) error {
		_, before := tx.Get("outbox/turn/s")
		if err := fn(tx); err != nil {
			return err
		}
		_, after := tx.Get("outbox/turn/s")
		gave = before == nil && errors.Is(after, statestore.ErrNotFound)
		return nil
	})
	if then := s.then; gave && then != nil {
		s.then = nil
		then()
	}
	return err
}

// TestWhatCameWhileItHadTheTurnIsSent: whoever committed it may have found the turn taken.
func TestWhatCameWhileItHadTheTurnIsSent(t *testing.T) {
	store := &released{Store: openStore(t, t.TempDir())}
	n := notifier(t, store, named("s", &receiver{}))
	must(t, happen(t.Context(), store, "a", 1, "k"))
	store.then = func() { must(t, happen(t.Context(), store, "a", 2, "k")) }
	flush(t, n, 2, 0)
}

func TestTheTurnOfTheDeadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, to := memory(t), &receiver{}
		n := notifier(t, store, named("s", to))
		for _, until := range []time.Duration{5 * time.Second, -time.Second, time.Hour} {
			must(t, happen(t.Context(), store, "a", int(until/time.Second)+10, "k"))
			must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
				_, err := tx.Put("outbox/turn/s", fmt.Appendf(nil, `{"until":%q}`, tx.Now().Add(until).Format(time.RFC3339Nano)), statestore.Any)
				return err
			}))
			began := time.Now()
			flush(t, n, 1, 0)
			if waited := time.Since(began); waited > 6*time.Second || (waited > 0) != (until == 5*time.Second) {
				t.Errorf("until %v: waited %v", until, waited)
			}
		}
	})
}

func TestDamageIsLoudAndStopsNothingElse(t *testing.T) {
	for _, kind := range []string{"intent", "queue"} {
		t.Run(kind, func(t *testing.T) {
			store, a, b := openStore(t, t.TempDir()), &receiver{}, &receiver{}
			n := notifier(t, store, named("a", a), named("b", b, "k"))
			must(t, happen(t.Context(), store, "x", 1, "other"))
			must(t, happen(t.Context(), store, "y", 2, "k"))
			key := statestore.Key("outbox/intent/" + outbox.ID("x", 1, "other"))
			if kind == "queue" {
				must(t, store.View(t.Context(), func(r statestore.Reader) error {
					for record, err := range r.Scan(statestore.Range{Prefix: "outbox/queue/a/", Limit: 1}) {
						must(t, err)
						key = record.Key
					}
					return nil
				}))
			}
			damage(t, store, key)
			done := flush(t, n, 2, 1)
			if damaged := (*statestore.DamagedError)(nil); done.Pending != 1 || len(done.Errors) != 1 || !errors.As(done.Errors[0], &damaged) ||
				damaged.What != "record "+string(key) {
				t.Errorf("flushed %+v", done)
			}
			same(t, "a", a.all(), "y:2")
			same(t, "b", b.all(), "y:2")
			must(t, happen(t.Context(), store, "z", 3, "k"))
			must(t, store.View(t.Context(), func(r statestore.Reader) error {
				var all []string
				for o, err := range outbox.Pending(r, "a") {
					all = append(all, fmt.Sprintf("%s %t", o.Intent.Subject, err != nil))
				}
				same(t, "pending", all[1:], "z false")
				if len(all) != 2 || !strings.HasSuffix(all[0], " true") {
					t.Errorf("pending %q", all)
				}
				return nil
			}))
		})
	}
}

func TestAnEndedContextIsNoTry(t *testing.T) {
	store := openStore(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel() }()
	deliver := false
	n := notifier(t, store, named("s", outbox.SinkFunc(func(sending context.Context, _ outbox.Intent) error {
		cancel()
		if deliver {
			return nil
		}
		return sending.Err()
	})))
	must(t, happen(t.Context(), store, "a", 1, "k"))
	must(t, happen(t.Context(), store, "b", 2, "k"))
	done, err := n.Flush(ctx)
	if !errors.Is(err, context.Canceled) || done.Failed != 0 || done.Sent != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		owed, err := outbox.Owing(r, outbox.ID("a", 1, "k"))
		if len(owed) != 1 || owed[0].Tries != 0 {
			t.Errorf("owed %+v", owed)
		}
		if _, err := r.Get("outbox/turn/s"); !errors.Is(err, statestore.ErrNotFound) {
			t.Errorf("the turn was not given back: %v", err)
		}
		return err
	}))
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	deliver = true // and what was sent is settled
	if done, err := n.Flush(ctx); !errors.Is(err, context.Canceled) || done.Sent != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	same(t, "pending", pending(t, store, "s"), "b:2")
}

// watched is a store that knows on which goroutines a transaction is open, or waited for: the turn is renewed on one of its own.
type watched struct {
	statestore.Store
	mu   sync.Mutex
	open map[string]int
}

func (w *watched) enter() (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[string]int{}
	}
	id := goroutine()
	w.open[id]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open[id]--
	}
}

func (w *watched) inside() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open[goroutine()] > 0
}

// goroutine is the name of the running one.
func goroutine() string {
	stack := make([]byte, 64)
	name, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), " [")
	return name
}

func (w *watched) View(ctx context.Context, fn func(statestore.Reader) error) error {
	defer w.enter()()
	return w.Store.View(ctx, func(r statestore.Reader) error {
		defer w.enter()()
		return fn(r)
	})
}

func (w *watched) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	defer w.enter()()
	return w.Store.Update(ctx, func(tx statestore.Tx) error {
		defer w.enter()()
		return fn(tx)
	})
}

// TestNoTransactionIsOpenWhileSending: no socket, file, or other process is waited for under a lock of the store, by any sink.
func TestNoTransactionIsOpenWhileSending(t *testing.T) {
	dir := t.TempDir()
	var settledInside, posted atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { posted.Add(1) }))
	defer server.Close()
	hook, err := sink.NewWebhook(sink.WebhookConfig{URL: server.URL, Client: server.Client()})
	must(t, err)
	for name, to := range map[string]outbox.Sink{"file": sink.NewFile(filepath.Join(dir, "f")), "mirror": sink.NewMirror(filepath.Join(dir, "m")), "webhook": hook,
		"failing": outbox.SinkFunc(func(context.Context, outbox.Intent) error { return errors.New("no") })} {
		store := &watched{Store: openStore(t, t.TempDir())}
		sends := 0
		careful := outbox.SinkFunc(func(ctx context.Context, i outbox.Intent) error {
			sends++
			if store.inside() {
				t.Errorf("%s: a transaction is open before sending", name)
			}
			defer func() {
				if store.inside() {
					t.Errorf("%s: a transaction is open after sending", name)
				}
			}()
			return to.Send(ctx, i)
		})
		n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: []outbox.Named{named(name, careful)}, Settled: func(statestore.Tx, outbox.Intent) error {
			if !store.inside() {
				t.Error("the watch sees no transaction")
			}
			settledInside.Add(1)
			return nil
		}})
		must(t, err)
		for seq := 1; seq <= 3; seq++ {
			must(t, happen(t.Context(), store, "a"+fmt.Sprint(seq), seq, "k"))
		}
		_, err = n.Flush(t.Context())
		must(t, err)
		if sends != 3 {
			t.Errorf("%s: sent %d times", name, sends)
		}
	}
	if settledInside.Load() != 9 || posted.Load() != 3 {
		t.Errorf("settled %d, posted %d", settledInside.Load(), posted.Load())
	}
}

func TestNotifiersThatAreNoneAreRefused(t *testing.T) {
	store, sink := memory(t), &receiver{}
	for _, c := range []outbox.Config{{}, {Store: store, Sinks: []outbox.Named{named("a", nil)}}, {Store: store, Sinks: []outbox.Named{named("A", sink)}},
		{Store: store, Sinks: []outbox.Named{named("a", sink), named("a", sink)}}} {
		if _, err := outbox.New(t.Context(), c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
