package redact

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"aesop/redact/redacttest"
)

// logText is text like an agent's log.
func logText(size int) []byte {
	return redacttest.AgentLog(rand.New(rand.NewPCG(9, 9)), size)
}

func benchmark(b *testing.B, passes ...func(*Redactor) *pass) {
	r, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	text := r.Bytes(logText(4 << 20)) // what there is of false positives would be measured too
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	state := &reading{}
	for b.Loop() {
		for _, p := range passes {
			*state = reading{text: textOf(text)}
			if _, _, o := p(r).next(&state.text, 0); o != no {
				b.Fatal("not clean")
			}
		}
	}
}

func BenchmarkTokens(b *testing.B) { benchmark(b, func(r *Redactor) *pass { return r.tokens }) }

func BenchmarkPlaces(b *testing.B) { benchmark(b, func(r *Redactor) *pass { return r.places }) }

func BenchmarkClean(b *testing.B) {
	r, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	text := r.Bytes(logText(4 << 20))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Bytes(text)
	}
}

func BenchmarkWriter(b *testing.B) {
	r, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	text := logText(4 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		w := r.NewWriter(io.Discard)
		for rest := text; len(rest) > 0; rest = rest[min(len(rest), 4096):] {
			if _, err := w.Write(rest[:min(len(rest), 4096)]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloor is what reading the same bytes costs.
func BenchmarkFloor(b *testing.B) {
	text := logText(4 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		bytes.Count(text, []byte{0})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRegister(b *testing.B) {
	r, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if n%50 == 0 {
			r.known.values, r.known.forms = map[string]bool{}, map[string]bool{}
			r.known.pass.Store(newPass(0))
		}
		if err := r.Register(strings.Repeat("0123456789abcdef", 4) + string(rune('a'+n%26)) + strings.Repeat("x", n%50)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOddTexts are texts of which each place needs a look that goes far. None may take much longer than the others.
func BenchmarkOddTexts(b *testing.B) {
	r, err := New(Config{Profile: PublicDataset})
	if err != nil {
		b.Fatal(err)
	}
	for _, part := range []string{"a@b.c", "a://", "a://b:", "https://a", "https://u:p/", "-----BEGIN " + "PRIVATE KEY-----", "token=\"", "\ndata:\n a: b", "secret-secret_"} {
		b.Run(part, func(b *testing.B) {
			text := []byte(strings.Repeat(part, 256<<10/len(part)))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Bytes(text)
			}
		})
	}
}
