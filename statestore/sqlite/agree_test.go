package sqlite

import (
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
)

// TestAgreesWithMemory does the same to both stores, with names and numbers that nobody should give too, and compares the answers.
func TestAgreesWithMemory(t *testing.T) {
	seed := seeded(t).Int63()
	memory := transcript(t, statestore.NewMemory(statestore.MemoryConfig{}), rand.New(rand.NewSource(seed)))
	ours := transcript(t, testOpen(t, filepath.Join(t.TempDir(), "state.db")), rand.New(rand.NewSource(seed)))
	for i := range memory {
		if diff := cmp.Diff(memory[i], ours[i]); diff != "" {
			t.Fatalf("step %d, memory (-) and SQLite (+) differ:\n%s", i, diff)
		}
	}
}

// transcript does things at random and returns what came of each. Revisions are told by their order, which is all that is promised.
func transcript(t *testing.T, store statestore.Store, random *rand.Rand) (lines []string) {
	t.Helper()
	undo := errors.New("undo")
	revs := map[statestore.Key]statestore.Rev{}
	for range 150 {
		err := store.Update(t.Context(), func(tx statestore.Tx) error {
			for range random.Intn(8) {
				lines = append(lines, step(tx, random, revs))
			}
			if random.Intn(4) == 0 {
				return undo
			}
			return nil
		})
		if err != nil && err != undo {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(err))
		err = store.View(t.Context(), func(r statestore.Reader) error {
			for range random.Intn(3) {
				lines = append(lines, look(r, random))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

func anyName(random *rand.Rand) string {
	names := []string{"a", "a/b", "a/b/c", "a0", "b", "é", "日", "\U0010ffff", "", "\x00", "a\x00", "a\x00b", "a/\xff", "\xff", "a\xc3", "z", " ", "%", "'"}
	return names[random.Intn(len(names))]
}

func step(tx statestore.Tx, random *rand.Rand, revs map[statestore.Key]statestore.Rev) string {
	k := statestore.Key(anyName(random))
	rev := []statestore.Rev{0, statestore.Any, statestore.Any, revs[k], revs[k] + 1_000_000, 1 << 63, statestore.Any - 1}[random.Intn(7)]
	switch random.Intn(5) {
	case 0, 1:
		got, err := tx.Put(k, []byte(anyName(random)), rev)
		if err == nil {
			revs[k] = got
		}
		return fmt.Sprintf("put %q: %s", k, kind(err))
	case 2:
		return fmt.Sprintf("delete %q: %s", k, kind(tx.Delete(k, rev)))
	case 3:
		version := []statestore.Version{statestore.AnyVersion, statestore.AnyVersion, statestore.Version(random.Intn(6)), 1 << 63}[random.Intn(4)]
		var entries []statestore.Entry
		for range random.Intn(4) {
			entries = append(entries, statestore.Entry{ID: anyName(random), Type: anyName(random), Data: []byte(anyName(random))})
		}
		seq, err := tx.Append(anyName(random), version, entries...)
		return fmt.Sprintf("append %v of %+v: %d %s", version, entries, seq, kind(err))
	}
	return look(tx, random)
}

func look(r statestore.Reader, random *rand.Rand) (line string) {
	name, after, limit := anyName(random), anyName(random), random.Intn(4)-1
	switch random.Intn(3) {
	case 0:
		record, err := r.Get(statestore.Key(name))
		return fmt.Sprintf("get %q: %q %q %s", name, record.Key, record.Value, kind(err))
	case 1:
		line = fmt.Sprintf("scan %q after %q", name, after)
		for record, err := range r.Scan(statestore.Range{Prefix: statestore.Key(name), After: statestore.Key(after), Limit: limit}) {
			line += fmt.Sprintf(" %q %q %s", record.Key, record.Value, kind(err))
		}
		return line
	}
	seq := []statestore.Seq{0, 0, statestore.Seq(random.Intn(60)), 1 << 63, 1<<64 - 1}[random.Intn(5)]
	line = fmt.Sprintf("events of %q after %d", name, seq)
	for e, err := range r.Events(statestore.EventQuery{Stream: name, After: seq, Limit: limit}) {
		line += fmt.Sprintf(" %d %q %d %q %q %q %s", e.Seq, e.Stream, e.Version, e.ID, e.Type, e.Data, kind(err))
	}
	return line
}

// kind is what a caller can decide by.
func kind(err error) string {
	var conflict *statestore.ConflictError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &conflict):
		return fmt.Sprintf("conflict on %q", conflict.What)
	case errors.Is(err, statestore.ErrNotFound):
		return "not found"
	}
	return "refused"
}
