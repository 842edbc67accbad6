package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"aesop"
	"aesop/examples/internal/cli"
	"aesop/wave"
	"aesop/wave/journal"
)

// asker asks the person at the terminal about what waits, one item after the other. What it does is what wave approve, reject and
// correct do, so that anybody may answer first.
type asker struct {
	c    *cli.Context
	wake chan struct{} // something may wait

	mu      sync.Mutex
	waiting []wave.Pending
}

func newAsker(c *cli.Context) *asker { return &asker{c: c, wake: make(chan struct{}, 1)} }

// Observe keeps what waits in the wave.
func (a *asker) Observe(w *journal.Wave, _ journal.Event) {
	var waiting []wave.Pending
	for _, i := range w.Select((*journal.ItemState).Waits) {
		waiting = append(waiting, wave.Pending{Wave: w.ID, Item: i.ID, Slug: i.Slug, Title: i.Title, Commit: i.Verified, Corrected: i.Corrected})
	}
	a.mu.Lock()
	a.waiting = waiting
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// start asks until the returned function is called, or the person's input ends.
func (a *asker) start(engine *aesop.Engine) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		a.ask(engine, done)
	}()
	return func() { close(done); <-gone }
}

// read reads the person's lines. It may wait for one for ever, and then ends with the program.
func (a *asker) read(done <-chan struct{}) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(a.c.Stdin); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-done:
				return
			}
		}
	}()
	return lines
}

func (a *asker) ask(engine *aesop.Engine, done <-chan struct{}) {
	asked := map[string]bool{}
	var lines <-chan string // not read before there is a question
	for {
		p, ok := a.next(asked)
		if !ok {
			select {
			case <-a.wake:
				continue
			case <-done:
				return
			}
		}
		if lines == nil {
			lines = a.read(done)
		}
		talk, release := a.c.Stderr, func() {}
		if a.c.Screen != nil {
			talk, release = a.c.Screen.Hold()
		}
		a.show(talk, engine, p)
		goOn := a.answer(talk, engine, p, lines, done)
		release()
		if !goOn {
			return
		}
	}
}

// next is a question that was not asked yet.
func (a *asker) next(asked map[string]bool) (wave.Pending, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.waiting {
		key := fmt.Sprintf("%s/%d/%s", p.Commit, len(p.Corrected), p.Item)
		if !asked[key] {
			asked[key] = true
			return p, true
		}
	}
	return wave.Pending{}, false
}

// maxShown bounds the lines of a diff that are shown with a question.
const maxShown = 200

func (a *asker) show(say io.Writer, engine *aesop.Engine, p wave.Pending) {
	fmt.Fprintf(say, "\n%s waits for approval at %s: %s\n", cli.OneLine(p.Item), short(p.Commit), cli.OneLine(p.Title))
	if n := len(p.Corrected); n > 0 {
		fmt.Fprintf(say, "  %s\n", indented(correctionCame(p.Corrected[n-1])))
	}
	diff, err := wave.Archive{State: engine.State, Store: engine.Store}.Diff(a.c, p.Wave, p.Item)
	if err != nil {
		fmt.Fprintf(say, "its diff cannot be shown: %v\n", err)
		return
	}
	all := strings.SplitAfter(strings.TrimSuffix(a.c.WithoutCredentials(diff.Text), "\n"), "\n")
	fmt.Fprintln(cli.AsIs(say), strings.TrimSuffix(strings.Join(all[:min(len(all), maxShown)], ""), "\n"))
	if more := len(all) - maxShown; more > 0 {
		fmt.Fprintf(say, "… and %d lines more; all of it: wave diff %s\n", more, cli.OneLine(p.Item))
	}
}

// answer reads answers until one is good. It returns false where nobody can be asked any more.
func (a *asker) answer(say io.Writer, engine *aesop.Engine, p wave.Pending, lines <-chan string, done <-chan struct{}) bool {
	for {
		fmt.Fprintf(say, "%s: approve (a), reject (r REASON), correct (c DIR), skip (s)? ", cli.OneLine(p.Item))
		select {
		case <-done:
			fmt.Fprintln(say)
			return false
		case line, more := <-lines:
			if !more {
				fmt.Fprintln(say, "\nnobody is asked here any more; wave approve, wave reject and wave correct answer from elsewhere")
				return false
			}
			said, err := a.decide(engine, p, strings.TrimSpace(line))
			if err != nil {
				fmt.Fprintf(say, "%v\n", err)
				if _, refused := errors.AsType[*wave.RefusedError](err); refused {
					return true
				}
				continue
			}
			fmt.Fprintln(say, said)
			return true
		}
	}
}

// decide does what a line says.
func (a *asker) decide(engine *aesop.Engine, p wave.Pending, line string) (said string, err error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	desk, seen := deskOf(a.c, engine.Store), wave.Seen{Wave: p.Wave, Item: p.Item, Commit: p.Commit}
	switch word {
	case "a", "approve":
		_, err = desk.Approve(a.c, seen)
		return "approved", err
	case "r", "reject":
		_, err = desk.Reject(a.c, seen, rest)
		return "rejected", err
	case "c", "correct":
		if rest == "" {
			return "", &cli.Problem{Code: "usage", Message: "a folder with the corrected files is needed", Hint: "for example: c ../my-clone"}
		}
		correction, commit, err := wave.Archive{State: engine.State, Store: engine.Store}.Compare(a.c, p.Wave, p.Item, rest)
		if err != nil {
			return "", err
		}
		seen.Commit = commit
		_, err = desk.Correct(a.c, seen, correction, "")
		return "the correction is tested; then it waits again", err
	case "s", "skip":
		return fmt.Sprintf("%s goes on waiting; wave approve, wave reject and wave correct answer from elsewhere", cli.OneLine(p.Item)), nil
	}
	return "", &cli.Problem{Code: "usage", Message: fmt.Sprintf("%q is no answer", line)}
}
