package redact

import "bytes"

// text is a part of what is being read. Whatever is decided about a place in it must depend only on the text around that place, never
// on how much of it there happens to be yet: a look that would need a byte that has not come says more.
type text struct {
	b    []byte
	done bool   // nothing follows b
	edge int    // where the last match ended; what is before is gone
	sign int    // the next @, once it was looked for; see nextAt
	hit  int    // the next place with three bytes of the pass, once it was looked for
	kept []byte // the end of what stands now for the text before edge; see before

	counted int  // double quotes are counted up to here; see quoted
	inside  bool // and it is inside of one
}

// quoted says whether a JSON text would have i inside of a string: an odd number of double quotes are before it on its line that have no
// backslash. It may be asked of places some way before those that it was asked of earlier.
func (t *text) quoted(i int) bool {
	const far = 4 * context
	t.count(i - far)
	at, inside := min(t.counted, i), t.inside
	if n := bytes.LastIndexByte(t.b[at:i], '\n'); n >= 0 {
		at, inside = at+n, false
	}
	for at < i {
		at, inside = t.over(at, inside)
	}
	return inside
}

// count counts the double quotes up to a place.
func (t *text) count(upto int) {
	if upto <= t.counted {
		return
	}
	if n := bytes.LastIndexByte(t.b[t.counted:upto], '\n'); n >= 0 {
		t.counted, t.inside = t.counted+n, false
	}
	for t.counted < upto {
		t.counted, t.inside = t.over(t.counted, t.inside)
	}
}

// over goes over one character of JSON.
func (t *text) over(at int, inside bool) (int, bool) {
	switch t.b[at] {
	case '"':
		inside = !inside
	case '\\':
		if at+1 < len(t.b) && t.b[at+1] != '\n' {
			at++
		}
	case '\n':
		inside = false
	}
	return at + 1, inside
}

// before is the text before i as it is handed on, with markers in it. So what a look makes of it is the same when the text is read again.
func (t *text) before(i int) []byte {
	if i-context >= t.edge || t.edge <= 0 {
		return t.b[max(i-context, 0):i]
	}
	b := append(t.kept, t.b[t.edge:i]...)
	t.kept = b[:len(t.kept)]
	return b[max(len(b)-context, 0):]
}

// nextAt is the first @ at or after from, or the end of the text.
func (t *text) nextAt(from int) int {
	if t.sign < from {
		t.sign = len(t.b)
		if n := bytes.IndexByte(t.b[min(from, len(t.b)):], '@'); n >= 0 {
			t.sign = from + n
		}
	}
	return t.sign
}

// context is how far back from a place a look may read, and from its anchor a match may begin.
const context = 320

// back is the first place that a look at i may read.
func (t *text) back(i int) int { return max(t.edge, i-context, 0) }

// textOf is a whole text.
func textOf(b []byte) text { return text{b: b, done: true, sign: -1, hit: -1} }

// line is what stands before i on its line.
func (t *text) line(i int) []byte {
	before := t.before(i)
	return before[lineStart(before):]
}

// lineStart is where the last line of a command begins. A backslash at the end of a line joins it to the next.
func lineStart(b []byte) int {
	n := bytes.LastIndexByte(b, '\n')
	for n > 0 && b[n-1] == '\\' {
		n = bytes.LastIndexByte(b[:n], '\n')
	}
	return n + 1
}
