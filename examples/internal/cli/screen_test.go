package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/examples/internal/cli"
	"aesop/examples/internal/clitest"
)

func TestScreen(t *testing.T) {
	columns, rows := 20, 5
	terminal := &clitest.Terminal{Columns: columns}
	screen := cli.NewScreen(terminal, func() (int, int) { return columns, rows })
	want := func(lines ...string) {
		t.Helper()
		if diff := cmp.Diff(strings.Join(lines, "\n")+"\n", strings.TrimRight(terminal.String(), "\n")+"\n"); diff != "" {
			t.Errorf("wanted (-), shown (+):\n%s", diff)
		}
	}
	fmt.Fprintln(screen, "before")
	screen.Draw([]string{"a  works", "b  works"})
	want("before", "a  works", "b  works")
	screen.Draw([]string{"a  done", "b  works and works for very long"})
	want("before", "a  done", "b  works and works…")
	fmt.Fprint(screen, "half ")
	want("before", "a  done", "b  works and works…")
	fmt.Fprint(screen, "a line\nand \x1b[2Jmore\n")
	want("before", "half a line", "and  [2Jmore", "a  done", "b  works and works…")
	screen.Draw([]string{"1", "2", "3", "4", "5", "6"})
	want("before", "half a line", "and  [2Jmore", "1", "2", "3", "… and 3 more")
	talk, release := screen.Hold()
	fmt.Fprint(talk, "yes? ")
	screen.Draw([]string{"unseen"})
	want("before", "half a line", "and  [2Jmore", "yes?")
	fmt.Fprint(screen, "news\nhalf")
	fmt.Fprint(talk, "no? ")
	fmt.Fprintln(talk, "\x1b[7mno")
	want("before", "half a line", "and  [2Jmore", "yes?", "news", "no?  [7mno")
	release()
	want("before", "half a line", "and  [2Jmore", "yes?", "news", "no?  [7mno", "unseen")
	fmt.Fprint(screen, " the end")
	screen.Close()
	want("before", "half a line", "and  [2Jmore", "yes?", "news", "no?  [7mno", "half the end")
	if unknown := terminal.Unknown(); len(unknown) > 0 {
		t.Errorf("sequences %q", unknown)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{
		{"plain", 5, "plain"}, {"plain", 4, "pla…"}, {"plain", 1, "…"}, {"plain", 0, ""}, {"plain", -3, ""}, {"", 0, ""},
		{"漢字かな", 8, "漢字かな"}, {"漢字かな", 7, "漢字か…"}, {"漢字かな", 6, "漢字…"}, {"e\u0301e\u0301", 2, "e\u0301e\u0301"}, {"a\tb\x1b[1mc", 9, "a b [1mc"},
	} {
		if got := cli.Cut(tt.text, tt.columns); got != tt.want || cli.Columns(got) > max(tt.columns, 0) {
			t.Errorf("%q in %d columns is %q, want %q", tt.text, tt.columns, got, tt.want)
		}
	}
}
