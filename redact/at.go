package redact

import "bytes"

// atSign is the look at each @: user:password@host, which every profile takes out, and where asked for name@host, an email address.
func atSign(pair, email *rule) look {
	local := localPart()
	return func(t *text, at int) (match, outcome) {
		begin := at
		for from := t.back(at); begin > from && local[t.b[begin-1]]; begin-- {
		}
		if begin = t.unescaped(begin); begin >= at {
			return match{}, no
		}
		c := cursor{t: t, i: at + 1}
		domain := c.word("tcp(") || c.word("unix(") || c.domain() // of Go's driver for MySQL; or a host
		if c.short {
			return match{}, more
		}
		if !domain {
			return match{}, no
		}
		name := t.b[begin:at]
		if colon := bytes.IndexByte(name, ':'); colon >= 0 && credentials(name[:colon], name[colon+1:]) {
			return match{start: begin, end: at, rule: pair}, yes
		}
		if email == nil {
			return match{}, no
		}
		begin = at - len(name) + bytes.LastIndexByte(name, ':') + 1
		for begin < at && !isWord(t.b[begin]) && t.b[begin] < 0x80 {
			begin++
		}
		if begin == at || c.peek(0) == ':' && !c.short { // git@host:path
			return match{}, c.say(no)
		}
		return match{start: begin, end: c.i, rule: email}, c.say(yes)
	}
}

// localPart is what may stand before the @ of an address or a password without a scheme.
func localPart() *class {
	var c class
	for i := range c {
		c[i] = isWord(byte(i)) || i >= 0x80
	}
	return c.and("._%+-:!#$*~^?")
}

// domain goes over a name with a top level of letters, or an address of the Internet.
func (c *cursor) domain() bool {
	begin, dot := c.i, -1
	for n := 0; n < 253; n++ {
		b := c.peek(0)
		if b == '.' && isWord(c.peek(1)) {
			dot = c.i
		} else if !isWord(b) && b != '-' && b < 0x80 {
			break
		}
		c.i++
	}
	if dot < 0 || c.short {
		return false
	}
	top := c.t.b[dot+1 : c.i]
	return dot > begin && len(top) >= 2 && letters(top) && !endsInFile(top)
}

// endsInFile says whether a last part is that of a file rather than of a domain: logo@2x.png.
func endsInFile(top []byte) bool {
	return oneOf(top, "png jpg jpeg gif svg webp js ts css go py service socket mount timer local lock json yaml yml html")
}

// credentials says whether a:b before an @ are a user and a password, and not a ratio, a port, a kind of address or a package.
func credentials(user, password []byte) bool {
	if len(user) == 0 || len(password) < 3 || !bytes.ContainsFunc(user, func(c rune) bool { return c >= 0x80 || isLetter(byte(c)) }) {
		return false
	}
	if n := bytes.LastIndexAny(user, "/="); n >= 0 {
		user = user[n+1:]
	}
	return !oneOf(user, "mailto email mail e-mail from to cc bcc user author by contact sip sips xmpp acct npm pkg reply-to sender owner git "+
		"workspace jsr file link name username login account smtp maintainer recipient")
}
