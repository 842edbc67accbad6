package program

import (
	"slices"
	"strings"
	"testing"

	"aesop/driver"
)

func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nthree"), 2)
	f.Add([]byte(strings.Repeat("x", 3*lineLimit)+"\nend\n"), 100)
	f.Add([]byte("\xff\xfe\n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		if step < 1 {
			return
		}
		var texts []string
		l := &lines{emit: func(e driver.Event) { texts = append(texts, e.Text) }}
		for rest := data; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			if n, err := l.Write(rest[:min(step, len(rest))]); n != min(step, len(rest)) || err != nil {
				t.Fatalf("wrote %d: %v", n, err)
			}
		}
		l.flush()
		var want []string
		for line := range strings.SplitSeq(string(data), "\n") {
			line = strings.TrimRight(strings.ToValidUTF8(line[:min(len(line), lineLimit)], ""), "\r")
			if line != "" {
				want = append(want, line)
			}
		}
		if !slices.Equal(texts, want) {
			t.Errorf("got %q, want %q", texts, want)
		}
	})
}
