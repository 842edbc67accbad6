//go:build unix

package sqlite

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/statestore"
)

// suffixes are the files of a database.
func suffixes() []string { return []string{"", "-wal", "-shm"} }

// files are the bytes of a database by suffix; absent ones are nil.
type files map[string][]byte

func readFiles(t *testing.T, path string) files {
	t.Helper()
	f := files{}
	for _, suffix := range suffixes() {
		data, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err == nil {
			f[suffix] = data
		}
	}
	return f
}

// write puts copies into a new folder and returns the path of the database.
func (f files) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	for suffix, data := range f {
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// with returns a copy in which one file is another.
func (f files) with(suffix string, data []byte) files {
	out := files{}
	for s, d := range f {
		out[s] = d
	}
	out[suffix] = data
	if data == nil {
		delete(out, suffix)
	}
	return out
}

// crashed are the files as a kill leaves them, with all or the newest part of the content in the log, and what they hold, before and
// after the last transaction.
func crashed(t *testing.T, checkpoint bool) (f files, before, after []string) {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "state.db")
	store, err := Open(t.Context(), Config{Path: path, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			testUpdate(t, store, func(tx statestore.Tx) error {
				_, put := tx.Put(statestore.Key(fmt.Sprintf("k/%03d", i%40)), bytes.Repeat([]byte{byte('a' + i%26)}, 150), statestore.Any)
				_, appended := tx.Append(fmt.Sprintf("s/%d", i%5), statestore.AnyVersion,
					statestore.Entry{ID: fmt.Sprint("id", i), Type: "test", Data: bytes.Repeat([]byte{byte('a' + i%26)}, 100)}, statestore.Entry{Type: "test"})
				return errors.Join(put, appended)
			})
		}
	}
	fill(0, 60)
	if checkpoint {
		if err := store.writer.query("PRAGMA wal_checkpoint(RESTART)", func([]driver.Value) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	fill(60, 80)
	if before, err = answers(t, store); err != nil {
		t.Fatal(err)
	}
	fill(80, 81)
	if after, err = answers(t, store); err != nil {
		t.Fatal(err)
	}
	return readFiles(t, path), before, after
}

// answers asks a store for all that it holds in every way: in order, by stream, by key, and by what it compares before it writes.
func answers(t *testing.T, store statestore.Store) (lines []string, err error) {
	t.Helper()
	undone := errors.New("undone")
	err = store.Update(t.Context(), func(tx statestore.Tx) error {
		lines = nil
		seqs := map[string]statestore.Seq{} // by stream and id
		versions := map[string]statestore.Version{}
		queries := []statestore.EventQuery{{}}
		for i := range 5 {
			queries = append(queries, statestore.EventQuery{Stream: fmt.Sprintf("s/%d", i), After: statestore.Seq(i * 20)})
		}
		for _, q := range queries {
			for event, err := range tx.Events(q) {
				if err != nil {
					return err
				}
				lines = append(lines, fmt.Sprintf("%+v", event))
				versions[event.Stream] = event.Version
				if event.ID != "" {
					seqs[event.Stream+" "+event.ID] = event.Seq
				}
			}
		}
		for record, err := range tx.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("%+v", record))
		}
		for i := range 41 {
			record, err := tx.Get(statestore.Key(fmt.Sprintf("k/%03d", i)))
			if err != nil && !errors.Is(err, statestore.ErrNotFound) {
				return err
			}
			lines = append(lines, fmt.Sprintf("%+v", record))
			if _, err := tx.Put(statestore.Key(fmt.Sprintf("k/%03d", i)), nil, record.Rev); err != nil {
				return err
			}
		}
		for i := range 5 {
			stream := fmt.Sprintf("s/%d", i)
			for n := i; n < 81; n += 5 {
				id := fmt.Sprint("id", n)
				seq, err := tx.Append(stream, statestore.AnyVersion, statestore.Entry{ID: id, Type: "test"})
				if err != nil {
					return err
				}
				if want := seqs[stream+" "+id]; want != 0 && seq != want {
					lines = append(lines, fmt.Sprintf("%s is in %s as %d and was not found", id, stream, want))
				}
			}
		}
		return undone
	})
	if errors.Is(err, undone) {
		return lines, nil
	}
	return nil, err
}

// loud says whether an error of a damaged database says which one and, but for what is no database of ours any more, what to do.
func loud(err error, path string) bool {
	var damaged *DamagedError
	var schema *SchemaError
	return strings.Contains(err.Error(), path) && (errors.As(err, &damaged) && strings.Contains(err.Error(), "restore it") ||
		errors.As(err, &schema) || strings.Contains(err.Error(), "not a state store"))
}

// openDamaged opens a database that may be damaged. It must be refused as it is, or give one of the answers or say that it cannot.
func openDamaged(t *testing.T, what string, f files, good ...[]string) (refused bool) {
	t.Helper()
	path := f.write(t)
	store, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		if !loud(err, path) {
			t.Errorf("%s: open says %v", what, err)
		}
		for suffix, was := range readFiles(t, path) {
			if suffix != "-shm" && f[suffix] != nil && !bytes.Equal(was, f[suffix]) || len(was) < len(f[suffix]) {
				t.Errorf("%s: the refusal %v changed %s", what, err, suffix)
			}
		}
		return true
	}
	defer store.Close()
	got, err := answers(t, store)
	switch {
	case err != nil && !loud(err, path):
		t.Errorf("%s: reading says %v", what, err)
	case err == nil && !slices.ContainsFunc(good, func(want []string) bool { return slices.Equal(got, want) }):
		t.Errorf("%s: it was read without an error and holds something else: %d lines of %d", what, len(got), len(good[0]))
	}
	return err != nil
}

// trialsOf is how often each harm is done: 3 times by default.
func trialsOf(t *testing.T) int { return max(1, killsWanted(t)/16) }

// harms are what happens to bytes.
func harms() map[string]func(data []byte, random *rand.Rand) []byte {
	at := func(data []byte, random *rand.Rand, n int, change func([]byte)) []byte {
		data = bytes.Clone(data)
		i := random.Intn(len(data) - n)
		change(data[i : i+n])
		return data
	}
	return map[string]func([]byte, *rand.Rand) []byte{
		"a flipped bit":   func(d []byte, r *rand.Rand) []byte { return at(d, r, 1, func(b []byte) { b[0] ^= 1 << r.Intn(8) }) },
		"a sector zeroed": func(d []byte, r *rand.Rand) []byte { return at(d, r, 512, func(b []byte) { clear(b) }) },
		"a few bytes":     func(d []byte, r *rand.Rand) []byte { return at(d, r, 8, func(b []byte) { r.Read(b) }) },
		"truncated":       func(d []byte, r *rand.Rand) []byte { return d[:r.Intn(len(d))] },
		"truncated to whole pages": func(d []byte, r *rand.Rand) []byte {
			return d[:r.Intn(len(d)/4096)*4096]
		},
	}
}

// TestDamagedAtOpen harms the file, without a log and below one, and the log, with and without the shared memory that knows how long
// it was. Without that memory, the end of the log may be torn as by a power cut, and the last transaction absent whole.
func TestDamagedAtOpen(t *testing.T) {
	inLog, before, after := crashed(t, false)
	below, beforeBelow, afterBelow := crashed(t, true)
	closed := files{"": closedFile(t, below)}
	for name, c := range map[string]struct {
		files  files
		suffix string
		good   [][]string
	}{
		"the file":                             {closed, "", [][]string{afterBelow}},
		"the file below a log":                 {below, "", [][]string{afterBelow}},
		"the log":                              {inLog, "-wal", [][]string{after}},
		"the log, above a filled file":         {below, "-wal", [][]string{afterBelow}},
		"the log, without shared memory":       {below.with("-shm", nil), "-wal", [][]string{afterBelow, beforeBelow}},
		"the whole log, without shared memory": {inLog.with("-shm", nil), "-wal", [][]string{after, before}},
		"the shared memory":                    {below, "-shm", [][]string{afterBelow}},
	} {
		t.Run(name, func(t *testing.T) {
			random := seeded(t)
			refused, trials := 0, 0
			try := func(what string) {
				trials++
				if openDamaged(t, fmt.Sprintf("%s %d", what, trials), c.files.with(c.suffix, harms()[what](c.files[c.suffix], random)), c.good...) {
					refused++
				}
			}
			for _, what := range slices.Sorted(maps.Keys(harms())) {
				if strings.Contains(name, "without shared memory") && strings.HasPrefix(what, "truncated") {
					continue // nothing is left that knows
				}
				for range trialsOf(t) {
					try(what)
				}
			}
			for c.suffix != "-shm" && refused == 0 && trials < 200 {
				try("a few bytes") // until it hits what is still of use
			}
			t.Logf("%d of %d were refused", refused, trials)
			if c.suffix != "-shm" && refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
	t.Run("the log is gone", func(t *testing.T) {
		if !openDamaged(t, "gone", below.with("-wal", nil), afterBelow) {
			t.Error("it was opened")
		}
	})
	t.Run("whole", func(t *testing.T) {
		for _, f := range []files{below, below.with("-shm", nil)} {
			if openDamaged(t, "whole", f, afterBelow) {
				t.Error("it was refused")
			}
		}
	})
}

// TestDamagedIndex changes a key wherever it stands: once in a table, once in its index, and in bytes that nothing uses.
func TestDamagedIndex(t *testing.T) {
	f, _, want := crashed(t, true)
	closed := closedFile(t, f)
	for _, key := range []string{"k/007", "id42"} {
		refused := 0
		for at := bytes.Index(closed, []byte(key)); at >= 0; {
			data := bytes.Clone(closed)
			data[at+len(key)-1] = 'x'
			path := files{"": data}.write(t)
			var damaged *DamagedError
			switch store, err := Open(t.Context(), Config{Path: path}); {
			case errors.As(err, &damaged):
				refused++
			case err != nil:
				t.Errorf("%s at %d: error is %v", key, at, err)
			default:
				if got, err := answers(t, store); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s at %d: it was opened and does not hold what it did (%v)", key, at, err)
				}
				_ = store.Close()
			}
			next := bytes.Index(closed[at+1:], []byte(key))
			if next < 0 {
				break
			}
			at += 1 + next
		}
		if refused < 2 {
			t.Errorf("%s: %d places were refused, want that of the table and that of the index", key, refused)
		}
	}
}

// TestIndexLeadsElsewhere changes the last key in an index under an open store: another record is not taken for the one that was asked for.
func TestIndexLeadsElsewhere(t *testing.T) {
	f, _, _ := crashed(t, true)
	closed := closedFile(t, f)
	refused := 0
	for at, n := 0, 0; n >= 0; at += n + 1 {
		if n = bytes.Index(closed[at:], []byte("k/039")); n < 0 {
			break
		}
		path := files{"": closed}.write(t)
		store := testOpen(t, path)
		data := bytes.Clone(closed)
		data[at+n+len("k/03")] = 'x'
		overwrite(t, path, data)
		err := store.View(t.Context(), func(r statestore.Reader) error { _, err := r.Get("k/03x"); return err })
		var damaged *DamagedError
		switch {
		case errors.As(err, &damaged):
			refused++
		case !errors.Is(err, statestore.ErrNotFound):
			t.Errorf("at %d: error is %v", at+n, err)
		}
	}
	if refused == 0 {
		t.Error("no place was the index's")
	}
}

// closedFile is the file of a database that was closed.
func closedFile(t *testing.T, f files) []byte {
	t.Helper()
	path := f.write(t)
	store, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	left := readFiles(t, path)
	if len(left) != 1 {
		t.Fatalf("closing left %d files", len(left))
	}
	return left[""]
}

// TestDamagedWhileOpen harms the file under an open store, which has seen all of it or nothing.
func TestDamagedWhileOpen(t *testing.T) {
	random := seeded(t)
	f, _, want := crashed(t, true)
	closed := closedFile(t, f)
	refused := 0
	for _, what := range slices.Sorted(maps.Keys(harms())) {
		harm := harms()[what]
		for i := range trialsOf(t) {
			path := files{"": closed}.write(t)
			store := testOpen(t, path)
			if i%2 == 0 {
				if _, err := answers(t, store); err != nil {
					t.Fatal(err)
				}
			}
			overwrite(t, path, harm(closed, random))
			got, err := answers(t, store)
			switch {
			case err != nil && !strings.Contains(err.Error(), path):
				t.Errorf("%s: %v", what, err)
			case err == nil && !slices.Equal(got, want):
				// What an index no longer leads to looks absent until the index is compared with its table.
				if again, err := Open(t.Context(), Config{Path: path}); err == nil {
					_ = again.Close()
					t.Errorf("%s: it was read without an error, holds something else, and opens again: %d lines of %d", what, len(got), len(want))
				}
			}
			if err != nil {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// overwrite changes a file in place, in a process of its own: closing it in this one would drop the locks of SQLite.
func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".harmed", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", path+".harmed", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestNoFalseAlarm has logs and shared memories that crashes leave and that have lost nothing that was acknowledged.
func TestNoFalseAlarm(t *testing.T) {
	whole, _, after := crashed(t, false) // whose last transaction, of answers, was undone and changes nothing
	order := binary.NativeEndian
	// told is the shared memory that says more of the log than is there, in one of its copies or in both.
	told := func(copies int, change func(head []byte)) files {
		shm := bytes.Clone(whole["-shm"])
		for i := range copies {
			head := shm[48*i : 48*(i+1)]
			order.PutUint32(head[16:], order.Uint32(head[16:])+1000)
			change(head)
			a, b := logSum(order, 0, 0, head[:40])
			order.PutUint32(head[40:], a)
			order.PutUint32(head[44:], b)
		}
		return whole.with("-shm", shm)
	}
	if !openDamaged(t, "told", told(2, func([]byte) {}), after) {
		t.Error("a shared memory that knows of more is not believed: the cases below say nothing")
	}
	log, frame := whole["-wal"], frameHeaderSize+4096
	torn, commits := log, 0
	end := logHeaderSize + frame*int(order.Uint32(whole["-shm"][16:])) // what follows is left from before
	for at := end - frame; at >= logHeaderSize; at -= frame {          // from the last frame to the first of the last transaction
		if binary.BigEndian.Uint32(log[at+4:]) != 0 {
			if commits++; commits > 1 {
				break
			}
		}
		torn = bytes.Clone(log)
		torn[at+100] ^= 1 // in the end in its first frame only
	}
	for name, c := range map[string]struct {
		files files
		want  []string
	}{
		"the end is torn":               {whole.with("-shm", nil).with("-wal", torn), after},
		"the memory of another log":     {told(2, func(head []byte) { head[32]++ }), after},
		"a memory that is half written": {told(1, func([]byte) {}), after},
		"a memory that was not begun":   {told(2, func(head []byte) { head[12] = 0 }), after},
	} {
		if openDamaged(t, name, c.files, c.want) {
			t.Errorf("%s: it was refused", name)
		}
	}
}
