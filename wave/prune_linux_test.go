package wave_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"aesop/wave"
	"aesop/wave/journal"
)

// TestPruneEndsWhatAFinishedWaveLeftRunning, and nothing else.
func TestPruneEndsWhatAFinishedWaveLeftRunning(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	r := w.runOn(store)
	wantOutcome(t, r, journal.Good)
	place, err := wave.Place(w.state)
	must(t, err)
	start := func(mark string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sleep", "600")
		cmd.Env = append(os.Environ(), "AESOP_MARK="+mark)
		must(t, cmd.Start())
		return cmd
	}
	left, other := start(place+"/"+r.Wave+"/left"), start(place+"/20200101-000000-0000/x")
	w.prune(store, wave.PruneOptions{DryRun: true})
	if found := marked(t, r.Wave); len(found) != 1 {
		t.Errorf("after a dry run: %v", found)
	}
	w.prune(store, wave.PruneOptions{})
	if err := left.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended with %v", err)
	}
	if found := marked(t, "20200101-000000-0000"); len(found) != 1 {
		t.Errorf("another's: %v", found)
	}
	must(t, other.Process.Kill())
	_ = other.Wait()
}
