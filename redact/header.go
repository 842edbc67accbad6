package redact

import "bytes"

// header is the look at Authorization and Cookie and their kin, whose values have spaces and signs in them. The scheme stays.
func header(r *rule, ms markers) look {
	line := inRow().and(" \t;&,<>|}`")
	whole := line.and(`"'`)
	return func(t *text, at int) (match, outcome) {
		a, o := assigned(t, at, true)
		if o != yes || a.sign == ' ' {
			return match{}, cleared(o)
		}
		v := value{assignment: a, t: t}
		c := cursor{t: t, i: a.value}
		if a.quote == 0 && c.is('[') { // a printed map
			switch _, o := ms.at(t, a.value); o {
			case more:
				return match{}, more
			case yes:
				c.i--
			}
		}
		scheme := v.hasWord("authorization") && c.scheme()
		v.value = c.i
		if c.short {
			return match{}, more
		}
		set := line
		switch {
		case c.i > 0 && t.b[c.i-1] == '[':
			set = line.but("]")
		case a.quote == 0 && v.first():
			set = whole
		}
		if o := v.read(set); o != yes {
			return match{}, o
		}
		text := v.text
		if !set[']'] && v.end < len(t.b) && t.b[v.end] == ']' { // which may be that of a marker
			text = t.b[v.value : v.end+1]
		}
		if has := ms.in(trimmed(text)); has == judged || has == noMarker && !v.credential(scheme) || v.outside() {
			return match{}, no
		}
		return match{start: v.value, end: v.end, rule: r, tail: v.rest}, yes
	}
}

// scheme goes over the first of two words, and says whether it is a scheme that many use: Bearer, Basic.
func (c *cursor) scheme() (known bool) {
	const longest = 24
	n := 0
	for n < longest && (isWord(c.peek(n)) || c.peek(n) == '-') {
		n++
	}
	if n == 0 || c.peek(n) != ' ' || c.peek(n+1) <= ' ' {
		return false
	}
	known = oneOf(c.t.b[c.i:c.i+n], "bearer basic token digest apikey bot")
	c.i += n + 1
	return known
}

// credential says whether the value of a header can be one.
func (v *value) credential(scheme bool) bool {
	const word = 8 // letters that are hardly one of prose
	if len(v.text) < 4 || v.ordinary() {
		return false
	}
	if v.long || v.hasWord("authorization") {
		return v.quote != 0 || !code(v.text) && (!identifier(v.text) || scheme && len(v.text) >= word)
	}
	if v.quote == 0 && v.sign != ':' {
		return false
	}
	for pair := range bytes.SplitSeq(v.text, []byte{';'}) {
		if name, value, ok := bytes.Cut(bytes.TrimSpace(pair), []byte{'='}); ok && !attribute(name) && !(len(value) < 8 && identifier(value)) {
			return true
		}
	}
	return false
}

// attribute says whether this is the name of a cookie's attribute (RFC 6265) rather than of a cookie.
func attribute(name []byte) bool {
	for _, a := range []string{"expires", "max-age", "domain", "path", "samesite", "priority"} {
		if equalFold(name, a) {
			return true
		}
	}
	return false
}

// bearer is the look at the word Bearer outside of a header.
func bearer(r *rule) look {
	token := classOfToken()
	return func(t *text, at int) (match, outcome) {
		const least, most = 16, 64 // of what is judged
		c := cursor{t: t, i: at + len("bearer")}
		if !t.begins(at) || !c.is(' ') {
			return match{}, c.say(no)
		}
		figure := false
		for n := 0; n < most && (n < least || !figure); n++ {
			b := c.peek(n)
			if c.short {
				return match{}, more
			}
			if !token[b] && n < least {
				return match{}, no
			}
			if !token[b] {
				break
			}
			figure = figure || isDigit(b)
		}
		if !figure {
			return match{}, no
		}
		return match{start: c.i, end: c.i + least, rule: r, tail: tail{class: token}}, yes
	}
}

// classOfToken is what RFC 7235 allows in a token68.
func classOfToken() *class {
	var c class
	for i := range 0x80 {
		c[i] = isWord(byte(i))
	}
	return c.and("-._~+/=")
}
