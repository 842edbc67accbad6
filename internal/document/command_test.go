package document

import (
	"slices"
	"testing"
)

func TestCommand(t *testing.T) {
	for text, want := range map[string]struct {
		shell string
		argv  []string
		says  string
	}{
		`"a | b"`:    {shell: "a | b"},
		`["a", "b"]`: {argv: []string{"a", "b"}},
		`""`:         {},
		`[]`:         {},
		`{}`:         {says: "f:1: is an object, must be a string (for sh -c) or an array of strings"},
		`null`:       {says: "f:1: is null, must be a string (for sh -c) or an array of strings"},
		`["a", 1]`:   {says: "f:1: [1]: is a number, must be a string"},
	} {
		doc, err := Parse("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		shell, argv, err := doc.Root().Command()
		if err != nil {
			if err.Error() != want.says {
				t.Errorf("%s: error is %v, want %s", text, err, want.says)
			}
			continue
		}
		if want.says != "" || shell != want.shell || !slices.Equal(argv, want.argv) {
			t.Errorf("%s: got %q and %q", text, shell, argv)
		}
	}
}
