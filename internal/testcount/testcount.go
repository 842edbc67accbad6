// Package testcount counts the tests that a command executed, from its output as it comes. Nobody says which runner a command has
// inside, so every known one is looked for: go (-v and -json), pytest, jest, vitest, cargo, TAP and JUnit XML.
//
// A count is a claim of the output, so it can only make a test fail that its exit code lets pass. What is not certain is unknown,
// never a guess: a go package that is "ok" without -v, a plan that was not kept, a run that was cut.
//
// What counts is what ran and decided: skipped tests, and those that are todo, do not. In go a test counts and so does each of its
// subtests; of nested TAP tests the innermost count. Where one output has several runners, or one several times, their counts are added; a
// JUnit report beside another runner's words may be about the same tests, so that is unknown.
package testcount

import (
	"io"
	"maps"
	"slices"
	"strings"
)

// Count says how many tests were executed.
type Count struct {
	Known  bool
	Tests  int    // 0 where it is not known
	Runner string // go, pytest, jest, vitest, cargo, tap, junit; several are joined by +; "" where none was seen
}

// Counter counts in the whole output of one command, in bounded memory. Its two writers may be used at once; Count is for after
// both were used for the last time. The zero Counter is ready.
type Counter struct{ out, err stream }

// Stdout takes what the command writes to its standard output. Its Write never fails.
func (c *Counter) Stdout() io.Writer { return &c.out }

// Stderr takes what the command writes to its standard error. Its Write never fails.
func (c *Counter) Stderr() io.Writer { return &c.err }

// Count is what the output says.
func (c *Counter) Count() Count {
	found := map[string]tally{}
	c.out.addTo(found)
	c.err.addTo(found)
	count := Count{Known: true}
	for _, t := range found {
		count.Tests += t.tests
		count.Known = count.Known && !t.doubt
	}
	runners := slices.Sorted(maps.Keys(found))
	count.Runner = strings.Join(runners, "+")
	if len(runners) == 0 || len(runners) > 1 && slices.Contains(runners, junitName) {
		count.Known = false
	}
	if !count.Known {
		count.Tests = 0
	}
	return count
}

// tally is what one runner's words say.
type tally struct {
	seen  bool // there were words of this runner
	tests int
	doubt bool // they leave open how many there were
}

// runner knows the words of one test runner.
type runner interface {
	name() string
	line(text string) // one line of output, without colours and its end
	tally() tally     // after the last line
}

// stream is one of a command's outputs.
type stream struct {
	lines   lines
	report  report
	runners []runner
}

func (s *stream) Write(p []byte) (int, error) {
	s.start()
	s.report.write(p)
	s.lines.write(p)
	return len(p), nil
}

func (s *stream) start() {
	if s.runners == nil {
		s.runners = []runner{&golang{}, &goJSON{}, &pytest{}, &jest{}, &vitest{}, &cargo{}, &tap{}}
		s.lines.each = func(text string) {
			for _, r := range s.runners {
				r.line(text)
			}
		}
	}
}

// addTo adds what was said in the stream, by runner. What a runner did not speak of is nothing, and no doubt.
func (s *stream) addTo(found map[string]tally) {
	s.start()
	s.lines.end()
	add := func(name string, t tally) {
		if t.seen {
			old := found[name]
			found[name] = tally{true, old.tests + t.tests, old.doubt || t.doubt}
		}
	}
	add(junitName, s.report.tally())
	for _, r := range s.runners {
		add(r.name(), r.tally())
	}
}
