package redact

// begins says whether a word can begin at i: no letter or digit stands before it, or one that ends an escape of some kind: \n, \u003c,
// %3D, ESC[0m.
func (t *text) begins(i int) bool {
	from := t.back(i)
	if i <= from || !isWord(t.b[i-1]) {
		return true
	}
	b := t.b[from:i]
	n := len(b)
	last := b[n-1]
	switch {
	case n >= 2 && b[n-2] == '\\' && (last == 'n' || last == 't' || last == 'r' || last == 'b' || last == 'f' || last == 'v' || last == 'a' || last == '0'):
		return true
	case n >= 3 && b[n-3] == '%' && isHex(b[n-2]) && isHex(last):
		return true
	case n >= 4 && b[n-4] == '\\' && (b[n-3] == 'x' || b[n-3] == '0') && isHex(b[n-2]) && isHex(last):
		return true
	case n >= 6 && b[n-6] == '\\' && b[n-5] == 'u' && isHex(b[n-4]) && isHex(b[n-3]) && isHex(b[n-2]) && isHex(last):
		return true
	}
	if last != 'm' && last != 'K' { // a terminal's colours
		return false
	}
	i = n - 2
	for i >= 0 && (isDigit(b[i]) || b[i] == ';') {
		i--
	}
	return i >= 0 && b[i] == '['
}

// escaped counts the backslashes that stand before i.
func (t *text) escaped(i int) int {
	from, n := t.back(i), 0
	for i-n > from && t.b[i-n-1] == '\\' {
		n++
	}
	return n
}

// escapes is how far whole may move the beginning of a match.
const escapes = 6

// whole moves the ends of a match off the middle of an escape, so that a JSON string stays one.
func (t *text) whole(start, end int) (int, int, outcome) {
	if t.escaped(start)%2 == 1 {
		start--
	} else {
		for n := 2; n <= 5 && start-n >= t.back(start); n++ { // inside of \u0041
			if t.b[start-n] == '\\' && t.b[start-n+1] == 'u' && t.escaped(start-n)%2 == 0 {
				start -= n
				break
			}
		}
	}
	if t.escaped(end)%2 == 1 && end > start {
		if end == len(t.b) && !t.done {
			return 0, 0, more
		}
		if end < len(t.b) && t.b[end] == '"' {
			end++
		}
	}
	return start, end, yes
}

// unescaped is i, or the end of the escape that i is the second byte of.
func (t *text) unescaped(i int) int {
	if t.escaped(i)%2 == 0 || i >= len(t.b) || t.b[i] >= 0x80 {
		return i
	}
	if t.b[i] == 'u' {
		return i + 5
	}
	return i + 1
}
