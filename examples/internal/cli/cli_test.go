package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"aesop/tracker"
)

func TestErrorsHaveTheirExitCode(t *testing.T) {
	problem := &Problem{Code: "word", Message: "it is so", Hint: "do that"}
	for name, test := range map[string]struct {
		err  error
		code int
		word string // of the document under --json
	}{
		"a problem":        {problem, Usage, "word"},
		"a refusal":        {&Exit{Code: Refused, Err: problem}, Refused, "word"},
		"a conflict":       {&tracker.ConflictError{Conflicts: []tracker.Conflict{{ID: "a"}}}, Refused, "internal"},
		"a lost claim":     {&tracker.LostError{IDs: []string{"a"}}, Refused, "internal"},
		"an interrupt":     {fmt.Errorf("wait: %w", context.Canceled), Stopped, "interrupted"},
		"a damaged file":   {&tracker.FileError{Code: "syntax", File: "f", Line: 1}, Usage, "syntax"},
		"an unknown error": {errors.New("disk on fire"), Usage, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			c := &Context{Stdout: &stdout, Stderr: &stderr, JSON: true}
			if code := c.fail("program", test.err); code != test.code {
				t.Errorf("exit code is %d, want %d", code, test.code)
			}
			if want := fmt.Sprintf(`"code": %q`, test.word); !strings.Contains(stdout.String(), want) {
				t.Errorf("document is %s, want %s", stdout.String(), want)
			}
			if !strings.HasPrefix(stderr.String(), "program: ") {
				t.Errorf("standard error is %q", stderr.String())
			}
		})
	}
}

type printing struct {
	JSON bool `name:"json"`
}

func (p printing) Run(c *Context) error {
	c.Print(1, func(w io.Writer) { fmt.Fprintln(w, "one") })
	return nil
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLostOutputIsNotGood(t *testing.T) {
	for _, args := range [][]string{{"print"}, {"print", "--json"}} {
		for want, stdout := range map[int]io.Writer{OK: io.Discard, Usage: full{}} {
			var stderr bytes.Buffer
			grammar := &struct {
				Print printing `cmd:""`
			}{}
			code := run(&Context{Context: t.Context(), Stdout: stdout, Stderr: &stderr}, "program", "", grammar, args)
			if code != want || (code == OK) != (stderr.Len() == 0) {
				t.Errorf("%v to %T: exit code is %d, want %d; %s", args, stdout, code, want, stderr.String())
			}
		}
	}
}

func TestSignalEndsTheContext(t *testing.T) {
	signals := make(chan os.Signal, 1)
	c := &Context{Context: t.Context(), Signals: signals}
	calm, release := c.UntilSignal()
	if calm.Err() != nil {
		t.Error("the context ended by itself")
	}
	release()
	signals <- os.Interrupt
	struck, release := c.UntilSignal()
	defer release()
	<-struck.Done()
	if c.Err() != nil {
		t.Error("the outer context ended too")
	}
}
