package testcount

import "bytes"

// How much of a line is looked at: its beginning, and of a longer one its end too, for go ends a line that a test began.
const (
	lineHead = 8 << 10
	lineTail = 1 << 10
)

// lines cuts a stream into lines, at newlines and at the carriage returns by which programs write over a line.
type lines struct {
	each func(text string)
	head []byte
	tail []byte // of what came after a full head
	cut  bool   // something between head and tail is lost
}

func (l *lines) write(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			l.add(p)
			return
		}
		l.add(p[:end])
		l.end()
		p = p[end+1:]
	}
}

func (l *lines) add(p []byte) {
	n := min(len(p), lineHead-len(l.head))
	l.head = append(l.head, p[:n]...)
	if p = p[n:]; len(p) == 0 {
		return
	}
	if over := len(p) - lineTail; over > 0 {
		p, l.tail, l.cut = p[over:], l.tail[:0], true
	}
	l.tail = append(l.tail, p...)
	if over := len(l.tail) - lineTail; over > 0 {
		l.tail, l.cut = append(l.tail[:0], l.tail[over:]...), true
	}
}

// end hands over the line that was begun, if one was.
func (l *lines) end() {
	if len(l.head) == 0 {
		return
	}
	text := l.head
	if l.cut {
		text = append(append(text, " … "...), l.tail...)
	} else {
		text = append(text, l.tail...)
	}
	l.each(plain(text))
	l.head, l.tail, l.cut = l.head[:0], l.tail[:0], false
}

const escape = 0x1b

// plain is a line without the sequences by which terminals are told about colours.
func plain(text []byte) string {
	if bytes.IndexByte(text, escape) < 0 {
		return string(text)
	}
	kept := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != escape {
			kept = append(kept, text[i])
			continue
		}
		i += sequence(text[i+1:])
	}
	return string(kept)
}

// sequence is the length of an escape sequence, without the escape itself.
func sequence(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	final := func(from, to byte) int {
		for i := 1; i < len(text); i++ {
			if text[i] >= from && text[i] <= to {
				return i + 1
			}
		}
		return len(text)
	}
	switch text[0] {
	case '[':
		return final('@', '~')
	case ']': // until a bell, or the escape and backslash that end it
		for i := 1; i < len(text); i++ {
			if text[i] == '\a' {
				return i + 1
			}
			if text[i] == escape {
				return min(i+2, len(text))
			}
		}
		return len(text)
	case '(', ')':
		return min(2, len(text))
	}
	return 1
}
