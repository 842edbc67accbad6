package agentproc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"aesop/driver"
	"aesop/driver/process"
)

// Talk is one run of an agent's program as its own words tell it.
type Talk interface {
	Listener
	// Began says whether the program took the task up; before that it can be run again at no cost.
	Began() bool
	// Trouble is the last thing that the program complained about, such as a connection that it waits for, or "".
	Trouble() string
	// Said is what came of the task by the program's words so far; the error is nil where it is done and content.
	Said() (driver.Result, error)
}

// Program is an agent's program that reads its prompt from standard input and talks in JSON lines.
type Program struct {
	Name    string // of its file
	Install string // how a person gets it
	Env     []string
	Linger  time.Duration // see Listen; 0: Linger
	// Open prepares a run that continues session, "" for a new one.
	Open func(session string) (argv []string, talk Talk)
}

// outputTail is how much of each pipe is kept: lines of JSON tell a person little, so the end is enough.
const outputTail = 16 << 10

// wordsLimit bounds what an error or an event quotes.
const wordsLimit = 1 << 10

// Converse runs p on t, with the prompt on standard input. A session that p does not know any more is no failure: the prompt is
// always complete, so a new one is begun.
func Converse(ctx context.Context, t driver.Task, session string, p Program, emit func(driver.Event)) (driver.Result, error) {
	c := Command(t)
	c.Env, c.Tail = append(c.Env, p.Env...), outputTail
	first := p.once(ctx, c, t, session, emit)
	if session == "" || !first.untouched {
		first.Resumed = session != "" && first.Session != ""
		return first.Result, first.err
	}
	emit(driver.Event{Kind: "progress", Text: fmt.Sprintf("the session cannot be continued, so a new one is begun (%v)", first.err)})
	if c.Timeout > 0 {
		c.Timeout = max(1, c.Timeout-first.took)
	}
	second := p.once(ctx, c, t, "", emit)
	return second.Result, second.err
}

// run is one run of a program.
type run struct {
	driver.Result
	err       error
	untouched bool // it failed by itself before it took up the task
	took      time.Duration
}

func (p Program) once(ctx context.Context, c process.Command, t driver.Task, session string, emit func(driver.Event)) run {
	argv, talk := p.Open(session)
	c.Argv = argv
	s, err := Listen(ctx, c, strings.NewReader(t.Prompt), talk, cmp.Or(p.Linger, Linger))
	if err != nil {
		return run{Result: driver.Result{Confinement: "none"}, err: p.startError(argv[0], c.Env, err)}
	}
	result, said := talk.Said()
	err = ended(ctx, s, said, talk.Trouble())
	if err == nil {
		err = t.Budget.Check(result.Usage())
	}
	result.Output, result.Confinement, result.Survivors = Output(s.Result), s.Confinement, process.Names(s.Survivors)
	if len(result.Calls) > 0 {
		emit(driver.Event{Kind: "usage", Usage: result.Usage()})
	}
	TellSurvivors(s.Result, emit)
	return run{Result: result, err: err, untouched: err != nil && s.Reason == process.Exited && !talk.Began(), took: s.Duration}
}

// ended is the error of a run that ended as s, by whose own words the error is said.
func ended(ctx context.Context, s Spoken, said error, trouble string) error {
	switch {
	case s.Reason == process.Cancelled && ctx.Err() != nil:
		return Failure(ctx, s.Result)
	case s.Stopped != nil:
		return s.Stopped
	case s.Done && s.Reason != process.Exited:
		return said // it hung after its work, and what was cut off by the kill is no loss
	case s.Reason != process.Exited:
		return complain(Failure(ctx, s.Result), trouble)
	case s.Torn:
		return complain(&driver.Error{Class: driver.Crashed, Message: "the output ends in the middle of a line"}, trouble)
	case !s.Done && s.OK():
		return complain(&driver.Error{Class: driver.Crashed, ExitCode: &s.Code, Message: unfinished(s)}, trouble)
	case !s.Done:
		return complain(Failure(ctx, s.Result), trouble)
	case said != nil:
		return said // says more than the exit code
	}
	return Failure(ctx, s.Result)
}

func unfinished(s Spoken) string {
	text := "it ended without a result"
	if s.Skipped > 0 {
		text += fmt.Sprintf("; %d lines of more than %d bytes were not read", s.Skipped, LineMax)
	}
	if words := LastWords(s.Stderr, wordsLimit); words != "" {
		text += ": " + words
	}
	return text
}

// complain adds what the program complained about.
func complain(err error, trouble string) error {
	if e, ok := errors.AsType[*driver.Error](err); ok && trouble != "" {
		e.Message += "; its last trouble: " + Shorten(trouble)
	}
	return err
}

// startError says what to do where the program is missing.
func (p Program) startError(program string, env []string, err error) error {
	e := &driver.Error{Class: driver.Crashed, Err: err}
	if missing := p.Probe(program, env); missing != nil {
		e.Message, e.Err = missing.Error(), nil
	}
	return e
}

// Probe says what to do where the program, a name or a path, is missing in an environment.
func (p Program) Probe(program string, env []string) error {
	if _, err := process.Look(program, env); err != nil {
		return fmt.Errorf("%s is not installed, or not in the PATH; %s", p.Name, p.Install)
	}
	return nil
}

// Shorten is text in one line of bounded length.
func Shorten(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) > wordsLimit {
		text = strings.ToValidUTF8(text[:wordsLimit], "") + "…"
	}
	return text
}

// sessionID is a UUID, as programs name their sessions.
var sessionID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// IsSessionID says whether a program could have named a session so. Nothing else goes into its arguments, where it could be
// taken for an option.
func IsSessionID(text string) bool { return sessionID.MatchString(text) }
