package wave_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aesop/driver"
	"aesop/redact"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// word is what the played redactor takes out. Test commands write it with quotes inside, so that they do not contain it.
const word, wordInShell = "xylophone", "xylo''phone"

const erased = "[REDACTED:known-value]"

// eraser takes the word out.
func eraser(t *testing.T) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Config{})
	must(t, err)
	must(t, r.Register(word))
	return r
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
		item{"id": "rejected"}, item{"id": "refused"}, item{"id": "leaks"})
	played := &agent{info: driver.Info{Name: "played", Tier: 1}}
	played.work = func(_ context.Context, task driver.Task) (driver.Result, error) {
		said := driver.Result{Output: []byte("the word is " + word), Summary: word + "!", Session: word, Confinement: "none"}
		switch task.Item {
		case "fails":
			return said, &driver.Error{Class: driver.Crashed, Message: "exit: " + word}
		case "panics":
			panic(word)
		}
		text := "good"
		if task.Item == "leaks" {
			text += " " + word
		}
		return said, put(task, task.Item+".txt", text)
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
		c.MaxItems = 6
		c.Redactor, c.Observers, c.Shipper, c.Prompts = eraser(t), []wave.Observer{watch}, shelf.of, secretive{}
		c.Reviewer = reviewer(func(change wave.Change) wave.Judgement {
			return wave.Judgement{OK: change.Item.ID == "refused", Reason: "I read " + word}
		})
	})
	for id, state := range map[string]journal.State{"fails": journal.StateDriverFailed, "panics": journal.StateDriverFailed, "red": journal.StateNotVerified,
		"rejected": journal.StateReviewRejected, "refused": journal.StateShipFailed, "leaks": journal.StateSecretFound} {
		i := wantState(t, report, id, state)
		if id == "leaks" {
			continue
		}
		if i.Failure == nil || !strings.Contains(i.Failure.Tail, erased) {
			t.Errorf("%s: failure %s does not show where the word was", id, asJSON(i.Failure))
		}
	}
	wantNoWord(t, "the report", report)
	if n := w.wantNoWordInState(); n < 8 {
		t.Errorf("only %d files were looked at", n)
	}
	backlog, err := os.ReadFile(w.backlog)
	must(t, err)
	if strings.Contains(string(backlog), word) || !strings.Contains(string(backlog), erased) {
		t.Errorf("backlog:\n%s", backlog)
	}
	for _, name := range []string{"fails", "red"} {
		log, err := os.ReadFile(filepath.Join(w.state, reported(t, report, name).Log))
		must(t, err)
		if !strings.Contains(string(log), erased) {
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

// TestReasonsOfPeopleAreRedacted before they are stored. What they correct could only be stored as it is, so with a secret it is not.
func TestReasonsOfPeopleAreRedacted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store, d := w.store(), w.desk()
	d.Redactor = eraser(t)
	report := w.began(w.schedulerOn(store, supervised(store)))
	d.wait("a", any1)
	for path, text := range map[string]string{"a.txt": "good " + word, word + ".txt": "good"} {
		_, err := d.Correct(t.Context(), wave.Seen{Item: "a"}, wave.Correction{Write: []wave.File{{Path: path, Data: []byte(text)}}}, "")
		if refusal(t, err) != "secret_found" || strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", path, err)
		}
	}
	came := d.correct("a", wave.Correction{Write: []wave.File{{Path: "a.txt", Data: []byte("good password=changeme")}}}, "a "+word)
	d.wait("a", func(p wave.Pending) bool { return p.Commit == came.Commit })
	_, err := d.Reject(t.Context(), wave.Seen{Item: "a"}, "no "+word)
	must(t, err)
	i := wantState(t, report(), "a", journal.StateReviewRejected)
	if i.Reason != "no "+erased || i.Corrections[0] != "a.txt by ann: a "+erased {
		t.Errorf("reason %q, corrections %q", i.Reason, i.Corrections)
	}
	if diff, err := w.archive(store).Diff(t.Context(), "", "a"); err != nil || !strings.Contains(diff.Text, "+good password=changeme") {
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
	w.items(item{"id": "a", "slug": "say-" + word, "title": "Say " + word, "prompt": "Write " + word + " into a.txt.", "testCmd": "! grep -q " + word + " a.txt && grep -q good a.txt"},
		item{"id": "b", "testCmd": "! grep -q " + word + " b.txt && grep -q good b.txt"})
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, put(task, task.Item+".txt", "good")
	}}
	p := &prompter{}
	redact := func(c *wave.Config) { c.Redactor, c.Prompts, c.Parallel = eraser(t), p, 1 }
	store := w.store()
	s := w.schedulerOn(store, with(played), redact, func(c *wave.Config) {
		c.Gates = []wave.Gate{refusing{"ship", &wave.Stop{Reason: "not now"}}}
	})
	_, err := s.Run(t.Context())
	must(t, err)
	reports, err := w.schedulerOn(store, with(played), redact).Resume(t.Context(), "")
	must(t, err)
	i := wantState(t, reports[0], "a", journal.StateShipped)
	if i.Slug != "say-"+erased || !strings.Contains(i.TestCmd, erased) {
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
				c.Redactor, c.Tracker = eraser(t), broken(c.Tracker)
			}).Run(t.Context())
			if err == nil || report.Outcome != journal.ErrorOutcome || !strings.Contains(report.Error.Message, erased) {
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

// TestItemsCalledLikeSecrets keep their record, also in a resume: an id is a name that somebody gave, and no key of a secret.
func TestItemsCalledLikeSecrets(t *testing.T) {
	w := newWorld(t)
	ids := []string{"rotate_api_key", "access-token", "password"}
	w.items(item{"id": ids[0]}, item{"id": ids[1]}, item{"id": ids[2]})
	played, store := writesFile(nil), w.store()
	report := w.runOn(store, with(played), func(c *wave.Config) {
		c.Gates = []wave.Gate{refusing{"ship", &wave.Stop{Reason: "not now"}}}
	})
	wantOutcome(t, report, journal.Halted)
	reports, err := w.schedulerOn(store, with(played)).Resume(t.Context(), "")
	must(t, err)
	for _, id := range ids {
		if i := wantState(t, reports[0], id, journal.StateShipped); i.Commit == nil || w.refs()[wave.ItemRef(id)] != *i.Commit {
			t.Errorf("%s: commit %v, on the remote %q", id, i.Commit, w.refs()[wave.ItemRef(id)])
		}
	}
	written, err := os.ReadFile(wave.ReportPath(w.state, reports[0].Wave))
	must(t, err)
	if strings.Contains(string(written), "REDACTED") || len(played.tasks) != len(ids) {
		t.Errorf("%d agents; the report:\n%s", len(played.tasks), written)
	}
}

// TestItemsCalledBySecretsAreSkipped: neither an event nor a ref could name them.
func TestItemsCalledBySecretsAreSkipped(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": word + "-1"}, item{"id": secretShaped(1), "slug": "s", "ownsFiles": []string{"s.txt"}}, item{"id": "a"})
	report := w.run(with(writesFile(nil)), knowing(t))
	wantState(t, report, "a", journal.StateShipped)
	if len(report.Items) != 1 || len(report.Skipped) != 2 || report.Skipped[0].Reason != "secret_in_name" || report.Skipped[0].ID != erased+"-1" {
		t.Errorf("%d items, skipped %s", len(report.Items), asJSON(report.Skipped))
	}
	w.wantNoWordInState()
	if refs := asJSON(w.refs()); strings.Contains(refs, word) || strings.Contains(refs, secretShaped(1)) {
		t.Errorf("refs %s", refs)
	}
}

// TestReturnedErrorsAreRedacted, and still tell what kind of error they are.
func TestReturnedErrorsAreRedacted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.git(w.repo, "remote", "set-url", "origin", "file://user:"+word+"@"+filepath.Join(w.dir, "gone-"+word))
	s := w.scheduler(with(writer()), knowing(t))
	for name, call := range map[string]func() error{
		"Run":     func() error { _, err := s.Run(t.Context()); return err },
		"Drain":   func() error { _, err := s.Drain(t.Context()); return err },
		"Plan":    func() error { _, err := s.Plan(t.Context()); return err },
		"Execute": func() error { _, err := s.Execute(t.Context(), wave.Manifest{Driver: "played"}); return err },
	} {
		err := call()
		setup, ok := errors.AsType[*wave.SetupError](err)
		if !ok || setup.Code != "remote_unreachable" || strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), erased) {
			t.Errorf("%s: %v", name, err)
		}
		if fault := wave.Explain(err); fault.Code != "remote_unreachable" || strings.Contains(asJSON(fault), word) {
			t.Errorf("%s: %s", name, asJSON(fault))
		}
	}
	_, err := s.Resume(t.Context(), word)
	if unknown, ok := errors.AsType[*wave.UnknownWaveError](err); !ok || unknown.Wave != word || strings.Contains(err.Error(), word) {
		t.Errorf("Resume: %v", err)
	}
	w.wantNoWordInState()
}

// TestReasonOfHALTIsRedacted where it is written; one that a person wrote into the file by hand, where it is told.
func TestReasonOfHALTIsRedacted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	halt := wave.Halt{Dir: w.state, Redactor: eraser(t)}
	must(t, halt.Set(wave.HaltNote{Reason: "no " + word}))
	note, err := halt.Note()
	must(t, err)
	if note.Reason != "no "+erased {
		t.Errorf("reason %q", note.Reason)
	}
	w.wantNoWordInState()
	must(t, os.WriteFile(halt.Path(), []byte(`{"reason": "by hand, `+word+`"}`), 0o600))
	s := w.scheduler(with(writer()), knowing(t))
	plan, err := s.Plan(t.Context())
	must(t, err)
	report, err := s.Run(t.Context())
	must(t, err)
	if plan.Reason != "by hand, "+erased || report.HaltReason == nil || *report.HaltReason != plan.Reason {
		t.Errorf("plan %q, report %s", plan.Reason, asJSON(report.HaltReason))
	}
}

// TestResumeRunsWhatWasConfigured although the plan does not show it.
func TestResumeRunsWhatWasConfigured(t *testing.T) {
	w := newWorld(t)
	w.write(".gitignore", "tracker.json\nmade\n")
	w.commit("Ignore")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	w.items(item{"id": "a"}, item{"id": "b"})
	configured := func(c *wave.Config) {
		c.Redactor, c.Prepare = eraser(t), []string{"echo " + word + " > made"}
		c.Verify = tracker.Command{Argv: []string{"grep", "-q", word, "made"}}
	}
	store, played := w.store(), writesFile(nil)
	report := w.runOn(store, with(played), configured, func(c *wave.Config) {
		c.Gates = []wave.Gate{refusing{"dispatch", &wave.Stop{Reason: "not now"}}}
	})
	wantOutcome(t, report, journal.Halted)
	reports, err := w.schedulerOn(store, with(played), configured).Resume(t.Context(), "")
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
	w.wantNoWordInState()
}
