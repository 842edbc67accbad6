// Package cli is what the example binaries share: parsing, the table of exit codes, and the rule that machine output goes to
// standard output and everything else to standard error.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"aesop"
	"aesop/redact"
	"aesop/tracker"
	"aesop/wave"
)

// Exit codes. They are those of the built binary: go run turns every failure into 1.
const (
	OK      = 0 // good, nothing to do, or an idempotent repeat
	NotGood = 1 // findings, or not all items are good
	Usage   = 2 // usage, or it could not be evaluated
	Stopped = 3 // HALT, ceiling, interrupt
	Refused = 4 // refused, or a conflict
)

// Context is what a command gets.
type Context struct {
	context.Context
	Stdin  io.Reader
	Stdout io.Writer // machine output, and what was asked for
	Stderr io.Writer // progress and diagnostics, without secrets and control characters
	JSON   bool
	// Redactor takes secrets out of all that is printed. It knows those of the program's environment; what else is to be hidden is told to it.
	Redactor *redact.Redactor
	Signals  <-chan os.Signal // SIGINT and SIGTERM

	Interactive bool    // standard input and standard error are a terminal: somebody can be asked
	Screen      *Screen // draws on standard error; nil where that is no terminal, or the person wants plain lines
}

// UntilSignal is the context for a command that has nothing to finish: it ends at the first signal. Call release in the end.
func (c *Context) UntilSignal() (inner *Context, release func()) {
	ctx, cancel := context.WithCancel(c.Context)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-c.Signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	copied := *c
	copied.Context = ctx
	return &copied, func() { cancel(); <-gone }
}

// Exit ends a command with a code other than that of its error.
type Exit struct {
	Code int
	Err  error // printed; nil: the command has said all
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// Problem is an error with its code and what to do next.
type Problem struct {
	Code    string
	Message string
	Hint    string
}

func (p *Problem) Error() string {
	if p.Hint == "" {
		return p.Message
	}
	return fmt.Sprintf("%s (%s)", p.Message, p.Hint)
}

// Main runs the command line args (without the program's name) of the grammar and returns the exit code.
func Main(name, description string, grammar any, args []string) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	c := &Context{Context: context.Background(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Signals: signals}
	c.findTerminals(os.Stdin, os.Stderr, os.LookupEnv)
	return run(c, name, description, grammar, args)
}

// helpAsked unwinds the parser after it printed help.
type helpAsked struct{}

func run(c *Context, name, description string, grammar any, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(helpAsked); !ok {
				panic(p)
			}
			code = OK
		}
	}()
	if err := c.secretless(os.Environ()); err != nil {
		fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
		return Usage
	}
	c.Stderr = people{c.Stderr, c.Redactor}
	if c.Screen != nil {
		c.Screen.clean = c.Redactor.String
		c.Stderr = c.Screen
		defer c.Screen.Close()
	}
	parser, err := kong.New(grammar, kong.Name(name), kong.Description(description), kong.Vars{"drivers": strings.Join(aesop.Drivers(), ", ")}, kong.Writers(c.Stdout, c.Stderr),
		kong.Exit(func(int) { panic(helpAsked{}) }), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}), kong.UsageOnError())
	if err != nil {
		fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
		return Usage
	}
	args = negative(args)
	for _, a := range args {
		c.JSON = c.JSON || a == "--json" || a == "--json=true"
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return c.fail(name, &Problem{Code: "usage", Message: err.Error(), Hint: fmt.Sprintf("see %s --help", name)})
	}
	out := &output{to: c.Stdout}
	c.Stdout = out
	err = parsed.Run(c)
	if err == nil && out.err != nil {
		err = &Problem{Code: "output", Message: fmt.Sprintf("it is done, but what it prints is lost: %v", out.err)}
	}
	return c.fail(name, err)
}

// negative joins a flag and the number below zero behind it, which would be taken for a flag by itself: the command says what it must be.
func negative(args []string) []string {
	var joined []string
	for _, a := range args {
		last := len(joined) - 1
		if len(a) > 1 && a[0] == '-' && '0' <= a[1] && a[1] <= '9' && last >= 0 && len(joined[last]) > 2 && strings.HasPrefix(joined[last], "--") && !strings.Contains(joined[last], "=") {
			joined[last] += "=" + a
			continue
		}
		joined = append(joined, a)
	}
	return joined
}

// output remembers that a write failed, so that a lost answer is not taken for a good one.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// fail prints an error and returns its exit code; nil is OK.
func (c *Context) fail(name string, err error) int {
	if err == nil {
		return OK
	}
	code := codeOf(err)
	if exit, ok := errors.AsType[*Exit](err); ok {
		if exit.Err == nil {
			return exit.Code
		}
		err = exit.Err
	}
	explained := explain(err)
	if c.JSON {
		c.document(struct {
			SchemaVersion int               `json:"schemaVersion"`
			Outcome       string            `json:"outcome"`
			Error         *wave.ReportError `json:"error"`
		}{wave.SchemaVersion, "error", explained})
	}
	fmt.Fprintf(c.Stderr, "%s: %v\n", name, err)
	if flag := flagFor(explained.Code); flag != "" {
		fmt.Fprintf(c.Stderr, "  the flag is %s\n", flag)
	}
	return code
}

// flagFor is the flag by which to name what the library asks for, or empty.
func flagFor(code string) string {
	switch code {
	case "not_a_repository":
		return "--repo DIR"
	case "no_state":
		return "--state DIR"
	case "unknown_driver":
		return "--driver NAME"
	}
	return ""
}

func explain(err error) *wave.ReportError {
	if p, ok := errors.AsType[*Problem](err); ok {
		return &wave.ReportError{Code: p.Code, Message: p.Message, Hint: p.Hint}
	}
	if errors.Is(err, context.Canceled) {
		return &wave.ReportError{Code: "interrupted", Message: err.Error()}
	}
	return wave.Explain(err)
}

func codeOf(err error) int {
	if exit, ok := errors.AsType[*Exit](err); ok {
		return exit.Code
	}
	if _, ok := errors.AsType[*tracker.ConflictError](err); ok {
		return Refused
	}
	if _, ok := errors.AsType[*tracker.LostError](err); ok {
		return Refused
	}
	if _, ok := errors.AsType[*wave.AliveError](err); ok {
		return Refused
	}
	if _, ok := errors.AsType[*wave.RefusedError](err); ok {
		return Refused
	}
	if errors.Is(err, context.Canceled) {
		return Stopped
	}
	return Usage
}

func (c *Context) document(v any) {
	var text bytes.Buffer
	c.encoded(&text, v)
	_, _ = c.Stdout.Write(c.Redactor.JSON(text.Bytes())) // Stdout remembers what went wrong
}

func (c *Context) encoded(to io.Writer, v any) {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		fmt.Fprintf(c.Stderr, "write the document: %v\n", err)
	}
}

// WriteJSON writes a value on one line.
func WriteJSON(w io.Writer, v any) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		fmt.Fprintln(w, err)
	}
}
