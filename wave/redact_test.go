package wave_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/driver"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// word is what the played redactor takes out. Test commands write it with quotes inside, so that they do not contain it.
const word, wordInShell = "xylophone", "xylo''phone"

// eraser is a Redactor that replaces one word.
type eraser struct{}

func (eraser) Bytes(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(word), []byte("[redacted]"))
}

func (eraser) NewWriter(w io.Writer) io.WriteCloser { return &erasing{to: w} }

// erasing holds a stream back until its end.
type erasing struct {
	bytes.Buffer
	to io.Writer
}

func (e *erasing) Close() error {
	_, err := e.to.Write(eraser{}.Bytes(e.Bytes()))
	return err
}

// wantNoWord fails where a value says the word.
func wantNoWord(t *testing.T, what string, v any) {
	t.Helper()
	if text := asJSON(v); strings.Contains(text, word) {
		t.Errorf("the word is in %s: %s", what, text)
	}
}

// wantNoWordInState looks through every file of the state but for the trees of agents and the engine's objects.
func (w *world) wantNoWordInState() (files int) {
	w.t.Helper()
	must(w.t, filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "trees" || d.Name() == "git") {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(word)) {
			w.t.Errorf("the word is in %s", path)
		}
		return err
	}))
	return files
}

// TestNothingLeavesUnredacted: what agents, tests and drivers say, judgements and refusals; but the task goes verbatim.
func TestNothingLeavesUnredacted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "fails"}, item{"id": "panics"}, item{"id": "red", "testCmd": "echo " + wordInShell + "; echo " + wordInShell + " >&2; exit 3"},
		item{"id": "rejected"}, item{"id": "refused"})
	played := &agent{info: driver.Info{Name: "played", Tier: 1}}
	played.work = func(_ context.Context, task driver.Task) (driver.Result, error) {
		said := driver.Result{Output: []byte("the word is " + word), Summary: word + "!", Session: word, Confinement: "none"}
		switch task.Item {
		case "fails":
			return said, &driver.Error{Class: driver.Crashed, Message: "exit: " + word}
		case "panics":
			panic(word)
		}
		return said, put(task, task.Item+".txt", "good "+word)
	}
	var watched sync.Mutex
	watch := &watcher{look: func(w *journal.Wave, e journal.Event) {
		watched.Lock()
		defer watched.Unlock()
		wantNoWord(t, "an observed "+e.Type(), e)
		wantNoWord(t, "the observed state", w)
	}}
	shelf := &shelf{refs: map[string]string{}, keep: true, err: errors.New("refused: " + word)}
	report := w.run(with(played), asks(policy.Policy{SpotCheck: 1, Repairs: 3, Review: 1}), func(c *wave.Config) {
		c.Redactor, c.Observers, c.Shipper, c.Prompts = eraser{}, []wave.Observer{watch}, shelf.of, secretive{}
		c.Reviewer = reviewer(func(change wave.Change) wave.Judgement {
			return wave.Judgement{OK: change.Item.ID == "refused", Reason: "I read " + word}
		})
	})
	for id, state := range map[string]journal.State{"fails": journal.StateDriverFailed, "panics": journal.StateDriverFailed, "red": journal.StateNotVerified,
		"rejected": journal.StateReviewRejected, "refused": journal.StateShipFailed} {
		i := wantState(t, report, id, state)
		if i.Failure == nil || !strings.Contains(i.Failure.Tail, "[redacted]") {
			t.Errorf("%s: failure %s does not show where the word was", id, asJSON(i.Failure))
		}
	}
	wantNoWord(t, "the report", report)
	if n := w.wantNoWordInState(); n < 8 {
		t.Errorf("only %d files were looked at", n)
	}
	backlog, err := os.ReadFile(w.backlog)
	must(t, err)
	if strings.Contains(string(backlog), word) || !strings.Contains(string(backlog), "[redacted]") {
		t.Errorf("backlog:\n%s", backlog)
	}
	for _, name := range []string{"fails", "red"} {
		log, err := os.ReadFile(filepath.Join(w.state, reported(t, report, name).Log))
		must(t, err)
		if !strings.Contains(string(log), "[redacted]") {
			t.Errorf("log of %s:\n%s", name, log)
		}
	}
	for _, task := range played.tasks {
		if task.Prompt != "do not say "+word {
			t.Errorf("%s: prompt %q", task.Item, task.Prompt)
		}
	}
}

// secretive is a PromptBuilder whose prompts hold the word.
type secretive struct{}

func (secretive) Version() string                         { return "secretive" }
func (secretive) Prompt(wave.PromptInput) (string, error) { return "do not say " + word, nil }

// TestReasonsOfPeopleAreRedacted before they are stored; what they correct goes verbatim, or it would be another correction.
func TestReasonsOfPeopleAreRedacted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store, d := w.store(), w.desk()
	d.Redactor = eraser{}
	report := w.began(w.schedulerOn(store, supervised(store)))
	d.wait("a", any1)
	came := d.correct("a", wave.Correction{Write: []wave.File{{Path: "a.txt", Data: []byte("good " + word)}}}, "a "+word)
	d.wait("a", func(p wave.Pending) bool { return p.Commit == came.Commit })
	_, err := d.Reject(t.Context(), wave.Seen{Item: "a"}, "no "+word)
	must(t, err)
	i := wantState(t, report(), "a", journal.StateReviewRejected)
	if i.Reason != "no [redacted]" || i.Corrections[0] != "a.txt by ann: a [redacted]" {
		t.Errorf("reason %q, corrections %q", i.Reason, i.Corrections)
	}
	if diff, err := w.archive(store).Diff(t.Context(), "", "a"); err != nil || !strings.Contains(diff.Text, "+good "+word) {
		t.Errorf("diff %q, %v", diff.Text, err)
	}
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		for stored, err := range r.Events(statestore.EventQuery{}) {
			if err != nil {
				return err
			}
			if strings.Contains(string(stored.Data), word) {
				t.Errorf("the word is in %s: %s", stored.Stream, stored.Data)
			}
		}
		return nil
	}))
}

type reviewer func(wave.Change) wave.Judgement

func (r reviewer) Review(_ context.Context, c wave.Change) (wave.Judgement, error) { return r(c), nil }

// TestWordInAnItemsText: the item is worked on and tested as people wrote it, also by a resume, and only there the word is seen.
func TestWordInAnItemsText(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "slug": "say-" + word, "title": "Say " + word, "prompt": "Write " + word + " into a.txt.", "testCmd": "grep -q " + word + " a.txt"},
		item{"id": "b", "testCmd": "grep -q " + word + " b.txt"})
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, put(task, task.Item+".txt", word)
	}}
	p := &prompter{}
	redact := func(c *wave.Config) { c.Redactor, c.Prompts, c.Parallel = eraser{}, p, 1 }
	store := w.store()
	s := w.schedulerOn(store, with(played), redact, func(c *wave.Config) {
		c.Gates = []wave.Gate{refusing{"ship", &wave.Stop{Reason: "not now"}}}
	})
	_, err := s.Run(t.Context())
	must(t, err)
	reports, err := w.schedulerOn(store, with(played), redact).Resume(t.Context(), "")
	must(t, err)
	i := wantState(t, reports[0], "a", journal.StateShipped)
	if i.Slug != "say-[redacted]" || i.TestCmd != "grep -q '[redacted]' a.txt" && i.TestCmd != "grep -q [redacted] a.txt" {
		t.Errorf("item: %s", asJSON(i))
	}
	wantNoWord(t, "the report", reports)
	w.wantNoWordInState()
	if message := w.git("", "--git-dir="+w.remote, "log", "-1", "--format=%B", *i.Commit); strings.Contains(message, word) {
		t.Errorf("commit message: %s", message)
	}
	task, asked := played.tasks[0], p.asked[0]
	for what, text := range map[string]string{"slug": task.Slug, "command": task.Failure.Command, "prompt": asked.Item.Prompt, "test": asked.Test} {
		if task.Item != "a" || !strings.Contains(text, word) {
			t.Errorf("%s of the task for %s: %q", what, task.Item, text)
		}
	}
}

// TestErrorsInReportsAreRedacted: also of a wave that could not begin, or could not go on.
func TestErrorsInReportsAreRedacted(t *testing.T) {
	for name, broken := range map[string]func(tracker.Tracker) tracker.Tracker{
		"begin": func(inner tracker.Tracker) tracker.Tracker { return unreadable{inner} },
		"go on": func(inner tracker.Tracker) tracker.Tracker { return unclaimable{inner} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			report, err := w.scheduler(with(writer()), func(c *wave.Config) {
				c.Redactor, c.Tracker = eraser{}, broken(c.Tracker)
			}).Run(t.Context())
			if err == nil || report.Outcome != journal.ErrorOutcome || !strings.Contains(report.Error.Message, "[redacted]") {
				t.Errorf("error %v, report %s", err, asJSON(report))
			}
			wantNoWord(t, "the report", report)
			w.wantNoWordInState()
		})
	}
}

type unreadable struct{ tracker.Tracker }

func (unreadable) Backlog(context.Context) (tracker.Backlog, error) {
	return tracker.Backlog{}, errors.New("cannot read " + word)
}

type unclaimable struct{ tracker.Tracker }

func (u unclaimable) Claim(context.Context, tracker.Holder, time.Duration, ...tracker.Want) ([]tracker.Claim, error) {
	return nil, errors.New("cannot claim " + word)
}

// spoiler is a Redactor that breaks its promise that JSON stays JSON.
type spoiler struct{ eraser }

func (spoiler) Bytes([]byte) []byte { return []byte("gone") }

func TestRedactorThatSpoilsJSONStopsTheWave(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	played := writer()
	_, err := w.scheduler(with(played), func(c *wave.Config) { c.Redactor = spoiler{} }).Run(t.Context())
	if _, syntax := errors.AsType[*json.SyntaxError](err); !syntax || len(played.tasks) != 0 {
		t.Errorf("error %v, %d dispatches", err, len(played.tasks))
	}
}
