//go:build !race

package redact

import "testing"

// TestCleanTextAllocatesNothing: what is redacted all the time is mostly clean. (The race detector makes pools forget, so it is not built
// with that.)
func TestCleanTextAllocatesNothing(t *testing.T) {
	r, err := New(Config{Profile: PublicDataset})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Register("a known value"); err != nil {
		t.Fatal(err)
	}
	text := r.Bytes(logText(200 << 10))
	word, room := string(text), make([]byte, 0, 2*len(text))
	for name, run := range map[string]func(){
		"Bytes":    func() { r.Bytes(text) },
		"String":   func() { r.String(word) },
		"AppendTo": func() { r.AppendTo(room, text) },
	} {
		run() // the first call fills the pool
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
