package outbox_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"aesop/statestore/outbox"
	"aesop/statestore/sqlite"
)

// TestARestartSendsWhatIsOwed: a process is killed before the receiver has the second of three intents, or when it has it and that was not noted.
// The next process brings each effect about once, in order.
func TestARestartSendsWhatIsOwed(t *testing.T) {
	for _, when := range []string{"commit", "deliver"} {
		t.Run(when, func(t *testing.T) {
			dir := t.TempDir()
			child := start(t, when, dir)
			if !child.lines.Scan() {
				t.Fatal("the child ended")
			}
			child.kill()
			store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "state.db"), Clock: func() time.Time {
				return time.Now().Add(time.Minute) // so that the turn of the dead has ended
			}})
			must(t, err)
			defer store.Close()
			other := openEffects(t, dir)
			same(t, "pending", pending(t, store, "s"), "b:2", "c:3")
			before := map[string][]string{"commit": {"a:1"}, "deliver": {"a:1", "b:2"}}[when]
			same(t, "effects before", other.all(t), before...)
			n := notifier(t, store, named("s", other))
			if done := flush(t, n, 2, 0); done.Pending != 0 {
				t.Errorf("flushed %+v", done)
			}
			same(t, "effects", other.all(t), "a:1", "b:2", "c:3")
		})
	}
}

func openEffects(t *testing.T, dir string) effects {
	t.Helper()
	store, err := open(dir, "effects.db")
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return effects{store}
}

// TestProcessesShareASink: two notifiers in processes of their own, of which one is killed on the way; every effect is there once, in order.
func TestProcessesShareASink(t *testing.T) {
	dir := t.TempDir()
	store, other := openStore(t, dir), openEffects(t, dir)
	subscribe(t, store, outbox.Subscription{Name: "s"})
	victim, survivor := start(t, "run", dir), start(t, "run", dir)
	var sent atomic.Int32
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for survivor.lines.Scan() {
			sent.Add(1)
		}
	}()
	victims := make(chan struct{})
	go func() {
		defer close(victims)
		for victim.lines.Scan() {
			sent.Add(1)
		}
	}()
	const intents = 60
	var want []string
	for seq := 1; seq <= intents; seq++ {
		must(t, happen(t.Context(), store, "a", seq, "k"))
		want = append(want, fmt.Sprintf("a:%d", seq))
		if seq == intents/2 {
			_ = victim.Process.Kill()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for len(pending(t, store, "s")) > 0 {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("still owed: %q", pending(t, store, "s"))
		}
	}
	_ = survivor.stdin.Close()
	<-drained
	<-victims
	_ = victim.Wait()
	must(t, survivor.Wait())
	if got := other.all(t); !slices.Equal(got, want) {
		t.Errorf("effects: %q", got)
	}
	if n := int(sent.Load()); n < intents || n > intents+10 {
		t.Errorf("%d intents were sent %d times", intents, n)
	}
}
