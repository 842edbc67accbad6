package redact

import "bytes"

// class is a set of bytes.
type class [256]bool

func classOf(members string) *class {
	var c class
	for i := range len(members) {
		c[members[i]] = true
	}
	return &c
}

func (c *class) but(members string) *class {
	other := *c
	for i := range len(members) {
		other[members[i]] = false
	}
	return &other
}

func (c *class) and(members string) *class {
	other := *c
	for i := range len(members) {
		other[members[i]] = true
	}
	return &other
}

// isWord says whether a byte is an ASCII letter or digit.
func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// isSpace says whether a byte is ASCII white space.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func (c *class) has(some string) bool {
	for i := range len(some) {
		if c[some[i]] {
			return true
		}
	}
	return false
}

func (c *class) members() (all []byte) {
	for b := range c {
		if c[b] {
			all = append(all, byte(b))
		}
	}
	return all
}

// single is the byte of a class that has one, or the lower case of its one letter.
func (c *class) single() (b byte, both, ok bool) {
	count := 0
	for i := range c {
		if !c[i] {
			continue
		}
		if count++; count > 2 {
			return 0, false, false
		}
		if both = count == 2 && isLetter(byte(i)) && b^0x20 == byte(i); count == 2 && !both {
			return 0, false, false
		}
		b = byte(i)
	}
	return b, both, count > 0
}

func letters(b []byte) bool {
	return !bytes.ContainsFunc(b, func(c rune) bool { return c < 0x80 && !isLetter(byte(c)) })
}
