package process

import (
	"bytes"
	"testing"
)

func FuzzRing(f *testing.F) {
	f.Add([]byte("hello, world"), 5, 3)
	f.Add([]byte("hello, world"), 100, 1)
	f.Add([]byte(""), 1, 1)
	f.Add(bytes.Repeat([]byte("0123456789"), 50), 16, 7)
	f.Add(bytes.Repeat([]byte("0123456789"), 50), 7, 400)
	f.Fuzz(func(t *testing.T, data []byte, size, step int) {
		if size < 1 || size > 1<<16 || step < 1 {
			return
		}
		r := ring{size: size}
		for rest := data; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			r.write(rest[:min(step, len(rest))])
			if len(r.data) > 2*size {
				t.Fatalf("holds %d bytes of at most %d", len(r.data), 2*size)
			}
		}
		want := data[max(0, len(data)-size):]
		if got := r.tail(); !bytes.Equal(got.Text, want) || got.Dropped != int64(len(data)-len(want)) {
			t.Errorf("got %q and %d dropped, want %q", got.Text, got.Dropped, want)
		}
	})
}
