package redact

import "bytes"

// manifest is the look at the data of a Secret of Kubernetes, where any name may hold a secret: all of its lines go. What says that it is
// a Secret stands somewhat before, or after as kubectl writes it. All this may be in a JSON string.
func manifest(r *rule, ms markers) look {
	return func(t *text, at int) (match, outcome) {
		indent, ok := t.indented(at)
		y := lines{cursor: cursor{t: t, i: at + len("data:")}}
		y.blank(false)
		y.json = y.peek(0) == '\\'
		if !ok || !y.next() {
			return match{}, y.say(no)
		}
		begin, end := y.i, y.i
		for y.i-begin < farthestEnd && y.depth() > indent {
			y.skip()
			end = y.i
			if !y.next() {
				break
			}
		}
		for begin < end && t.b[begin] == ' ' {
			begin++
		}
		if begin == end || y.short || ms.in(t.b[begin:end]) == judged {
			return match{}, y.say(no)
		}
		if !secretBefore(t.before(at)) && !y.secretAfter() {
			return match{}, y.say(no)
		}
		m := match{start: begin, end: end, rule: r}
		if end-begin >= farthestEnd {
			m.tail = tail{block: true, indent: indent, json: y.json}
		}
		return m, y.say(yes)
	}
}

// indented is how far the name that ends at i, data or stringData, is from the beginning of its line, if nothing else is before it.
func (t *text) indented(i int) (n int, ok bool) {
	b := bytes.TrimSuffix(t.b[t.back(i):i], []byte("string"))
	line := bytes.TrimRight(b, " ")
	ok = bytes.HasSuffix(line, []byte("\n")) || bytes.HasSuffix(line, []byte(`\n`)) || len(line) == 0 && t.back(i) == 0
	return len(b) - len(line), ok
}

// lines reads line by line.
type lines struct {
	cursor
	json bool // in a JSON string, where the end of a line is \n
}

// next goes over the end of a line.
func (y *lines) next() bool {
	if y.json {
		return y.word(`\n`)
	}
	y.is('\r')
	return y.is('\n')
}

// skip goes to the end of the line, or of the JSON string.
func (y *lines) skip() {
	for {
		switch b := y.peek(0); {
		case y.i >= len(y.t.b), b == '\n', y.json && b == '"', y.json && b == '\\' && y.peek(1) == 'n':
			return
		case y.json && b == '\\':
			y.i++
		}
		y.i++
	}
}

// depth is how far the line is indented.
func (y *lines) depth() int {
	n := 0
	for y.peek(n) == ' ' {
		n++
	}
	return n
}

// secretAfter says whether the lines from here on say of what is before them that it was a Secret.
func (y *lines) secretAfter() bool {
	const near = 1 << 10
	for begin := y.i; y.i-begin < near; {
		y.i += y.depth()
		if y.word("---") || y.i >= len(y.t.b) {
			return false
		}
		if y.word("kind:") {
			y.blank(false)
			return y.word("Secret") && !isName(y.peek(0))
		}
		if y.skip(); !y.next() {
			return false
		}
	}
	return false
}

// secretBefore says whether the last kind before a place is that of a Secret of the same document.
func secretBefore(b []byte) bool {
	if n := bytes.LastIndex(b, []byte("---")); n >= 0 {
		b = b[n:]
	}
	n := bytes.LastIndex(b, []byte("kind:"))
	if n < 0 {
		return false
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(b[n+len("kind:"):], " "), []byte("Secret"))
	return ok && len(rest) > 0 && !isName(rest[0])
}
