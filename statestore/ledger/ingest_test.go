package ledger_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/cost/transcript"
	"aesop/cost/transcript/transcripttest"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/ledger"
	"aesop/tracker"
)

// sessionsOf are the transcripts below a home, all left alone for long.
func sessionsOf(home string) transcript.Config {
	c := transcript.Find(func(name string) string { return map[string]string{"HOME": home}[name] })
	c.Now = func() time.Time { return time.Now().Add(time.Hour) }
	return c
}

// used adds up what a ledger has of each model.
func used(t *testing.T, l *ledger.Ledger) map[string]int64 {
	t.Helper()
	book, err := l.Book(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]int64{}
	for _, g := range book.Groups(cost.Query{}, cost.ByModel) {
		tokens[g.Key[cost.ByModel]] = g.Total.Charge().Tokens
	}
	return tokens
}

func told(all ...transcripttest.Totals) map[string]int64 {
	tokens := map[string]int64{}
	for _, totals := range all {
		for model, u := range totals {
			tokens[model] += u.Tokens()
		}
	}
	return tokens
}

func TestIngest(t *testing.T) {
	home := t.TempDir()
	claude, codex, err := transcripttest.Write(home, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	stores(t, func(t *testing.T, store statestore.Store) {
		l := ledger.New(store)
		in := ledger.Ingest{Transcripts: sessionsOf(home), Prices: price.Default(), Batch: 50}
		calls := 0
		in.Transcripts.Progress = func(transcript.Progress) { calls++ }
		done, err := l.Ingest(t.Context(), in)
		if err != nil || done.Added == 0 || done.Added != done.Calls || done.Known+done.Differ+done.Refused+done.OfWaves != 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		if calls == 0 {
			t.Error("nobody was told how far it was")
		}
		if diff := cmp.Diff(told(claude, codex), used(t, l)); diff != "" {
			t.Error(diff)
		}
		book, _ := l.Book(t.Context())
		if total := book.Total(cost.Query{}); total.Unpriced != done.Unpriced || total.Unpriced == total.Calls {
			t.Errorf("%d of %d calls are unpriced, and %d were said to be", total.Unpriced, total.Calls, done.Unpriced)
		}
		again, err := l.Ingest(t.Context(), in)
		if err != nil || again.Calls != 0 || again.Read != 0 || again.Added != 0 {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
}

// TestIngestLeavesOutWhatWavesRecorded: what a driver told of a session is there already.
func TestIngestLeavesOutWhatWavesRecorded(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".claude", "projects", "p", "s1.jsonl"), claudeLine("s1", "m1", 10)+claudeLine("s2", "m2", 100))
	store := statestore.NewMemory(statestore.MemoryConfig{})
	l := ledger.New(store)
	ofWave := call("attempt/1", 10)
	ofWave.Source, ofWave.Backend, ofWave.Session = ledger.WaveSource, "claude", "s1"
	byHand := call("by-hand", 1)
	byHand.Source, byHand.Backend, byHand.Session = "record", "claude", "s2"
	record(t, l, cost.Recorded{Added: 2}, ofWave, byHand)
	done, err := l.Ingest(t.Context(), ledger.Ingest{Transcripts: sessionsOf(home)})
	if err != nil || done.Calls != 2 || done.OfWaves != 1 || done.Added != 1 || done.Unpriced != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	if got := tokens(t, l); got != 111 {
		t.Errorf("%d tokens", got)
	}
}

// TestIngestLeavesWhatAWaveIsAt: what a running job's agent may have written is not recorded by two.
func TestIngestLeavesWhatAWaveIsAt(t *testing.T) {
	home := t.TempDir()
	store := statestore.NewMemory(statestore.MemoryConfig{})
	l := ledger.New(store)
	write(t, filepath.Join(home, ".claude", "projects", "p", "before.jsonl"), claudeLine("s1", "m1", 10))
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(home, ".claude", "projects", "p", "before.jsonl"), before, before); err != nil {
		t.Fatal(err)
	}
	token, err := tracker.NewToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(requests ...job.Request) {
		t.Helper()
		err := store.Update(t.Context(), func(tx statestore.Tx) error {
			for _, request := range requests {
				if d, err := job.Apply(tx, request); err != nil || !d.OK() {
					return fmt.Errorf("%+v, %w", d, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ask(job.Create{ID: "j", Item: "i", Wave: "w", Seat: "worker"}, job.Claim{ID: "j", Token: token, Deadline: time.Now().Add(time.Hour)})
	write(t, filepath.Join(home, ".claude", "projects", "p", "at-work.jsonl"), claudeLine("s2", "m2", 100))
	during := time.Now().Add(time.Minute) // clocks of file systems are coarse
	if err := os.Chtimes(filepath.Join(home, ".claude", "projects", "p", "at-work.jsonl"), during, during); err != nil {
		t.Fatal(err)
	}
	if done, err := l.Ingest(t.Context(), ledger.Ingest{Transcripts: sessionsOf(home)}); err != nil || done.Added != 1 || done.Left != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	ofWave := call("attempt/1", 100)
	ofWave.Source, ofWave.Backend, ofWave.Session = ledger.WaveSource, "claude", "s2"
	record(t, l, cost.Recorded{Added: 1}, ofWave)
	ask(job.Complete{ID: "j", By: job.Worker{Token: token}})
	if done, err := l.Ingest(t.Context(), ledger.Ingest{Transcripts: sessionsOf(home)}); err != nil || done.Added != 0 || done.OfWaves != 1 || done.Left != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if got := tokens(t, l); got != 110 {
		t.Errorf("%d tokens", got)
	}
}

// TestIngestCleansNames: also an id, which stays one of its own.
func TestIngestCleansNames(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".claude", "projects", "p", "s1.jsonl"), claudeLine("hush-1", "hush-2", 10)+claudeLine("s2", "hush-3", 100))
	store := statestore.NewMemory(statestore.MemoryConfig{})
	in := ledger.Ingest{Transcripts: sessionsOf(home), Clean: func(text string) string { return strings.ReplaceAll(text, "hush", "x") }}
	if done, err := ledger.New(store).Ingest(t.Context(), in); err != nil || done.Added != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	err := store.View(t.Context(), func(r statestore.Reader) error {
		for c, err := range ledger.Calls(r) {
			if err != nil || strings.Contains(fmt.Sprint(c), "hush") {
				t.Errorf("%+v, %v", c, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestIngestTellsWhatFails(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".claude", "projects", "p", "s1.jsonl"), claudeLine("s1", "m1", 10))
	store := statestore.NewMemory(statestore.MemoryConfig{})
	l := ledger.New(store)
	if _, err := l.Ingest(t.Context(), ledger.Ingest{Transcripts: sessionsOf(home)}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".claude", "projects", "p", "s2.jsonl"), claudeLine("s2", "m2", 10))

	// Another one commits while this one reads.
	slow := ledger.Ingest{Transcripts: sessionsOf(home)}
	slow.Transcripts.Progress = func(p transcript.Progress) {
		if p.Files == p.AllFiles {
			if _, err := ledger.New(store).Ingest(t.Context(), ledger.Ingest{Transcripts: sessionsOf(home)}); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := l.Ingest(t.Context(), slow); !errors.Is(err, ledger.ErrBusy) {
		t.Errorf("beside another: %v", err)
	}
	if got := tokens(t, l); got != 20 {
		t.Errorf("%d tokens", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Ingest(ended, ledger.Ingest{Transcripts: sessionsOf(home)}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	err := store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := tx.Put("ledger/transcripts", []byte("{}"), statestore.Any)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Ingest(t.Context(), ledger.Ingest{Transcripts: sessionsOf(home)}); err == nil || !strings.Contains(err.Error(), "state of transcripts") {
		t.Errorf("a damaged state: %v", err)
	}
}

func claudeLine(session, message string, input int) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":%q,"requestId":"r","timestamp":"2026-05-01T12:00:00Z","message":{"id":%q,"role":"assistant","model":"nobody's",`+
		`"stop_reason":"end_turn","usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}`+"\n", session, message, input)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// dyingVariable has, in a child, the home, the database, and at which moment of a transaction it dies, counted from 1; 0 is never.
const dyingVariable = "AESOP_TEST_INGEST"

// TestIngestDiesAnywhere: a process that ingests is killed before, in and after each transaction, one moment further each time, until one comes
// to the end. Then all is there, and nothing twice.
func TestIngestDiesAnywhere(t *testing.T) {
	if what := os.Getenv(dyingVariable); what != "" {
		dies(t, what)
		return
	}
	home, path := t.TempDir(), filepath.Join(t.TempDir(), "state.db")
	claude, codex, err := transcripttest.Write(home, 2, 3<<20)
	if err != nil {
		t.Fatal(err)
	}
	deaths := 0
	for moment := 1; ; moment++ {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestIngestDiesAnywhere$", "-test.count=1")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%s#%s#%d", dyingVariable, home, path, (moment-1)%6+1))
		out, err := child.CombinedOutput()
		if err == nil && strings.Contains(string(out), "PASS") {
			break
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() || moment > 200 {
			t.Fatalf("moment %d: %v\n%s", moment, err, out)
		}
		deaths++
	}
	if deaths < 6 {
		t.Errorf("it died %d times only", deaths)
	}
	l := ledger.New(open(t, path))
	if diff := cmp.Diff(told(claude, codex), used(t, l)); diff != "" {
		t.Error(diff)
	}
	if health, err := l.Health(t.Context()); err != nil || health.Corrupt != 0 {
		t.Errorf("%+v, %v", health, err)
	}
}

func dies(t *testing.T, what string) {
	parts := strings.Split(what, "#")
	moment, err := strconv.Atoi(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	store := &dying{Store: open(t, parts[1]), left: moment}
	done, err := ledger.New(store).Ingest(t.Context(), ledger.Ingest{Transcripts: sessionsOf(parts[0]), Batch: 10})
	if err != nil || done.Known > 0 { // the state is never behind the rows
		t.Fatalf("%+v, %v", done, err)
	}
}

// dying is a store whose process is killed at a moment.
type dying struct {
	statestore.Store
	left int
}

func (d *dying) moment() {
	if d.left--; d.left == 0 {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			_ = self.Kill()
		}
		select {}
	}
}

func (d *dying) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	d.moment()
	err := d.Store.Update(ctx, func(tx statestore.Tx) error {
		err := fn(tx)
		d.moment()
		return err
	})
	d.moment()
	return err
}
