// Package document reads the JSON files that people edit (backlog, configuration, script): strict about shape, lenient
// about comments, trailing commas, a byte order mark and CRLF. Every complaint is an *Error that names file, line and field.
package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Error is one defect of a document. The zero Line means that the defect has no place in the file (it is missing, say).
type Error struct {
	// Code is a stable word: missing, unreadable, empty, encoding, syntax, shape, unknown_key, duplicate, schema_version; and
	// usage for one that stands on a command line.
	Code    string
	File    string
	Line    int    // 1-based
	Field   string // path in the document, such as items[2].ownsFiles
	Message string // what is wrong, in lower case
	Hint    string // what to do next
	Err     error  // the cause, or nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ": %s", e.Field)
	}
	fmt.Fprintf(&b, ": %s", e.Message)
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Document is a parsed file.
type Document struct {
	File string
	data []byte // as read, but with a byte order mark blanked so that offsets hold
	ends []int  // offsets of the newlines, ascending
	root hujson.Value
}

// Parse reads data, which came from file. The bytes are not kept changed: offsets of nodes are offsets into data.
func Parse(file string, data []byte) (*Document, error) {
	text, err := checkEncoding(file, data)
	if err != nil {
		return nil, err
	}
	d := &Document{File: file, data: text, ends: newlines(text)}
	if offset := tooDeep(text); offset >= 0 {
		return nil, &Error{Code: "syntax", File: file, Line: d.line(offset), Message: fmt.Sprintf("more than %d levels deep", maxDepth)}
	}
	ended := text
	if !bytes.HasSuffix(text, []byte("\n")) {
		ended = append(slices.Clip(text), '\n') // the parser wants every line comment ended, even on the last line
	}
	if d.root, err = hujson.Parse(ended); err != nil {
		return nil, syntaxError(file, text, err)
	}
	return d, nil
}

// Root is the document's outermost value.
func (d *Document) Root() Node { return Node{doc: d, value: &d.root} }

func (d *Document) line(offset int) int {
	n, _ := slices.BinarySearch(d.ends, offset)
	return 1 + n
}

func newlines(text []byte) []int {
	ends := make([]int, 0, bytes.Count(text, []byte("\n")))
	for i, c := range text {
		if c == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

var (
	utf8Mark  = []byte{0xEF, 0xBB, 0xBF}
	utf16LE   = []byte{0xFF, 0xFE}
	utf16BE   = []byte{0xFE, 0xFF}
	markBlank = []byte("   ")
)

func checkEncoding(file string, data []byte) ([]byte, error) {
	fail := func(code, message, hint string, line int) error {
		return &Error{Code: code, File: file, Line: line, Message: message, Hint: hint}
	}
	if bytes.HasPrefix(data, utf16LE) || bytes.HasPrefix(data, utf16BE) || looksUTF16(data) {
		return nil, fail("encoding", "the file is UTF-16", "save it as UTF-8", 1)
	}
	text := data
	if bytes.HasPrefix(data, utf8Mark) {
		text = append(append([]byte(nil), markBlank...), data[len(utf8Mark):]...)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fail("empty", "the file is empty", "restore it from a backup or write a new one", 1)
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		if len(bytes.Trim(text, "\x00")) == 0 {
			return nil, fail("encoding", "the file holds only zero bytes", "restore it from a backup; a crash of the machine can leave this", 1)
		}
		return nil, fail("encoding", "the file holds a zero byte", "remove it", 1+bytes.Count(text[:i], []byte("\n")))
	}
	if !utf8.Valid(text) {
		return nil, fail("encoding", "the file is not valid UTF-8", "save it as UTF-8", 1+bytes.Count(text[:firstInvalid(text)], []byte("\n")))
	}
	return text, nil
}

func looksUTF16(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	return data[0] != 0 && data[1] == 0 && data[2] != 0 && data[3] == 0 || data[0] == 0 && data[1] != 0 && data[2] == 0 && data[3] != 0
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// syntaxError turns the parser's complaint into ours. The parser words it "hujson: line L, column C: what".
func syntaxError(file string, text []byte, err error) error {
	message := strings.TrimPrefix(err.Error(), "hujson: ")
	var line, column int
	if n, _ := fmt.Sscanf(message, "line %d, column %d:", &line, &column); n == 2 {
		_, message, _ = strings.Cut(message, ": ")
		line = min(line, 1+bytes.Count(text, []byte("\n"))) // the parser may have seen one more
	}
	hint := fmt.Sprintf("look at column %d", column)
	if line >= 1+bytes.Count(bytes.TrimRight(text, "\r\n\t "), []byte("\n")) && strings.Contains(message, "EOF") {
		hint = "the end of the file is missing"
	}
	return &Error{Code: "syntax", File: file, Line: line, Message: message, Hint: hint, Err: err}
}
