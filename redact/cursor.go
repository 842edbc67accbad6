package redact

// cursor reads forward in a text. Once it needed a byte that has not come, whatever it found is void.
type cursor struct {
	t     *text
	i     int
	short bool
}

// peek is the byte n after the cursor; 0 where there is none.
func (c *cursor) peek(n int) byte {
	if c.i+n < len(c.t.b) {
		return c.t.b[c.i+n]
	}
	c.short = c.short || !c.t.done
	return 0
}

// is goes over a byte if it is b.
func (c *cursor) is(b byte) bool {
	if c.peek(0) != b {
		return false
	}
	c.i++
	return true
}

// word goes over a word.
func (c *cursor) word(word string) bool {
	if !c.begins(word) {
		return false
	}
	c.i += len(word)
	return true
}

// blank goes over white space, of one line or of more, and says how much that was.
func (c *cursor) blank(lines bool) int {
	const most = 64
	n := 0
	for n < most {
		if b := c.peek(0); b != ' ' && b != '\t' && (!lines || b != '\n' && b != '\r') {
			break
		}
		c.i++
		n++
	}
	return n
}

// quote goes over a quote and the backslashes before it.
func (c *cursor) quote() (quote byte, depth int) {
	n := 0
	for n < 8 && c.peek(n) == '\\' {
		n++
	}
	b := c.peek(n)
	if b != '"' && b != '\'' && b != '`' {
		return 0, 0
	}
	c.i += n + 1
	return b, n
}

// say is o, unless the text was too short for it.
func (c *cursor) say(o outcome) outcome {
	if c.short {
		return more
	}
	return o
}

// begins says whether the text goes on with a word.
func (c *cursor) begins(word string) bool {
	for n := range len(word) {
		if c.peek(n) != word[n] {
			return false
		}
	}
	return true
}
