package redact

import "bytes"

// farthestEnd is how far from its beginning the end of a private key is looked for: one of RSA with 16,384 bits has 13 kilobytes.
const farthestEnd = 24 << 10

const (
	beginPrivate = "-----BEGIN "
	privateKey   = "PRIVATE KEY"
	endPrivate   = "-----END "
)

// privateKeyBlock is the look at the first line of a private key in PEM or in OpenPGP's armor. All up to its last line goes, whatever
// prefix a log has put before each line; without a last line, what can be of a key.
func privateKeyBlock(r *rule) look {
	body := classOfToken().and("\r\n\\")
	return func(t *text, at int) (match, outcome) {
		head := at + len(beginPrivate)
		if o := headline(t, head); o != yes {
			return match{}, o
		}
		upto := min(len(t.b), head+farthestEnd)
		rest := t.b[head:upto]
		if n := bytes.Index(rest, []byte(beginPrivate)); n >= 0 { // the next one
			rest = rest[:n]
		} else if !t.done && upto == len(t.b) && upto < head+farthestEnd && !bytes.Contains(rest, []byte(endPrivate)) {
			return match{}, more
		}
		n := bytes.Index(rest, []byte(endPrivate))
		if n >= 0 {
			c := cursor{t: t, i: head + n + len(endPrivate)}
			for begin := c.i; c.i-begin < 40 && (isWord(c.peek(0)) || c.peek(0) == ' '); c.i++ {
			}
			c.word("-----")
			end := c.i
			if one := oneText(rest[:n], &c); one || c.short {
				return match{start: at, end: end, rule: r}, c.say(yes)
			}
		}
		end := head + bytes.Index(t.b[head:], []byte(privateKey)) + len(privateKey)
		return match{start: at, end: end, rule: r, tail: tail{class: body, escapes: true}}, yes
	}
}

// headline says whether a line that begins a block of PEM names a private key.
func headline(t *text, i int) outcome {
	c := cursor{t: t, i: i}
	for c.i-i < 40 {
		if c.word(privateKey) {
			return c.say(yes)
		}
		if b := c.peek(0); !isWord(b) && b != ' ' {
			return c.say(no)
		}
		c.i++
	}
	return c.say(no)
}

// oneText says whether what is between two places is one text, if maybe in pieces that code joins or a list holds: taking it out leaves
// the quotes around it a pair, and JSON as JSON. c is where it ends.
func oneText(b []byte, c *cursor) bool {
	inside, list := true, false
	for piece := range bytes.SplitSeq(b, []byte{'"'}) {
		if !inside {
			if len(bytes.Trim(piece, ",+.\\ \t\r\n")) > 0 {
				return false
			}
			list = list || bytes.IndexByte(piece, ',') >= 0
		}
		inside = !inside
	}
	return !inside && (!list || !c.key())
}

// key says whether the JSON string around the cursor is the name of a member, or too long to tell.
func (c *cursor) key() bool {
	for range seen {
		switch c.peek(0) {
		case '"':
			c.i++
			c.blank(true)
			return c.peek(0) == ':'
		case '\\':
			c.i++
		}
		c.i++
	}
	return true
}
