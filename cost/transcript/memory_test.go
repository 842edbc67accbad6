package transcript_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"aesop/cost"
	"aesop/cost/transcript"
	"aesop/cost/transcript/transcripttest"
)

// TestMemory: what is held is a little of each message, never the files.
func TestMemory(t *testing.T) {
	const most = 24 << 20 // above what was there before
	size := int64(100 << 20)
	if testing.Short() {
		size = 10 << 20
	}
	home := t.TempDir()
	if _, _, err := transcripttest.Write(home, 5, size); err != nil {
		t.Fatal(err)
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak uint64
	var looked int64
	c := transcript.Config{Claude: []string{filepath.Join(home, ".claude")}, Codex: []string{filepath.Join(home, ".codex")}, Now: later}
	c.Progress = func(p transcript.Progress) {
		if p.Bytes-looked < size/50 {
			return
		}
		looked = p.Bytes
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
	}
	calls := 0
	_, summary, err := transcript.Ingest(t.Context(), c, transcript.State{}, func(some []cost.Call) error { calls += len(some); return nil })
	runtime.ReadMemStats(&now)
	peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
	if err != nil || calls == 0 || peak > most {
		t.Errorf("%v; %d calls of %d MB took %d MB of memory", err, calls, summary.Bytes>>20, peak>>20)
	}
	t.Logf("%d calls of %d MB took %d MB of memory", calls, summary.Bytes>>20, peak>>20)
}
