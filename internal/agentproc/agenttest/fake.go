//go:build unix

// Package agenttest is what tests of the drivers of agent programs share. Program makes a program that plays a Fake: it is the
// test's own binary, run again. Installed finds the real one.
//
//	func TestMain(m *testing.M) { agenttest.Main(m) }
package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// variable names the file of the Fake to be played.
const variable = "AESOP_TEST_FAKE_AGENT"

// Fake is what the program does, in the order of the fields.
type Fake struct {
	Seen   string            // file that gets what the program was given, as a Seen in JSON
	Prompt string            // path of a file that gets standard input
	Files  map[string]string // path to content
	Long   int               // prints a line of so many bytes
	Out    string            // prints
	Err    string            // prints to standard error
	Deaf   bool              // ignores SIGTERM from here on
	Talk   string            // prints for ever, every 100 ms
	Hang   bool
	Exit   int

	// Resumed is played instead where an argument contains the text.
	Resumed map[string]Fake
}

// Seen is what a program was given.
type Seen struct {
	Args  []string
	Env   []string
	Stdin string
}

// Main runs the tests of a package, and checks for leaked goroutines; in a child, the Fake.
func Main(m *testing.M) {
	file := os.Getenv(variable)
	if file == "" {
		goleak.VerifyTestMain(m)
		return
	}
	var f Fake
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	for text, other := range f.Resumed {
		if strings.Contains(strings.Join(os.Args[1:], "\x00"), text) {
			f = other
		}
	}
	if err := f.play(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(f.Exit)
}

func (f Fake) play() error {
	stdin, err := io.ReadAll(os.Stdin) // to its end, as the real programs do
	if err != nil {
		return err
	}
	if f.Seen != "" {
		data, _ := json.Marshal(Seen{Args: os.Args[1:], Env: os.Environ(), Stdin: string(stdin)})
		if err := os.WriteFile(f.Seen, data, 0o600); err != nil {
			return err
		}
	}
	if f.Prompt != "" {
		if err := os.WriteFile(f.Prompt, stdin, 0o600); err != nil {
			return err
		}
	}
	for name, text := range f.Files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if f.Long > 0 {
		_, _ = io.CopyN(os.Stdout, filler{}, int64(f.Long))
		fmt.Println()
	}
	fmt.Print(f.Out)
	fmt.Fprint(os.Stderr, f.Err)
	if f.Deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	if f.Talk != "" {
		for tick := time.NewTicker(100 * time.Millisecond); ; <-tick.C {
			fmt.Println(f.Talk)
		}
	}
	if f.Hang {
		<-time.After(time.Hour)
	}
	return nil
}

// filler is an endless line.
type filler struct{}

func (filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Program makes a program that plays f, and returns its file.
func Program(t testing.TB, f Fake) string {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(f)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "fake.json"), data, 0o600)
	}
	var self string
	if err == nil {
		self, err = os.Executable()
	}
	program := filepath.Join(dir, "agent")
	if err == nil {
		// Without the second variable, a program that is built for the race detector waits a second before it exits.
		text := fmt.Sprintf("#!/bin/sh\n%s=%s GORACE=atexit_sleep_ms=0 exec %s \"$@\"\n", variable, quote(filepath.Join(dir, "fake.json")), quote(self))
		syscall.ForkLock.RLock() // a child that is started meanwhile would hold the file open for writing, and it could not be run
		err = os.WriteFile(program, []byte(text), 0o700)
		syscall.ForkLock.RUnlock()
	}
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// ReadSeen reads the file that Fake.Seen named.
func ReadSeen(t testing.TB, file string) (s Seen) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}
