//go:build unix

package process

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestPipesEndWithTheChild waits without the limit that hides a forgotten end.
func TestPipesEndWithTheChild(t *testing.T) {
	cmd := exec.Command("cat")
	c := Command{Argv: cmd.Args, Stdin: strings.NewReader("")}
	streams, err := openPipes(&c, cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	streams.serve(c.Stdin)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	streams.served.Wait()
	streams.drain()
}

// TestNothingIsWrittenAfterTheDrain has a stranger write into the pipe of a child that is gone.
func TestNothingIsWrittenAfterTheDrain(t *testing.T) {
	var got bytes.Buffer
	s := sink{mu: new(sync.Mutex), w: &got, end: ring{size: 10}, heard: func() {}}
	s.write([]byte("in time"))
	tail := s.close()
	s.write([]byte("late"))
	if got.String() != "in time" || string(tail.Text) != "in time" {
		t.Errorf("got %q, tail %q", got.String(), tail.Text)
	}
}
