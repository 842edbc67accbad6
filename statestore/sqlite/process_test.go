package sqlite

import (
	"bufio"
	"io"
	"math/rand"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"aesop/statestore"
)

func testOpen(t *testing.T, path string) *Store {
	t.Helper()
	store, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func testUpdate(t *testing.T, store statestore.Store, fn func(tx statestore.Tx) error) {
	t.Helper()
	if err := store.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func testPut(t *testing.T, store statestore.Store, k statestore.Key, value string) {
	t.Helper()
	testUpdate(t, store, func(tx statestore.Tx) error {
		_, err := tx.Put(k, []byte(value), statestore.Any)
		return err
	})
}

func testGet(t *testing.T, store statestore.Store, k statestore.Key) string {
	t.Helper()
	var record statestore.Record
	err := store.View(t.Context(), func(r statestore.Reader) (err error) {
		record, err = r.Get(k)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(record.Value)
}

func testEvents(t *testing.T, store statestore.Store) (events []statestore.Stored) {
	t.Helper()
	err := store.View(t.Context(), func(r statestore.Reader) error {
		for event, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			events = append(events, event)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestProcessesLoseNoIncrement(t *testing.T) {
	const processes = 4
	path := filepath.Join(t.TempDir(), "new", "state.db") // they race to make it, too
	var children []*exec.Cmd
	var stdins []io.Closer
	var ready []*bufio.Reader
	for range processes {
		cmd := child(t, "increment", path)
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
		children, stdins, ready = append(children, cmd), append(stdins, stdin), append(ready, bufio.NewReader(stdout))
	}
	for _, r := range ready {
		if _, err := r.ReadString('\n'); err != nil {
			t.Error(err)
		}
	}
	for _, stdin := range stdins {
		_ = stdin.Close()
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	store := testOpen(t, path)
	if got := testGet(t, store, "sum"); got != strconv.Itoa(processes*childIncrements) {
		t.Errorf("the sum is %s, want %d", got, processes*childIncrements)
	}
	for i, event := range testEvents(t, store) {
		if event.Seq != statestore.Seq(i+1) || event.Version != statestore.Version(i+1) {
			t.Fatalf("event %d is %d, version %d", i, event.Seq, event.Version)
		}
	}
}

// TestKilledWriterLosesNothing kills a writer at random moments. What it said it had stored is there, and the database is sound,
// which Open examines.
func TestKilledWriterLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	random := rand.New(rand.NewSource(1))
	var acknowledged []string
	for range 20 {
		cmd := child(t, "append", path)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		for left := random.Intn(60); lines.Scan(); left-- {
			acknowledged = append(acknowledged, lines.Text())
			if left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
	}
	if len(acknowledged) < 20 {
		t.Fatalf("only %d events were acknowledged", len(acknowledged))
	}
	store := testOpen(t, path)
	stored := map[string]bool{}
	for i, event := range testEvents(t, store) {
		stored[event.ID] = true
		if event.Version != statestore.Version(i+1) {
			t.Fatalf("event %d has version %d", i, event.Version)
		}
	}
	for _, id := range acknowledged {
		if !stored[id] {
			t.Errorf("event %s was acknowledged and is lost", id)
		}
	}
}
