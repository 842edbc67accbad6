package outbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/statestore/sqlite"
)

// childVariable makes the test binary another process that does what it names in the folder that childDir names.
const (
	childVariable = "AESOP_TEST_OUTBOX_CHILD"
	childDir      = "AESOP_TEST_OUTBOX_DIR"
)

func TestMain(m *testing.M) {
	play := map[string]func(dir string) error{
		"commit":  func(dir string) error { return childNotify(dir, true) },
		"deliver": func(dir string) error { return childNotify(dir, false) },
		"run":     childRun,
	}[os.Getenv(childVariable)]
	if play == nil {
		goleak.VerifyTestMain(m)
		os.Exit(0)
	}
	if err := play(os.Getenv(childDir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is a child that was started.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	stdin io.Closer
}

func start(t *testing.T, what, dir string) process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), childVariable+"="+what, childDir+"="+dir), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return process{cmd, bufio.NewScanner(stdout), stdin}
}

// kill kills it as kill -9 does.
func (p process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

func openStore(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	store, err := open(dir, "state.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func open(dir, name string) (*sqlite.Store, error) {
	return sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, name)})
}

// happen commits the event of a transition with its intent.
func happen(ctx context.Context, store statestore.Store, subject string, seq int, kind string) error {
	return store.Update(ctx, func(tx statestore.Tx) error {
		at, err := tx.Append(subject, statestore.AnyVersion, statestore.Entry{Type: kind, Data: []byte("{}")})
		if err != nil {
			return err
		}
		_, err = outbox.Add(tx, at, news(subject, seq, kind))
		return err
	})
}

func news(subject string, seq int, kind string) outbox.Intent {
	return outbox.Intent{Kind: kind, Subject: subject, Seq: seq, Data: fmt.Appendf(nil, `{"seq":%d}`, seq)}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func subscribe(t *testing.T, store statestore.Store, all ...outbox.Subscription) {
	t.Helper()
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		for _, s := range all {
			if err := outbox.Subscribe(tx, s); err != nil {
				return err
			}
		}
		return nil
	}))
}

// pending says what a sink is owed, as subject:seq.
func pending(t *testing.T, store statestore.Store, sink string) (all []string) {
	t.Helper()
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		all = nil
		for o, err := range outbox.Pending(r, sink) {
			if err != nil {
				return err
			}
			all = append(all, short(o.Intent))
		}
		return nil
	}))
	return all
}

func short(i outbox.Intent) string { return fmt.Sprintf("%s:%d", i.Subject, i.Seq) }

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// receiver keeps what came, by sink name or alone. fail decides, before anything is kept.
type receiver struct {
	mu   sync.Mutex
	got  []string
	ids  map[string]int
	fail func(i outbox.Intent) error
}

func (r *receiver) Send(_ context.Context, i outbox.Intent) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		if err := r.fail(i); err != nil {
			return err
		}
	}
	if r.ids == nil {
		r.ids = map[string]int{}
	}
	r.ids[i.ID]++
	r.got = append(r.got, short(i))
	return nil
}

func (r *receiver) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func named(name string, sink outbox.Sink, kinds ...string) outbox.Named {
	return outbox.Named{Subscription: outbox.Subscription{Name: name, Kinds: kinds}, Sink: sink}
}

func notifier(t *testing.T, store statestore.Store, sinks ...outbox.Named) *outbox.Notifier {
	t.Helper()
	n, err := outbox.New(t.Context(), outbox.Config{Store: store, Sinks: sinks})
	must(t, err)
	return n
}

// flush expects so many sent and failed.
func flush(t *testing.T, n *outbox.Notifier, sent, failed int) outbox.Flushed {
	t.Helper()
	done, err := n.Flush(t.Context())
	must(t, err)
	if done.Sent != sent || done.Failed != failed {
		t.Fatalf("flushed %+v, want %d sent and %d failed", done, sent, failed)
	}
	return done
}

// effects is a receiver in a store of its own, which does something once for each intent that it has not seen.
type effects struct{ store *sqlite.Store }

func (e effects) Send(ctx context.Context, i outbox.Intent) error {
	return e.store.Update(ctx, func(tx statestore.Tx) error {
		first, err := outbox.Seen(tx, "effects", i.ID)
		if err != nil || !first {
			return err
		}
		_, err = tx.Append("effects", statestore.AnyVersion, statestore.Entry{Type: "effect", Data: fmt.Appendf(nil, "%q", short(i))})
		return err
	})
}

func (e effects) all(t *testing.T) (all []string) {
	t.Helper()
	must(t, e.store.View(t.Context(), func(r statestore.Reader) error {
		for event, err := range r.Events(statestore.EventQuery{Stream: "effects"}) {
			if err != nil {
				return err
			}
			var text string
			if err := json.Unmarshal(event.Data, &text); err != nil {
				return err
			}
			all = append(all, text)
		}
		return nil
	}))
	return all
}

// childNotify commits three intents and dies in the middle of sending the second: before the receiver has it, or after.
func childNotify(dir string, before bool) error {
	ctx := context.Background()
	store, err := open(dir, "state.db")
	if err != nil {
		return err
	}
	other, err := open(dir, "effects.db")
	if err != nil {
		return err
	}
	sink := outbox.SinkFunc(func(ctx context.Context, i outbox.Intent) error {
		second := i.Subject == "b"
		if !second || !before {
			if err := (effects{other}).Send(ctx, i); err != nil {
				return err
			}
		}
		if second {
			fmt.Println("now")
			select {}
		}
		return nil
	})
	n, err := outbox.New(ctx, outbox.Config{Store: store, Sinks: []outbox.Named{named("s", sink)}})
	if err != nil {
		return err
	}
	for at, subject := range []string{"a", "b", "c"} {
		if err := happen(ctx, store, subject, at+1, "job.complete"); err != nil {
			return err
		}
	}
	_, err = n.Flush(ctx)
	return errors.Join(err, errors.New("it was not killed"))
}

// childRun runs a notifier until its standard input ends.
func childRun(dir string) error {
	store, err := open(dir, "state.db")
	if err != nil {
		return err
	}
	defer store.Close()
	other, err := open(dir, "effects.db")
	if err != nil {
		return err
	}
	defer other.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	sink := outbox.SinkFunc(func(ctx context.Context, i outbox.Intent) error {
		fmt.Println(short(i))
		return effects{other}.Send(ctx, i)
	})
	n, err := outbox.New(ctx, outbox.Config{Store: store, Sinks: []outbox.Named{named("s", sink)}})
	if err != nil {
		return err
	}
	return n.Run(ctx)
}
