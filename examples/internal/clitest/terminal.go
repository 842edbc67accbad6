package clitest

import (
	"strconv"
	"strings"
	"sync"
)

// Terminal is a terminal as far as the programs use one: what it shows can be read. It is safe for concurrent use.
type Terminal struct {
	Columns int

	mu       sync.Mutex
	rows     [][]rune
	row, col int
	escape   string // of a sequence that is not whole yet
	unknown  []string
}

// Write shows text.
func (t *Terminal) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range string(text) {
		t.put(r)
	}
	return len(text), nil
}

func (t *Terminal) put(r rune) {
	switch {
	case t.escape != "":
		t.escape += string(r)
		if t.escape != "\x1b[" && (r >= '@' && r <= '~') {
			t.obey(t.escape)
			t.escape = ""
		}
	case r == '\x1b':
		t.escape = "\x1b"
	case r == '\r':
		t.col = 0
	case r == '\n':
		t.row, t.col = t.row+1, 0
	default:
		if t.col >= t.Columns { // the line wraps
			t.row, t.col = t.row+1, 0
		}
		for len(t.rows) <= t.row {
			t.rows = append(t.rows, nil)
		}
		for len(t.rows[t.row]) <= t.col {
			t.rows[t.row] = append(t.rows[t.row], ' ')
		}
		t.rows[t.row][t.col] = r
		t.col++
	}
}

func (t *Terminal) obey(sequence string) {
	count := 1
	if n, err := strconv.Atoi(strings.Trim(sequence, "\x1b[AJ")); err == nil {
		count = n
	}
	switch sequence[len(sequence)-1] {
	case 'A':
		t.row = max(t.row-count, 0)
	case 'J':
		if t.row < len(t.rows) {
			t.rows = t.rows[:t.row+1]
			t.rows[t.row] = t.rows[t.row][:min(t.col, len(t.rows[t.row]))]
		}
	default:
		t.unknown = append(t.unknown, sequence)
	}
}

// String is what is to be read, without blank ends of lines.
func (t *Terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, row := range t.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}

// Unknown are the control sequences that were not understood.
func (t *Terminal) Unknown() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unknown
}
