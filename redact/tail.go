package redact

import "strings"

// tail is the rest of a match whose end is not known when it is found: it is taken out as it comes, whatever its length.
type tail struct {
	class   *class // up to the first byte that is not of it; nil: none, or up to a quote
	escapes bool   // and up to a backslash that ends a line or a text: \n, \", \u0026
	quote   byte   // up to this quote, with so many backslashes before it, or to the end of the line; 0: none
	depth   int
	block   bool // or all lines that are indented more than indent, in a JSON string or not
	indent  int
	json    bool
	within  bool // and to the end of the JSON string that the quote is in
}

func (t tail) none() bool { return t.class == nil && t.quote == 0 && !t.block }

// eat says how much of b belongs to the tail, and whether it ends there.
func (t tail) eat(b []byte, done bool) (n int, ended bool) {
	if t.block {
		return t.eatBlock(b, done)
	}
	if t.quote != 0 {
		n, ended = closing(b, t)
		if !ended && done {
			return len(b), true
		}
		return n, ended
	}
	for t.class != nil && n < len(b) && t.class[b[n]] {
		if t.escapes && b[n] == '\\' {
			if n+1 == len(b) {
				return n, done
			}
			if c := b[n+1]; strings.IndexByte("nrtu\"'", c) >= 0 && (!t.class['\n'] || c != 'n' && c != 'r') {
				return n, true
			}
			n++
			if !t.class[b[n]] {
				return n, true
			}
		}
		n++
	}
	return n, n < len(b) || done || t.class == nil
}

// closing finds the end of a text in quotes: the quote that closes it, or one of a text around it, or the end of the line. Backslashes are before
// the opening quote in JSON inside of JSON. Without an end, n is what is surely before it.
func closing(b []byte, t tail) (n int, ended bool) {
	for n < len(b) {
		switch b[n] {
		case '\n', '\r':
			return n, true
		case t.quote:
			return n, true
		case '"':
			if t.within {
				return n, true
			}
			n++
		case '\\':
			run := 1
			for n+run < len(b) && b[n+run] == '\\' {
				run++
			}
			if n+run == len(b) {
				return n, false
			}
			if b[n+run] == t.quote {
				for level := 0; level <= t.depth; level = 2*level + 1 { // from the text around all others to this one
					if run%(2*level+2) == level {
						return n + run - level, true
					}
				}
				run++
			} else if run%2 == 1 {
				run++
			}
			n += run
		default:
			n++
		}
	}
	return n, false
}
