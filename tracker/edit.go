package tracker

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"aesop/internal/document"
)

// This file edits the text of one JSON object or array without touching more bytes than the edit needs: comments, unknown
// members, line ends, indentation and trailing commas stay. Each function takes a text whose outermost value is the object or
// array, and returns a new text.

// setMember gives the member the JSON value. Where the object has no such member, it is added after the last one, in the
// layout of its neighbours.
func setMember(text []byte, name, value string) ([]byte, error) {
	members, closing, err := objectParts(text)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Name == name {
			return splice(text, m.Value.Span(), value), nil
		}
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("add %s: the object is empty", name)
	}
	last := members[len(members)-1]
	colon := ": "
	if between := string(text[last.NameSpan.End:last.Value.Span().Start]); strings.Trim(between, " \t:") == "" {
		colon = between
	}
	added := leadIn(text, last.NameSpan.Start, members[0].NameSpan.Start) + quote(name) + colon + value
	return insertAfter(text, last.Value.Span().End, closing, added), nil
}

// removeMember takes the member out with its comma, and with its line where nothing else stands on it.
func removeMember(text []byte, name string) ([]byte, error) {
	members, closing, err := objectParts(text)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(members, func(m document.Member) bool { return m.Name == name })
	if at < 0 {
		return text, nil
	}
	cut := document.Span{Start: members[at].NameSpan.Start, End: members[at].Value.Span().End}
	comma := commaAfter(text, cut.End, closing)
	if comma < 0 && at > 0 {
		comma = commaAfter(text, members[at-1].Value.Span().End, cut.Start)
	}
	cuts := []document.Span{cut}
	switch {
	case comma == cut.End:
		cuts[0].End++
	case comma >= 0:
		cuts = append(cuts, document.Span{Start: comma, End: comma + 1})
	}
	cuts[0] = wholeLine(text, cuts[0])
	slices.SortFunc(cuts, func(a, b document.Span) int { return b.Start - a.Start })
	for _, c := range cuts {
		text = splice(text, c, "")
	}
	return text, nil
}

// appendElement adds a JSON value at the end of the array at list, whose elements have the given spans.
func appendElement(text []byte, list document.Span, elements []document.Span, value string, l layout) []byte {
	if len(elements) == 0 {
		return insertFirst(text, list, value, l)
	}
	last := elements[len(elements)-1]
	return insertAfter(text, last.End, list.End-1, leadIn(text, last.Start, elements[0].Start)+value)
}

// objectParts returns the members of the object that text is, and the offset of its closing brace.
func objectParts(text []byte) ([]document.Member, int, error) {
	doc, err := document.Parse("", text)
	if err != nil {
		return nil, 0, err
	}
	members, err := doc.Root().Object()
	return members, doc.Root().Span().End - 1, err
}

func splice(text []byte, at document.Span, with string) []byte {
	return slices.Concat(text[:at.Start], []byte(with), text[at.End:])
}

// leadIn is the white space that stands before the value or name at offset last, which the next one shall have too: a line
// end with indentation, or blanks. Where only one value is there, what stands before it is no example for blanks.
func leadIn(text []byte, last, first int) string {
	start := last
	for start > 0 && (text[start-1] == ' ' || text[start-1] == '\t') {
		start--
	}
	indent := string(text[start:last])
	switch {
	case start > 1 && text[start-1] == '\n' && text[start-2] == '\r':
		return "\r\n" + indent
	case start > 0 && text[start-1] == '\n':
		return "\n" + indent
	case last == first && indent == "":
		return "" // {"a":1}: compact
	case last == first || indent == "" && text[start-1] != ',':
		return " "
	}
	return indent
}

// insertAfter adds a value behind the one that ends at end, in a composite that closes at closing. A comma that is there
// stays a trailing one. What a person wrote behind the last value on its line stays there.
func insertAfter(text []byte, end, closing int, added string) []byte {
	comma := commaAfter(text, end, closing)
	at := end
	if strings.ContainsAny(added[:1], "\r\n") {
		at = endOfLine(text, end, closing, comma)
	} else if comma >= 0 {
		at = comma + 1
	}
	if comma >= 0 {
		if at <= comma {
			at = comma + 1
		}
		return splice(text, document.Span{Start: at, End: at}, added+",")
	}
	text = splice(text, document.Span{Start: at, End: at}, added)
	return splice(text, document.Span{Start: end, End: end}, ",")
}

// endOfLine is where the last comma or comment ends that stands on the line of end, which is the end of a value.
func endOfLine(text []byte, end, closing, comma int) int {
	at := end
	for i := end; i < closing; {
		switch {
		case text[i] == '\n':
			return at
		case text[i] == '/':
			n := commentLength(text[i:closing])
			if body := bytes.TrimRight(text[i:i+n], "\r\n"); bytes.ContainsRune(body, '\n') {
				return at // a comment of several lines belongs to what follows
			} else if i += n; n > len(body) {
				return i - n + len(body)
			}
			at = i
		case i == comma:
			i++
			at = i
		default:
			i++
		}
	}
	return at
}

// commaAfter is the offset of the comma between offset from, the end of a value, and offset to, or -1.
func commaAfter(text []byte, from, to int) int {
	for i := from; i < to; {
		switch text[i] {
		case ',':
			return i
		case '/':
			i += commentLength(text[i:to])
		default:
			i++
		}
	}
	return -1
}

// commentLength is the length of the comment that text begins with, with the line end of a line comment.
func commentLength(text []byte) int {
	end := []byte("\n")
	if bytes.HasPrefix(text, []byte("/*")) {
		end = []byte("*/")
	}
	if n := bytes.Index(text[2:], end); n >= 0 {
		return 2 + n + len(end)
	}
	return len(text)
}

// wholeLine widens a cut to what would be left of its line as white space, or to the blanks before it.
func wholeLine(text []byte, cut document.Span) document.Span {
	start, end := cut.Start, cut.End
	for start > 0 && (text[start-1] == ' ' || text[start-1] == '\t') {
		start--
	}
	for end < len(text) && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r') {
		end++
	}
	atStart, atEnd := start > 0 && text[start-1] == '\n', end < len(text) && text[end] == '\n'
	switch {
	case atStart && atEnd:
		return document.Span{Start: start, End: end + 1}
	case atStart:
		return cut // a comment or another member follows and keeps the indentation
	}
	return document.Span{Start: start, End: cut.End}
}

// insertFirst puts a value on lines of its own into an array without elements.
func insertFirst(text []byte, list document.Span, value string, l layout) []byte {
	inside := document.Span{Start: list.Start + 1, End: list.End - 1}
	if len(bytes.TrimSpace(text[inside.Start:inside.End])) > 0 {
		inside.End = inside.Start // a comment stands in it and stays
	}
	added := l.newline + l.indent + value
	if inside.End == list.End-1 {
		added += l.newline + strings.TrimSuffix(l.indent, l.step)
	}
	return splice(text, inside, added)
}
