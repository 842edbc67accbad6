package redact

import "bytes"

// colours goes over a terminal's sequences that set colours, as they are or escaped.
func (c *cursor) colours() {
	const longest = 20
	for {
		n := 0
		for _, escape := range []string{"\x1b[", `\u001b[`, `\u001B[`, `\x1b[`, `\033[`, `\e[`} {
			if c.begins(escape) {
				n = len(escape)
				break
			}
		}
		if n == 0 {
			return
		}
		for n < longest && (isDigit(c.peek(n)) || c.peek(n) == ';') {
			n++
		}
		if c.peek(n) != 'm' {
			return
		}
		c.i += n + 1
	}
}

// attribute goes from name="NAME" to the value in another attribute, in the element, or in the part of a form (RFC 7578).
func (c *cursor) attribute(a *assignment, blank int) bool {
	before := bytes.TrimRight(c.t.before(a.begin), `\"'`)
	if !bytes.HasSuffix(before, []byte("name=")) && !bytes.HasSuffix(before, []byte("key=")) {
		return false
	}
	if blank > 0 {
		return c.word("value=") || c.word("content=")
	}
	return c.word("\r\n\r\n") || c.word("\n\n") || c.is('>')
}

// declared goes over what is between a name and its value in a declaration: password string =, password[32] =.
func (c *cursor) declared(blank int) bool {
	const longest = 24
	n := 0
	switch {
	case blank > 0 && (c.begins("string") || c.begins("String")):
		n = len("string")
	case blank == 0 && c.peek(0) == '[':
		for n++; n < longest && isDigit(c.peek(n)); n++ {
		}
		if c.peek(n) != ']' {
			return false
		}
		n++
	default:
		return false
	}
	for _, sign := range []string{` = "`, ` = '`, " = `"} {
		if at := (&cursor{t: c.t, i: c.i + n}); at.begins(sign) {
			c.i += n + len(" = ")
			return true
		} else if at.short {
			c.short = true
		}
	}
	return false
}

// setter says whether a name is that of a method that is given the value: setPassword("value").
func (c *cursor) setter(a *assignment) bool {
	if !c.begins(`("`) && !c.begins(`('`) {
		return false
	}
	name := a.name[bytes.LastIndexByte(a.name, '.')+1:]
	return len(name) > 4 && (equalFold(name[:3], "set") || equalFold(name[:4], "with")) || len(name) < len(a.name) && equalFold(name, "password")
}

// sql says whether this is PASSWORD 'value' in a statement about a user.
func (c *cursor) sql(a *assignment) bool {
	if c.peek(0) != '\'' || !equalFold(a.name, "password") {
		return false
	}
	line := c.t.line(a.begin)
	for _, word := range []string{"USER ", "ROLE ", "LOGIN ", "user ", "role "} {
		if bytes.Contains(line, []byte(word)) {
			return true
		}
	}
	return false
}

// tripled goes over the rest of three quotes, and the end of the line after them.
func (c *cursor) tripled(a *assignment) {
	if a.quote == 0 || a.depth > 0 || c.peek(0) != a.quote || c.peek(1) != a.quote {
		return
	}
	c.i += 2
	c.is('\r')
	c.is('\n')
}
