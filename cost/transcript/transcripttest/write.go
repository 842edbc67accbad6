// Package transcripttest writes session files as Claude Code and Codex do, of any size, and says what they hold: for tests and
// measurements of what reads them.
package transcripttest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aesop/cost"
)

// Totals are the tokens of each model.
type Totals map[string]cost.Usage

// add counts u under its model.
func (t Totals) add(u cost.Usage) {
	if old, ok := t[u.Model]; ok {
		u = old.Add(u)
	}
	t[u.Model] = u
}

// Write fills home/.claude and home/.codex with about size bytes of sessions each, and returns what the calls in them used. The same
// seed writes the same. Sessions have answers over several lines whose counts grow, tool results of many kilobytes, sub-agents, a
// copy of every fourth session as a fork leaves it, and counts that are told twice.
func Write(home string, seed uint64, size int64) (claude, codex Totals, err error) {
	w := &writer{rng: rand.New(rand.NewPCG(seed, 0)), at: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
	w.text = w.prose(256 << 10)
	noise := make([]byte, 256<<10)
	for i := range noise {
		noise[i] = byte(w.rng.Uint32())
	}
	w.base64 = base64.RawStdEncoding.EncodeToString(noise)
	claude, codex = Totals{}, Totals{}
	for n := 0; w.written < size; n++ {
		if err := w.claude(filepath.Join(home, ".claude", "projects", fmt.Sprintf("-work-project%d", n%3)), n, claude); err != nil {
			return nil, nil, err
		}
	}
	w.written = 0
	for n := 0; w.written < size; n++ {
		if err := w.codex(filepath.Join(home, ".codex", "sessions"), n, codex); err != nil {
			return nil, nil, err
		}
	}
	return claude, codex, nil
}

type writer struct {
	rng     *rand.Rand
	text    string // that prose is cut from
	base64  string
	at      time.Time
	written int64
	ids     int
}

// prose is text as tools print it: words, numbers, paths, quotes and line ends.
func (w *writer) prose(n int) string {
	words := strings.Fields(`func return if err != nil { } the test of package main has failed: "usage" got want 12 34 /src/pkg/file.go:17: "type":"assistant" \n` +
		` ok PASS --- FAIL: TestOrder (0.00s) import ( ) := range map[string]int input_tokens über naïve`)
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[w.rng.IntN(len(words))])
		b.WriteByte("   \t   \n     "[w.rng.IntN(13)])
	}
	return b.String()
}

// quoted is a JSON string of about n bytes of prose.
func (w *writer) quoted(n int) string {
	from := w.rng.IntN(len(w.text) - n)
	data, _ := json.Marshal(strings.ToValidUTF8(w.text[from:from+n], ""))
	return string(data)
}

// size is a number of bytes that is mostly small and sometimes most.
func (w *writer) size(most int) int {
	n := w.rng.IntN(most)
	if w.rng.IntN(4) != 0 {
		n /= 16
	}
	return n + 20
}

// blob is base64 as signatures and encrypted thoughts have.
func (w *writer) blob(n int) string {
	from := w.rng.IntN(len(w.base64) - n)
	return w.base64[from : from+n]
}

func (w *writer) id() string {
	w.ids++
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", w.rng.Uint32(), w.rng.IntN(1<<16), w.rng.IntN(1<<12), w.rng.IntN(1<<12), w.ids)
}

// now is a new time, in another second: of a fork that tells two sums within one, some readers think that they are copied.
func (w *writer) now() string {
	w.at = w.at.Add(time.Second + time.Duration(w.rng.IntN(3000))*time.Millisecond)
	return w.at.Format("2006-01-02T15:04:05.000Z")
}

// file is a session file that is being written.
type file struct {
	*bufio.Writer
	f *os.File
	w *writer
	n int64
}

func (w *writer) create(name string) (*file, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &file{Writer: bufio.NewWriterSize(f, 1<<20), f: f, w: w}, nil
}

func (f *file) line(format string, args ...any) {
	n, _ := fmt.Fprintf(f, format+"\n", args...) // Close tells
	f.n += int64(n)
}

func (f *file) close() error {
	f.w.written += f.n
	err := f.Flush()
	if closed := f.f.Close(); err == nil {
		err = closed
	}
	return err
}
