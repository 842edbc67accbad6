package ledger_test

import (
	"bufio"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"

	"aesop/cost"
	"aesop/statestore"
	"aesop/statestore/ledger"
)

// TestProcesses: eight processes of eight goroutines record the same calls and every other process is killed on the way; what was
// acknowledged is there, and nothing is there twice.
func TestProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	var group sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	for n := range processes {
		cmd := childCommand(t, path)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			lines := bufio.NewScanner(stdout)
			for left := 3 * n; lines.Scan(); left-- {
				mu.Lock()
				acknowledged[lines.Text()] = true
				mu.Unlock()
				if n%2 == 0 && left == 0 {
					_ = cmd.Process.Kill()
				}
			}
			if err := cmd.Wait(); err != nil && n%2 == 1 {
				t.Errorf("process %d: %v", n, err)
			}
		})
	}
	group.Wait()
	const ids = 4 * records
	store := open(t, path)
	stored := map[string]int{}
	err := store.View(t.Context(), func(r statestore.Reader) error {
		for event, err := range r.Events(statestore.EventQuery{Stream: ledger.Stream}) {
			if err != nil {
				return err
			}
			var c cost.Call
			if err := json.Unmarshal(event.Data, &c); err != nil {
				return err
			}
			stored[c.ID]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range acknowledged {
		if stored[id] != 1 {
			t.Errorf("call %s was acknowledged and is there %d times", id, stored[id])
		}
	}
	if len(acknowledged) != ids || len(stored) != ids {
		t.Errorf("%d calls were acknowledged and %d stored, want %d", len(acknowledged), len(stored), ids)
	}
	if got := tokens(t, ledger.New(store)); got != ids {
		t.Errorf("%d tokens", got)
	}
}
