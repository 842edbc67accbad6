package tracker

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	long := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	for _, content := range [][]byte{nil, []byte("a"), long} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if !holds(path, content) {
			t.Errorf("%d bytes are not recognised", len(content))
		}
		if holds(path, append(bytes.Clone(content), 'x')) {
			t.Errorf("%d bytes are taken for one more", len(content))
		}
		if n := len(content); n > 0 {
			other := bytes.Clone(content)
			other[n-1]++
			if holds(path, content[:n-1]) || holds(path, other) {
				t.Errorf("%d bytes are taken for others", n)
			}
		}
	}
	if holds(filepath.Join(t.TempDir(), "none"), nil) {
		t.Error("a missing file is taken for an empty one")
	}
}
