package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestControlsAreTakenOut(t *testing.T) {
	for text, want := range map[string][2]string{
		"plain ü":         {"plain ü", "plain ü"},
		"a\nb\tc":         {"a b c", "a\nb\tc"},
		"a\r\nb\rc":       {"a  b c", "a\nb c"},
		"\x1b[2Ja\x07":    {" [2Ja ", " [2Ja "},
		"\u009b2Ja\x7f":   {" 2Ja ", " 2Ja "},
		"\x9b2J\xff":      {"\ufffd2J\ufffd", "\ufffd2J\ufffd"},
		"\x1b]0;title\a.": {" ]0;title .", " ]0;title ."},
	} {
		if got := OneLine(text); got != want[0] {
			t.Errorf("%q on one line is %q, want %q", text, got, want[0])
		}
		if got := Lines(text); got != want[1] {
			t.Errorf("lines of %q are %q, want %q", text, got, want[1])
		}
	}
}

type escaping struct{}

func (escaping) Run(c *Context) error {
	c.Print(nil, func(w io.Writer) { fmt.Fprint(w, "out \x1b[2J\n") })
	fmt.Fprint(c.Stderr, "progress \x1b[2J\n")
	return errors.New("error \x1b[2J")
}

// TestNothingForPeopleHasEscapes: whatever a command prints for people, no escape sequence passes.
func TestNothingForPeopleHasEscapes(t *testing.T) {
	var stdout, stderr bytes.Buffer
	grammar := &struct {
		Do escaping `cmd:""`
	}{}
	run(&Context{Context: t.Context(), Stdout: &stdout, Stderr: &stderr}, "program", "", grammar, []string{"do"})
	if got := stdout.String() + stderr.String(); got != "out  [2J\nprogress  [2J\nprogram: error  [2J\n" {
		t.Errorf("printed %q", got)
	}
}
