package wave_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"aesop/driver"
	"aesop/wave"
	"aesop/wave/journal"
)

// teller is an agent that says something, waits, and says something more.
func teller(said, goOn chan struct{}) driver.Driver {
	return &emitting{agent{}, func(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
		emit(driver.Event{Kind: "text", Text: "ä first\n"})
		close(said)
		select {
		case <-goOn:
		case <-ctx.Done():
			return driver.Result{}, &driver.Error{Class: driver.Cancelled}
		}
		emit(driver.Event{Kind: "text", Text: "then " + strings.Repeat("ü", 100_000) + "\n"})
		return driver.Result{}, put(t, t.Item+".txt", "good\n")
	}}
}

// emitting is a driver that is a function.
type emitting struct {
	agent
	run func(context.Context, driver.Task, func(driver.Event)) (driver.Result, error)
}

func (e *emitting) Run(ctx context.Context, t driver.Task, emit func(driver.Event)) (driver.Result, error) {
	return e.run(ctx, t, emit)
}

func TestFollowedLogEndsWithTheItem(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	said, goOn := make(chan struct{}), make(chan struct{})
	report := w.began(w.schedulerOn(store, with(teller(said, goOn))))
	<-said
	here, there := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := w.archive(w.store()).Log(t.Context(), "", "a", true, there)
		_ = there.CloseWithError(err)
		done <- err
	}()
	seen := ""
	buffer := make([]byte, 1<<20)
	for !strings.Contains(seen, "ä first\n") {
		n, err := here.Read(buffer)
		must(t, err)
		seen += string(buffer[:n])
	}
	close(goOn)
	rest, err := io.ReadAll(here)
	must(t, err)
	must(t, <-done)
	wantOutcome(t, report(), journal.Good)
	seen += string(rest)
	whole, err := os.ReadFile(filepath.Join(w.state, "waves", w.newest(), "a.log"))
	must(t, err)
	var again characters
	_, err = w.archive(store).Log(t.Context(), "", "a", false, &again)
	must(t, err)
	if again.broken || again.text != seen {
		t.Errorf("a copy of the log is cut within a character (%t), or is another", again.broken)
	}
	if seen != string(whole) || !strings.Contains(seen, "exit 0") {
		t.Errorf("%d bytes were followed of %d", len(seen), len(whole))
	}
}

// characters notices where a write ends within a character.
type characters struct {
	text   string
	broken bool
}

func (c *characters) Write(text []byte) (int, error) {
	c.text += string(text)
	c.broken = c.broken || !utf8.Valid(text)
	return len(text), nil
}

func TestFollowedLogEndsWhereTheWaveStops(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	said := make(chan struct{})
	s := w.schedulerOn(store, with(teller(said, nil)))
	report := w.began(s)
	<-said
	done := make(chan error, 1)
	go func() {
		_, err := w.archive(w.store()).Log(t.Context(), "", "a", true, io.Discard)
		done <- err
	}()
	s.Stop()
	must(t, <-done)
	wantOutcome(t, report(), journal.Interrupted)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.archive(store).Log(ctx, "", "a", true, io.Discard); err == nil {
		t.Error("a context that ended")
	}
	if _, err := (wave.Archive{State: w.state, Store: store}).Log(t.Context(), "", "none", false, io.Discard); err == nil {
		t.Error("an item that is not there")
	}
}
