package document

import (
	"errors"
	"strings"
	"testing"
)

func root(t *testing.T, text string) Node {
	t.Helper()
	doc, err := Parse("f.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root()
}

func TestNodesKnowTheirPlace(t *testing.T) {
	const text = "\ufeff// top\r\n{\r\n  \"a\": [1, /* c */ {\"b\": \"x\\n\"}],\r\n  \"é\": null,\r\n} // end"
	members, err := root(t, text).Object()
	if err != nil {
		t.Fatal(err)
	}
	if len(members) != 2 || members[0].Name != "a" || members[0].NameLine != 3 || members[1].NameLine != 4 {
		t.Fatalf("members are %+v", members)
	}
	if span := members[1].NameSpan; text[span.Start:span.End] != `"é"` {
		t.Errorf("the name is at %q", text[span.Start:span.End])
	}
	elements, err := members[0].Value.Array()
	if err != nil {
		t.Fatal(err)
	}
	inner, err := elements[1].Object()
	if err != nil {
		t.Fatal(err)
	}
	value := inner[0].Value
	if got, err := value.Text(); got != "x\n" || err != nil {
		t.Errorf("text is %q, %v", got, err)
	}
	if span := value.Span(); value.Field() != "a[1].b" || value.Line() != 3 || text[span.Start:span.End] != `"x\n"` {
		t.Errorf("%s on line %d is %q", value.Field(), value.Line(), text[span.Start:span.End])
	}
	if got := string(members[0].Value.JSON()); got != `[1,{"b":"x\n"}]` {
		t.Errorf("JSON is %s", got)
	}
	if !members[1].Value.Null() || members[0].Value.Null() {
		t.Error("null is mistaken")
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]string{
		"{}": "object", "[]": "array", `""`: "string", "-1.5e3": "number", "true": "boolean", "false": "boolean", "null": "null",
	} {
		if got := root(t, text).Kind(); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}

func TestValues(t *testing.T) {
	if got, err := root(t, `["a", "b"]`).Strings(); strings.Join(got, "") != "ab" || err != nil {
		t.Errorf("strings are %v, %v", got, err)
	}
	if got, err := root(t, "true").Bool(); !got || err != nil {
		t.Errorf("bool is %v, %v", got, err)
	}
	if got, err := root(t, "-9223372036854775808").Int(); got != -1<<63 || err != nil {
		t.Errorf("int is %v, %v", got, err)
	}
}

func TestShapeErrors(t *testing.T) {
	for _, tt := range []struct {
		text string
		read func(Node) error
		want string
	}{
		{"1", func(n Node) error { _, err := n.Object(); return err }, "f.json:1: is a number, must be an object"},
		{"null", func(n Node) error { _, err := n.Array(); return err }, "f.json:1: is null, must be an array"},
		{"[]", func(n Node) error { _, err := n.Text(); return err }, "f.json:1: is an array, must be a string"},
		{"\n[\n1]", func(n Node) error { _, err := n.Strings(); return err }, "f.json:3: [0]: is a number, must be a string"},
		{`"true"`, func(n Node) error { _, err := n.Bool(); return err }, "f.json:1: is a string, must be a boolean"},
		{"1.0", func(n Node) error { _, err := n.Int(); return err }, "f.json:1: is 1.0, must be a whole number"},
		{"9223372036854775808", func(n Node) error { _, err := n.Int(); return err }, "f.json:1: is 9223372036854775808, must be a whole number"},
		{"{\"a\": 1,\n\"\\u0061\": 2}", func(n Node) error { _, err := n.Object(); return err }, "f.json:2: a: the key stands twice, first on line 1 (remove one of them)"},
	} {
		err := tt.read(root(t, tt.text))
		var e *Error
		if !errors.As(err, &e) || e.Error() != tt.want {
			t.Errorf("%q: error is %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	members, err := root(t, "{\"a\": {\n\"modle\": 1, \"zzz\": 2}}").Object()
	if err != nil {
		t.Fatal(err)
	}
	inner, err := members[0].Value.Object()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`f.json:2: a.modle: no such key (did you mean "model"?)`, "f.json:2: a.zzz: no such key (known keys: model, seat)",
	} {
		if got := inner[i].Unknown([]string{"model", "seat"}).Error(); got != want {
			t.Errorf("error is %s, want %s", got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text, code string
		line             int
		says             string
	}{
		{"empty", "", "empty", 1, "empty"},
		{"mark only", "\ufeff\n", "empty", 1, "empty"},
		{"zeros", "\x00\x00", "encoding", 1, "only zero bytes"},
		{"a zero", "{\n\"\x00\"}", "encoding", 2, "a zero byte"},
		{"UTF-16", "\xfe\xff\x00[", "encoding", 1, "UTF-16"},
		{"UTF-16 without a mark", "\x00[\x00]", "encoding", 1, "UTF-16"},
		{"Latin-1", "\n\n\"\xfc\"", "encoding", 3, "not valid UTF-8"},
		{"cut", "[\n1,", "syntax", 2, "the end of the file is missing"},
		{"cut after a newline", "[\n1,\n", "syntax", 3, "the end of the file is missing"},
		{"wrong character", "[\n1,\n  x]", "syntax", 3, "column 3"},
		{"two values", "1\n2", "syntax", 2, "after top-level value"},
		{"deep", "\n" + strings.Repeat("[", maxDepth+1), "syntax", 2, "1000 levels"},
		{"very deep", strings.Repeat("{\"a\":[", 1_000_000), "syntax", 1, "1000 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", []byte(tt.text))
			var e *Error
			if !errors.As(err, &e) || e.Code != tt.code || e.File != "f" || e.Line != tt.line || !strings.Contains(e.Error(), tt.says) {
				t.Errorf("error is %+v", err)
			}
		})
	}
}

func TestParseTakesWhatPeopleWrite(t *testing.T) {
	for _, text := range []string{
		"[1,]", "{\"a\": 1, /* x */}", "[] // the last line has no end", "// first\n[]", "\ufeff[]", "[]\r\n", "/* [[[ */ [\"[[[{\\\"[\"] // {{{",
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), "[" + strings.Repeat("[],", 3*maxDepth) + "]",
	} {
		if _, err := Parse("f", []byte(text)); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestParseLeavesTheBytesAlone(t *testing.T) {
	text := "\ufeff[1] // x"
	buffer := append(make([]byte, 0, 100), text...)
	spare := append(buffer, "!!!!"...)
	if _, err := Parse("f", buffer); err != nil {
		t.Fatal(err)
	}
	if string(buffer) != text || string(spare) != text+"!!!!" {
		t.Errorf("the bytes are %q", spare)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"model", "maxItems", "todo", "in_progress"}
	for word, want := range map[string]string{
		"modle": "model", "MODEL": "model", "maxItem": "maxItems", "in-progress": "in_progress", "tod": "todo", "xyz": "", "": "", "q": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q is near %q, want %q", word, got, want)
		}
	}
	if got := Nearest("x", []string{"a"}); got != "" {
		t.Errorf("x is near %q, with which it shares nothing", got)
	}
}

// FuzzParse: no input ends the process, and what is read lies where it says.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"[1,]", "{\"a\": /* x */ \"b\"}", "\ufeff[] // x", "[\"\\\"", "/", "/*", "{\"a\":1,\"a\":2}", "\xff", "[\x00]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse("f", data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 {
				t.Errorf("error is %v", err)
			}
			return
		}
		var walk func(n Node, within Span)
		walk = func(n Node, within Span) {
			span := n.Span()
			if span.Start < within.Start || span.End > within.End || span.Start >= span.End {
				t.Fatalf("%s is at %v, outside of %v", n.Field(), span, within)
			}
			elements, _ := n.Array()
			for _, e := range elements {
				walk(e, span)
			}
			members, _ := n.Object()
			for _, m := range members {
				if data[m.NameSpan.Start] != '"' {
					t.Fatalf("the name %s does not begin with a quote", m.Name)
				}
				walk(m.Value, span)
			}
		}
		walk(doc.Root(), Span{Start: 0, End: len(data)})
	})
}

func TestNeed(t *testing.T) {
	doc, err := Parse("f.json", []byte("{\"a\": 1,\n \"b\": {\"c\": null}}"))
	if err != nil {
		t.Fatal(err)
	}
	top, err := doc.Root().Need("a", "b")
	if err != nil || len(top) != 2 || top["b"].Line() != 2 {
		t.Fatalf("%v, %v", top, err)
	}
	if _, err := top["b"].Need("c"); err != nil {
		t.Error(err)
	}
	for want, err := range map[string]error{"f.json:2: b.d: the key is missing": second(top["b"].Need("c", "d")), "f.json:1: e: the key is missing": second(doc.Root().Need("e")),
		"f.json:1: a: is a number, must be an object": second(top["a"].Need("x"))} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func second(_ map[string]Node, err error) error { return err }
