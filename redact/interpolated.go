package redact

import "bytes"

// interpolated says whether a value is a template: it has parts like {name}, ${name}, <name>, %s or [0-9]{4}, and nothing beside them that
// could be a secret. Such text is in code, in messages and in documentation.
func interpolated(b []byte) bool {
	if len(b) > 2 && (b[0] == '`' || b[0] == '"' || b[0] == '\'') && (b[1] == '+' || b[1] == ' ' && b[2] == '+') { // text of code
		return true
	}
	if bytes.Contains(b, []byte("]{")) { // an expression
		return true
	}
	parts, counts, rest, figures := 0, 0, 0, false
	for i := 0; i < len(b); i++ {
		if end := partEnd(b, i); end > 0 {
			parts++
			if bytes.IndexByte(b[i:end], ':') > 0 { // {alnum:12}
				counts++
			}
			i = end - 1
			continue
		}
		if isWord(b[i]) {
			rest++
			figures = figures || isDigit(b[i])
		}
	}
	return parts > 0 && (counts == parts && rest < 8 || !figures && rest < 24)
}

// hasDefault says whether a reference has a value in it: ${NAME:-value}.
func hasDefault(b []byte) bool {
	_, value, found := bytes.Cut(b, []byte(":-"))
	return found && len(value) > 0 && value[0] != '}'
}

// partEnd is where the part of a template that begins at i ends; 0 where none begins.
func partEnd(b []byte, i int) int {
	const longest = 40
	rest := b[i:min(len(b), i+longest)]
	name := func(last byte) int {
		n := bytes.IndexByte(rest, last)
		if n < 0 && i+len(rest) == len(b) { // its end ended the value
			n = len(rest) - 1
		}
		if n < 2 {
			return 0
		}
		if inner := bytes.TrimLeft(rest[1:n], "{ .$"); len(inner) == 0 || !isLetter(inner[0]) || hasDefault(inner) {
			return 0
		}
		return i + n + 1
	}
	switch {
	case len(rest) < 2:
		return 0
	case rest[0] == '{':
		return name('}')
	case rest[0] == '<':
		return name('>')
	case rest[0] == '%' && bytes.IndexByte([]byte("svdqwx"), rest[1]) >= 0 && (len(rest) == 2 || !isWord(rest[2])):
		return i + 2
	case rest[0] == '$' && isLetter(rest[1]) && (i == 0 || !isWord(b[i-1]) && b[i-1] != '$'):
		n := 1
		for n < len(rest) && (isWord(rest[n]) || rest[n] == '_') {
			n++
		}
		return i + n
	}
	return 0
}
