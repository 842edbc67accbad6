package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/width"
)

// Screen draws lines at the end of a terminal, in place, below what is printed. It is safe for concurrent use.
type Screen struct {
	out  io.Writer
	size func() (columns, rows int)
	// clean takes secrets out of a text.
	clean func(string) string

	mu    sync.Mutex
	lines []string
	drawn int    // rows of the terminal that show lines now
	held  bool   // somebody talks with the person
	open  bool   // and has asked something, with no line break behind
	part  []byte // of a line that is not whole yet
}

// NewScreen draws on out, a terminal of that size.
func NewScreen(out io.Writer, size func() (columns, rows int)) *Screen {
	return &Screen{out: out, size: size, clean: func(text string) string { return text }}
}

// Draw shows lines instead of those before. No line wraps, and there are never more than fit.
func (s *Screen) Draw(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = lines
	s.redraw(nil)
}

// Write prints whole lines above those that are drawn; what follows the last line break is kept for later.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.part = append(s.part, text...)
	if whole := bytes.LastIndexByte(s.part, '\n') + 1; whole > 0 {
		s.redraw(s.part[:whole])
		s.part = append([]byte{}, s.part[whole:]...)
	}
	return len(text), nil
}

// Hold takes the lines away until release is called, for somebody who talks with the person: what is written to talk appears at once.
func (s *Screen) Hold() (talk io.Writer, release func()) {
	s.set(true)
	return talker{s: s}, func() { s.set(false) }
}

func (s *Screen) set(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.open = held, false
	s.redraw(nil)
}

type talker struct {
	s    *Screen
	asIs bool // what is written is to be seen as it is
}

func (t talker) Write(text []byte) (int, error) {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.open = len(text) > 0 && text[len(text)-1] != '\n'
	said := string(text)
	if !t.asIs {
		said = t.s.clean(said)
	}
	_, err := io.WriteString(t.s.out, Lines(said))
	return len(text), err
}

// Close takes the lines away for good, and prints what was kept.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = nil
	s.redraw(s.part)
	s.part = nil
}

// redraw prints above, which are whole lines, and the lines below it, in one write.
func (s *Screen) redraw(above []byte) {
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", s.drawn) // up to the first of them, and all gone from there
	}
	if s.open && len(above) > 0 {
		b.WriteByte('\n') // not behind the question
		s.open = false
	}
	b.WriteString(Lines(s.clean(string(above))))
	columns, rows := s.size()
	lines := s.lines
	if s.held {
		lines = nil
	}
	if more := len(lines) - (rows - 1); more > 0 {
		lines = append(append([]string{}, lines[:max(rows-2, 0)]...), fmt.Sprintf("… and %d more", more+1))
	}
	for _, line := range lines {
		b.WriteString(Cut(s.clean(line), columns-1) + "\n") // a full last column would begin a row of its own
	}
	s.drawn = len(lines)
	if b.Len() > 0 {
		_, _ = io.WriteString(s.out, b.String()) // a terminal that is gone has nobody to be told
	}
}

// Cut is the beginning of a text, on one line, that takes no more columns than that.
func Cut(text string, columns int) string {
	var b strings.Builder
	text = OneLine(text)
	if Columns(text) <= columns {
		return text
	}
	used := 0
	for _, r := range text {
		if used+runeColumns(r) > columns-1 {
			break
		}
		used += runeColumns(r)
		b.WriteRune(r)
	}
	if columns < 1 {
		return ""
	}
	return b.String() + "…"
}

// Columns is how many columns of a terminal a text takes.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
