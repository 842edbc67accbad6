package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBaseline(t *testing.T) {
	for _, c := range []struct {
		text, err string
		want      map[row]int
	}{
		{text: "", want: map[row]int{}},
		{text: "a/b.go HALT 2\na/b.go tracker.json 10\na/c d.go locks/ 1\n",
			want: map[row]int{{"a/b.go", "HALT"}: 2, {"a/b.go", "tracker.json"}: 10, {"a/c d.go", "locks/"}: 1}},
		{text: "\n", err: "1: \"\" is not FILE NAME COUNT"},
		{text: "a.go HALT 1", err: "1: the last line has no end"},
		{text: "a.go HALT 1\n\n", err: "2: \"\" is not FILE NAME COUNT"},
		{text: "a.go HALT 1\r\n", err: "1: \"1\\r\" is not a count"},
		{text: "# a.go HALT\n", err: "1: \"HALT\" is not a count"},
		{text: "a.go HALT\n", err: "1: \"a.go HALT\" is not FILE NAME COUNT"},
		{text: "a.go HALT 0\n", err: "1: \"0\" is not a count"},
		{text: "a.go HALT -1\n", err: "is not a count"},
		{text: "a.go HALT 01\n", err: "is not a count"},
		{text: "a.go HALT +1\n", err: "is not a count"},
		{text: "a.go HALT 99999999999999999999\n", err: "is not a count"},
		{text: "a.go halt 1\n", err: "1: \"halt\" is none of the files that are watched"},
		{text: "a.go  HALT 1\n", want: map[row]int{{"a.go ", "HALT"}: 1}}, // a file may be called so
		{text: "/a.go HALT 1\n", err: "is not the path of a file below"},
		{text: "../a.go HALT 1\n", err: "is not the path of a file below"},
		{text: "a//b.go HALT 1\n", err: "is not the path of a file below"},
		{text: "./a.go HALT 1\n", err: "is not the path of a file below"},
		{text: "a\\b.go HALT 1\n", err: "is not the path of a file below"},
		{text: " HALT 1\n", err: "is not the path of a file below"},
		{text: "b.go HALT 1\na.go HALT 1\n", err: "2: the rows are not sorted"},
		{text: "a.go tracker.json 1\na.go HALT 1\n", err: "2: the rows are not sorted"},
		{text: "a.go HALT 1\na.go HALT 1\n", err: "2: the row is there twice"},
		{text: "a.go HALT 1\na.go HALT 2\n", err: "2: the row is there twice"},
		{text: "a.go HALT 1\n<<<<<<< ours\n", err: "2: "},
	} {
		got, err := parseBaseline(c.text)
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: error %v, want %q", c.text, err, c.err)
		case c.err == "" && !maps.Equal(got, c.want):
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		case c.err == "" && formatBaseline(got) != c.text:
			t.Errorf("%q is written as %q", c.text, formatBaseline(got))
		}
	}
}

// FuzzParseBaseline: what is read has one form.
func FuzzParseBaseline(f *testing.F) {
	f.Add("a/b.go HALT 2\na/b.go tracker.json 10\n")
	f.Add("a b.go locks/ 1\n")
	f.Add("a.go HALT 1")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := parseBaseline(text)
		if err == nil && formatBaseline(rows) != text {
			t.Errorf("%q is written as %q", text, formatBaseline(rows))
		}
	})
}

func TestUpdatedAndCompare(t *testing.T) {
	a, b, c := row{"a.go", "HALT"}, row{"b.go", "HALT"}, row{"b.go", "tracker.json"}
	rows, found := map[row]int{a: 3, b: 1}, map[row]int{a: 1, b: 2, c: 1}
	want := []difference{{"a.go", "HALT", 1, 3}, {"b.go", "HALT", 2, 1}, {"b.go", "tracker.json", 1, 0}}
	if diff := cmp.Diff(want, compare(rows, found)); diff != "" {
		t.Errorf("compare (-want +got):\n%s", diff)
	}
	if got := updated(rows, found, false); !maps.Equal(got, map[row]int{a: 1, b: 1}) {
		t.Errorf("updated: %v", got)
	}
	if got := updated(rows, found, true); !maps.Equal(got, found) {
		t.Errorf("updated, and grown: %v", got)
	}
	if got := compare(nil, nil); len(got) != 0 {
		t.Errorf("nothing differs from nothing in %v", got)
	}
}

func TestPosition(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		posn string
		want call
		ok   bool
	}{
		{root + "/a/b.go:3:7", call{File: "a/b.go", Line: 3, Column: 7}, true},
		{root + "/b.go:100", call{File: "b.go", Line: 100}, true},
		{root + "/b.go", call{}, false},
		{root + "x/b.go:1:1", call{}, false},
		{"", call{}, false},
	} {
		got, err := position(root, c.posn)
		if (err == nil) != c.ok {
			t.Errorf("%s: error %v", c.posn, err)
			continue
		}
		if c.ok && !cmp.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.posn, got, c.want)
		}
	}
}

// TestFindingsThatAreAnError: a package that the analyzer could not look at is no package without findings.
func TestFindingsThatAreAnError(t *testing.T) {
	root := t.TempDir()
	for _, said := range []string{`{"error": "out of luck"}`, `[{"category": "other", "posn": "` + root + `/a.go:1:1"}]`, `[{"category": "HALT", "posn": "-"}]`, `3`} {
		if calls, err := parseFindings(root, []byte(said)); err == nil {
			t.Errorf("%s: %v", said, calls)
		}
	}
	if calls, err := parseFindings(root, nil); err != nil || len(calls) != 0 {
		t.Errorf("nothing: %v, %v", calls, err)
	}
}
