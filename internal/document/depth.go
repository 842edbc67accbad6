package document

import "bytes"

// maxDepth bounds the nesting of a document. The parser descends by recursion, so without a bound a file of brackets would
// end the process.
const maxDepth = 1000

// tooDeep returns the offset of the first bracket beyond maxDepth, or -1.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			i = skipString(text, i)
		case '/':
			i = skipComment(text, i)
		}
	}
	return -1
}

// skipString returns the offset of the quote that ends the string at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// skipComment returns the offset of the last byte of the comment at i, or i where none begins.
func skipComment(text []byte, i int) int {
	end := []byte("\n")
	switch {
	case bytes.HasPrefix(text[i:], []byte("/*")):
		end = []byte("*/")
	case !bytes.HasPrefix(text[i:], []byte("//")):
		return i
	}
	n := bytes.Index(text[i+2:], end)
	if n < 0 {
		return len(text)
	}
	return i + 2 + n + len(end) - 1
}
