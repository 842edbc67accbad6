package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
)

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
