package storetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aesop/statestore"
	"aesop/statestore/storetest"
)

// brokenVariable names the flaw that the store of TestPlayed has.
const brokenVariable = "AESOP_TEST_BROKEN"

// flaws break one promise each. A test must see it: a contract that finds nothing is none.
func flaws() map[string]string {
	return map[string]string{
		"loses the last commit":     "what was acknowledged is there when the store is opened again",
		"forgets ids":               "what was compared before is compared after opening again",
		"begins revisions anew":     "what was compared before is compared after opening again",
		"reads before its turn":     "two handles lose no increment",
		"has each clock's own time": "clocks that differ by hours make one line of time",
		"judges by each clock":      "a lease is judged alike by clocks that differ",
		"hears only itself":         "Changed hears of other handles, also of those opened later",
		"hears only what comes":     "Changed hears after opening again of what was written meanwhile",
		"wakes at once for ever":    "waits where nothing happens, but for now and then",
		"keeps what failed":         "an error of the function undoes everything and comes back as it is",
		"compares nothing":          "Put with a revision wants that one",
		"does not wait at its end":  "transactions under way end first",
	}
}

// TestBrokenStoresAreFound plays each of them to a process of its own.
func TestBrokenStoresAreFound(t *testing.T) {
	for flaw, test := range flaws() {
		t.Run(flaw, func(t *testing.T) {
			output, err := play(t, flaw, test)
			if err == nil || !strings.Contains(output, "--- FAIL: TestPlayed/") {
				t.Errorf("%q does not find it (%v):\n%s", test, err, output)
			}
			if output, err := play(t, "none", test); err != nil || !strings.Contains(output, "--- PASS: TestPlayed/") {
				t.Errorf("without a flaw it fails, too, or is not run (%v):\n%s", err, output)
			}
		})
	}
}

func play(t *testing.T, flaw, test string) (output string, err error) {
	t.Helper()
	pattern := "^TestPlayed$/^.*$/^" + regexp.QuoteMeta(strings.ReplaceAll(test, " ", "_")) + "$"
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", pattern)
	cmd.Env = append(os.Environ(), brokenVariable+"="+flaw)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestPlayed is the contract on a store that has the flaw.
func TestPlayed(t *testing.T) {
	flaw := os.Getenv(brokenVariable)
	if flaw == "" {
		t.Skip("not applicable: TestBrokenStoresAreFound plays it")
	}
	worlds := map[string]*world{}
	open := func(t *testing.T, dir string, clock func() time.Time) statestore.Store {
		if worlds[dir] == nil {
			worlds[dir] = newWorld(flaw)
		}
		return worlds[dir].handle(t, clock)
	}
	storetest.RunDurable(t, open)
	storetest.Run(t, func(t *testing.T) statestore.Store { return open(t, t.TempDir(), time.Now) })
}

// world is what a directory has: a store in memory that stays when its handles are closed.
type world struct {
	flaw   string
	clock  atomic.Pointer[func() time.Time] // of the handle that calls
	kept   *statestore.Memory
	before *statestore.Memory // as it was before the newest commit
	mu     sync.Mutex
	open   int
	used   bool
	again  bool                                 // it was closed by all and opened again
	seen   map[statestore.Key]statestore.Record // by the first of two transactions that read before their turn
}

func newWorld(flaw string) *world {
	w := &world{flaw: flaw}
	w.kept = w.memory()
	return w
}

func (w *world) memory() *statestore.Memory {
	return statestore.NewMemory(statestore.MemoryConfig{Clock: func() time.Time {
		if clock := w.clock.Load(); clock != nil {
			return (*clock)()
		}
		return time.Time{}
	}})
}

func (w *world) handle(t *testing.T, clock func() time.Time) *handle {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == 0 && w.before != nil {
		w.kept = w.before
	}
	w.again = w.again || w.used && w.open == 0
	w.used = true
	w.open++
	h := &handle{world: w, clock: clock}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// handle is an open store.
type handle struct {
	world *world
	clock func() time.Time
	ctx   context.Context
	end   context.CancelFunc
	life  sync.RWMutex  // read-locked by transactions
	wrote atomic.Uint64 // newest event that this handle appended
}

func (h *handle) View(ctx context.Context, fn func(statestore.Reader) error) error {
	h.life.RLock()
	defer h.life.RUnlock()
	if h.ctx.Err() != nil {
		return statestore.ErrClosed
	}
	h.world.clock.Store(&h.clock)
	return h.world.kept.View(ctx, func(r statestore.Reader) error {
		if h.world.flaw == "judges by each clock" {
			return fn(ownTime{r, h.clock()})
		}
		return fn(r)
	})
}

type ownTime struct {
	statestore.Reader
	now time.Time
}

func (r ownTime) Now() time.Time { return r.now }

// early is what a transaction that reads before its turn sees: of two in a row the second sees what was there before the first.
func (h *handle) early(ctx context.Context) (map[statestore.Key]statestore.Record, error) {
	if h.world.flaw != "reads before its turn" {
		return nil, nil
	}
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	if seen := h.world.seen; seen != nil {
		h.world.seen = nil
		return seen, nil
	}
	h.world.seen = map[statestore.Key]statestore.Record{}
	return h.world.seen, h.View(ctx, func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			h.world.seen[record.Key] = record
		}
		return nil
	})
}

func (h *handle) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	h.life.RLock()
	defer h.life.RUnlock()
	if h.ctx.Err() != nil {
		return statestore.ErrClosed
	}
	early, err := h.early(ctx)
	if err != nil {
		return err
	}
	h.world.clock.Store(&h.clock)
	var failed error
	err = h.world.kept.Update(ctx, func(tx statestore.Tx) error {
		if h.world.flaw == "loses the last commit" {
			if err := h.world.copy(tx); err != nil {
				return err
			}
		}
		failed = fn(&brokenTx{Tx: tx, handle: h, early: early})
		if h.world.flaw == "keeps what failed" {
			return nil
		}
		return failed
	})
	if failed != nil {
		return failed
	}
	return err
}

// copy keeps what there is before a commit.
func (w *world) copy(r statestore.Reader) error {
	w.before = w.memory()
	return w.before.Update(context.Background(), func(tx statestore.Tx) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			if _, err := tx.Put(record.Key, record.Value, 0); err != nil {
				return err
			}
		}
		for e, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			if _, err := tx.Append(e.Stream, statestore.AnyVersion, e.Entry); err != nil {
				return err
			}
		}
		return nil
	})
}

// brokenTx is a transaction that does what its store's flaw is.
type brokenTx struct {
	statestore.Tx
	handle *handle
	early  map[statestore.Key]statestore.Record
}

func (tx *brokenTx) Now() time.Time {
	if tx.handle.world.flaw == "has each clock's own time" {
		return tx.handle.clock()
	}
	return tx.Tx.Now()
}

func (tx *brokenTx) Get(k statestore.Key) (statestore.Record, error) {
	if record, ok := tx.early[k]; ok {
		return record, nil
	}
	return tx.Tx.Get(k)
}

func (tx *brokenTx) Put(k statestore.Key, value []byte, ifRev statestore.Rev) (statestore.Rev, error) {
	created := ifRev == 0
	switch tx.handle.world.flaw {
	case "reads before its turn", "compares nothing":
		ifRev = statestore.Any
	}
	rev, err := tx.Tx.Put(k, value, ifRev)
	if tx.handle.world.flaw == "begins revisions anew" && tx.handle.world.again && created {
		return 1, err
	}
	return rev, err
}

func (tx *brokenTx) Append(stream string, v statestore.Version, entries ...statestore.Entry) (statestore.Seq, error) {
	switch {
	case tx.handle.world.flaw == "reads before its turn":
		v = statestore.AnyVersion
	case tx.handle.world.flaw == "forgets ids" && tx.handle.world.again:
		for i := range entries {
			entries[i].ID = ""
		}
	}
	seq, err := tx.Tx.Append(stream, v, entries...)
	tx.handle.wrote.Store(max(tx.handle.wrote.Load(), uint64(seq)))
	return seq, err
}

// errDeaf is what a handle says that would wait for ever.
var errDeaf = errors.New("heard nothing")

func (h *handle) Changed(ctx context.Context, after statestore.Seq) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	ended := func(err error) error {
		if h.ctx.Err() != nil {
			return statestore.ErrClosed
		}
		return err
	}
	switch h.world.flaw {
	case "wakes at once for ever":
		return ended(ctx.Err())
	case "hears only itself":
		if statestore.Seq(h.wrote.Load()) <= after {
			return errDeaf
		}
	case "hears only what comes":
		var newest statestore.Seq
		if err := h.View(ctx, func(r statestore.Reader) error {
			for e, err := range r.Events(statestore.EventQuery{}) {
				if err != nil {
					return err
				}
				newest = e.Seq
			}
			return nil
		}); err != nil {
			return ended(err)
		}
		if newest > after {
			return errDeaf
		}
	}
	return ended(h.world.kept.Changed(ctx, after))
}

func (h *handle) Close() error {
	closing := h.ctx.Err() == nil
	h.end()
	if h.world.flaw != "does not wait at its end" {
		h.life.Lock()
		defer h.life.Unlock()
	}
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	if closing {
		h.world.open--
	}
	return nil
}
