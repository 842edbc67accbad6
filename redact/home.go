package redact

// homeFolder is the look at the folder of all home folders: the name of the person comes next.
func homeFolder(r *rule) look {
	return func(t *text, at int) (match, outcome) {
		const longest = 64
		c := cursor{t: t, i: at}
		sign := c.peek(0)
		for c.peek(0) == sign {
			c.i++
		}
		for isWord(c.peek(0)) {
			c.i++
		}
		for c.peek(0) == sign {
			c.i++
		}
		begin := c.i
		for c.i-begin < longest && (isWord(c.peek(0)) || c.peek(0) >= 0x80 || c.peek(0) == '.' || c.peek(0) == '-' || c.peek(0) == '_') {
			c.i++
		}
		if c.i == begin {
			return match{}, c.say(no)
		}
		c.restOfName(sign)
		return match{start: begin, end: c.i, rule: r}, c.say(yes)
	}
}

// restOfName goes over the words after the first of a name, if the folder ends soon after them: Bob Smith/.
func (c *cursor) restOfName(sign byte) {
	const longest = 32
	for n := 0; n < longest; n++ {
		switch b := c.peek(n); {
		case b == sign && n > 0:
			c.i += n
			return
		case b != ' ' && !isWord(b) && b < 0x80:
			return
		}
	}
}
