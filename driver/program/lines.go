package program

import (
	"bytes"
	"strings"

	"aesop/driver"
)

// lineLimit is how much of a line an event carries; the rest of a longer one is not worth a reader's time.
const lineLimit = 4 << 10

// lines emits each line that is written to it.
type lines struct {
	emit func(driver.Event)
	line []byte
}

func (l *lines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		l.line = append(l.line, line[:min(len(line), lineLimit-len(l.line))]...)
		if ended {
			l.flush()
		}
		rest = after
	}
	return len(p), nil
}

func (l *lines) flush() {
	if text := strings.TrimRight(strings.ToValidUTF8(string(l.line), ""), "\r"); text != "" {
		l.emit(driver.Event{Kind: "text", Text: text})
	}
	l.line = l.line[:0]
}
