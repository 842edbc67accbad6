package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Node is one value of a document together with its place.
type Node struct {
	doc   *Document
	value *hujson.Value
	field string
}

// Member is one name and value of an object.
type Member struct {
	Name     string
	Value    Node
	NameLine int
	NameSpan Span // of the quoted name
}

// Span is a half-open range of bytes of the file.
type Span struct{ Start, End int }

// Line is the 1-based line on which the value begins.
func (n Node) Line() int { return n.doc.line(n.value.StartOffset) }

// Span is the range of bytes that the value takes in the file, without comments around it.
func (n Node) Span() Span { return Span{n.value.StartOffset, n.value.EndOffset} }

// Field is the path of the value in the document; empty for the root.
func (n Node) Field() string { return n.field }

// Errorf is a complaint of the given code about this value.
func (n Node) Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, File: n.doc.File, Line: n.Line(), Field: n.field, Message: fmt.Sprintf(format, args...)}
}

// Kind is one of object, array, string, number, boolean, null.
func (n Node) Kind() string {
	switch v := n.value.Value.(type) {
	case *hujson.Object:
		return "object"
	case *hujson.Array:
		return "array"
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			return "string"
		case '0':
			return "number"
		case 't', 'f':
			return "boolean"
		}
	}
	return "null"
}

func (n Node) want(kind string) error {
	if got := n.Kind(); got != kind {
		return n.Errorf("shape", "is %s, must be %s", article(got), article(kind))
	}
	return nil
}

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "object", "array":
		return "an " + kind
	}
	return "a " + kind
}

// Object returns the members in order; a name that stands twice is an error.
func (n Node) Object() ([]Member, error) {
	if err := n.want("object"); err != nil {
		return nil, err
	}
	object := n.value.Value.(*hujson.Object)
	members := make([]Member, 0, len(object.Members))
	seen := make(map[string]int, len(object.Members))
	for i := range object.Members {
		m := &object.Members[i]
		name := literalText(m.Name.Value.(hujson.Literal))
		child := Node{doc: n.doc, value: &m.Value, field: joinField(n.field, name)}
		line := n.doc.line(m.Name.StartOffset)
		if first, twice := seen[name]; twice {
			return nil, &Error{Code: "duplicate", File: n.doc.File, Line: line, Field: child.field,
				Message: fmt.Sprintf("the key stands twice, first on line %d", first), Hint: "remove one of them"}
		}
		seen[name] = line
		members = append(members, Member{
			Name: name, Value: child, NameLine: line, NameSpan: Span{m.Name.StartOffset, m.Name.EndOffset},
		})
	}
	return members, nil
}

// Need returns the members of an object by name. It is an error that names the first of the keys that the object lacks.
func (n Node) Need(keys ...string) (map[string]Node, error) {
	members, err := n.Object()
	if err != nil {
		return nil, err
	}
	byName := make(map[string]Node, len(members))
	for _, m := range members {
		byName[m.Name] = m.Value
	}
	for _, key := range keys {
		if _, ok := byName[key]; !ok {
			e := n.Errorf("missing_key", "the key is missing")
			e.Field = joinField(n.field, key)
			return nil, e
		}
	}
	return byName, nil
}

// Array returns the elements in order.
func (n Node) Array() ([]Node, error) {
	if err := n.want("array"); err != nil {
		return nil, err
	}
	array := n.value.Value.(*hujson.Array)
	nodes := make([]Node, len(array.Elements))
	for i := range array.Elements {
		nodes[i] = Node{doc: n.doc, value: &array.Elements[i], field: n.field + "[" + strconv.Itoa(i) + "]"}
	}
	return nodes, nil
}

// Text returns the text of a string.
func (n Node) Text() (string, error) {
	if err := n.want("string"); err != nil {
		return "", err
	}
	return literalText(n.value.Value.(hujson.Literal)), nil
}

// literalText is the text of a string that was parsed. Most have no escapes and need no second look.
func literalText(quoted hujson.Literal) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	return quoted.String()
}

// Strings returns an array of strings.
func (n Node) Strings() ([]string, error) {
	nodes, err := n.Array()
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(nodes))
	for i, node := range nodes {
		if texts[i], err = node.Text(); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Command returns a command in either of its forms: a line for sh -c, or an argument vector. Either may be empty.
func (n Node) Command() (shell string, argv []string, err error) {
	switch n.Kind() {
	case "string":
		shell, err = n.Text()
	case "array":
		argv, err = n.Strings()
	default:
		err = n.Errorf("shape", "is %s, must be a string (for sh -c) or an array of strings", article(n.Kind()))
	}
	return shell, argv, err
}

// Bool returns true or false.
func (n Node) Bool() (bool, error) {
	if err := n.want("boolean"); err != nil {
		return false, err
	}
	return n.value.Value.(hujson.Literal).Bool(), nil
}

// Int returns a whole number that fits in an int64.
func (n Node) Int() (int64, error) {
	if err := n.want("number"); err != nil {
		return 0, err
	}
	i, err := strconv.ParseInt(string(n.value.Value.(hujson.Literal)), 10, 64)
	if err != nil {
		return 0, n.Errorf("shape", "is %s, must be a whole number", n.value.Value.(hujson.Literal))
	}
	return i, nil
}

// Number returns a number that a float64 can hold.
func (n Node) Number() (float64, error) {
	if err := n.want("number"); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(n.value.Value.(hujson.Literal)), 64)
	if err != nil {
		return 0, n.Errorf("shape", "is %s, too large for a number", n.value.Value.(hujson.Literal))
	}
	return f, nil
}

// JSON returns the value as standard JSON, without comments.
func (n Node) JSON() json.RawMessage {
	clone := n.value.Clone()
	clone.Minimize()
	return json.RawMessage(clone.Pack())
}

// Null says whether the value is null.
func (n Node) Null() bool { return n.Kind() == "null" }

// Unknown is the error for a key that is not one of known; it names the nearest.
func (m Member) Unknown(known []string) *Error {
	e := &Error{Code: "unknown_key", File: m.Value.doc.File, Line: m.NameLine, Field: m.Value.field, Message: "no such key"}
	if near := Nearest(m.Name, known); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	} else {
		e.Hint = "known keys: " + strings.Join(known, ", ")
	}
	return e
}

func joinField(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}
