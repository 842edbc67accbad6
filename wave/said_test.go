package wave_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/job/drop"
	"aesop/statestore/job/manifest"
	"aesop/wave"
	"aesop/wave/journal"
)

// jobOf is the job of an item in a wave.
func (w *world) jobOf(store statestore.Store, id, item string) job.Record {
	w.t.Helper()
	var record job.Record
	must(w.t, store.View(w.t.Context(), func(r statestore.Reader) (err error) {
		record, err = job.Get(r, wave.JobID(id, item))
		return err
	}))
	return record
}

// saying is a driver whose agent makes the item pass and leaves something in its folder.
func saying(leave func(ctx context.Context, t driver.Task) error) driver.Driver {
	return &agent{work: func(ctx context.Context, t driver.Task) (driver.Result, error) {
		if err := leave(ctx, t); err != nil {
			return driver.Result{}, err
		}
		return driver.Result{}, put(t, t.Item+".txt", "good\n")
	}}
}

// TestWhatAnAgentPublishesIsImportedWithItsAuthority: progress and a finalised report come into the job, its word about the end is a hint.
func TestWhatAnAgentPublishesIsImportedWithItsAuthority(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	report := w.runOn(store, with(saying(func(ctx context.Context, t driver.Task) error {
		if err := os.WriteFile(filepath.Join(t.AttemptDir, "draft"), []byte("# Report\n"), 0o600); err != nil {
			return err
		}
		if _, err := manifest.Finalize(ctx, manifest.Draft{Dir: t.AttemptDir, Staged: "draft", Job: wave.JobID(t.Wave, t.Item), Attempt: t.AttemptID}); err != nil {
			return err
		}
		fields := json.RawMessage(`{"tests": 12, "log": "with ` + secret + `"}`)
		_, err := drop.Write(t.AttemptDir, drop.Drop{Attempt: t.AttemptID, Status: job.Failed, Reason: "I could not", Fields: fields})
		return err
	})))
	i := wantState(t, report, "a", journal.StateShipped) // whatever it said: its test passed
	said := i.Attempts[0].Said
	if said == nil || *said.Status != "failed" || *said.Reason != "I could not" || said.Report == nil || said.Fault != nil {
		t.Fatalf("said is %s", asJSON(said))
	}
	if text, err := os.ReadFile(filepath.Join(w.state, *said.Report)); err != nil || string(text) != "# Report\n" {
		t.Errorf("the report says %q (%v)", text, err)
	}
	record := w.jobOf(store, report.Wave, "a")
	var progress struct {
		Tests int
		Said  struct{ Status, Reason string }
	}
	must(t, json.Unmarshal(record.Progress, &progress))
	if record.Status != job.Completed || progress.Tests != 12 || progress.Said.Status != "failed" || progress.Said.Reason != "I could not" {
		t.Errorf("the job is %s", asJSON(record))
	}
	if record.Report == nil || !filepath.IsAbs(record.Report.Path) || len(record.Report.SHA256) != 64 {
		t.Errorf("the job's report is %+v", record.Report)
	}
	if strings.Contains(asJSON(record), secret) {
		t.Error("a secret came into the store")
	}
}

// TestWhatAnAgentLeavesCanBeAnything: another attempt's word, a report that was rewritten, and rubbish do not count, are told, and
// harm nothing.
func TestWhatAnAgentLeavesCanBeAnything(t *testing.T) {
	for name, test := range map[string]struct {
		leave func(ctx context.Context, t driver.Task) error
		says  string
	}{
		"rubbish": {func(_ context.Context, t driver.Task) error {
			return os.WriteFile(filepath.Join(t.AttemptDir, drop.Name), []byte(`{"schemaVersion": 1, "attempt": 7`), 0o600)
		}, drop.Name},
		"a folder": {func(_ context.Context, t driver.Task) error {
			return os.Mkdir(filepath.Join(t.AttemptDir, drop.Name), 0o700)
		}, "regular file"},
		"a link": {func(_ context.Context, t driver.Task) error {
			return os.Symlink("/etc/passwd", filepath.Join(t.AttemptDir, drop.Name))
		}, "regular file"},
		"another attempt's": {func(_ context.Context, t driver.Task) error {
			_, err := drop.Write(t.AttemptDir, drop.Drop{Attempt: strings.Repeat("0", 16), Status: job.Completed})
			return err
		}, "attempt"},
		"a report that was rewritten": {func(ctx context.Context, t driver.Task) error {
			if err := os.WriteFile(filepath.Join(t.AttemptDir, "draft"), []byte("one"), 0o600); err != nil {
				return err
			}
			m, err := manifest.Finalize(ctx, manifest.Draft{Dir: t.AttemptDir, Staged: "draft", Job: wave.JobID(t.Wave, t.Item), Attempt: t.AttemptID})
			if err != nil {
				return err
			}
			return os.WriteFile(m.Report, []byte("two"), 0o600)
		}, manifest.ReportName},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			store := w.store()
			report := w.runOn(store, with(saying(test.leave)))
			i := wantState(t, report, "a", journal.StateShipped)
			said := i.Attempts[0].Said
			if said == nil || said.Fault == nil || !strings.Contains(*said.Fault, test.says) || said.Status != nil || said.Report != nil {
				t.Errorf("said is %s", asJSON(said))
			}
			if record := w.jobOf(store, report.Wave, "a"); record.Progress != nil || record.Report != nil {
				t.Errorf("the job is %s", asJSON(record))
			}
		})
	}
}

// finalised writes and finalises a report.
func finalised(ctx context.Context, t driver.Task) error {
	if err := os.WriteFile(filepath.Join(t.AttemptDir, "draft"), []byte("# Report\n"), 0o600); err != nil {
		return err
	}
	_, err := manifest.Finalize(ctx, manifest.Draft{Dir: t.AttemptDir, Staged: "draft", Job: wave.JobID(t.Wave, t.Item), Attempt: t.AttemptID})
	return err
}

// TestAWordIsOfItsAttempt: a later round that says nothing has not said what an earlier one did, and no agent can say it for the engine.
func TestAWordIsOfItsAttempt(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	report := w.runOn(store, with(&agent{work: func(_ context.Context, t driver.Task) (driver.Result, error) {
		d, text := drop.Drop{Attempt: t.AttemptID, Status: job.Failed, Reason: "I could not"}, "poor\n"
		if t.Round > 1 {
			d, text = drop.Drop{Attempt: t.AttemptID, Fields: json.RawMessage(`{"Said": {"status": "completed"}, "said": {"status": "completed"}, "tests": 3}`)}, "good\n"
		}
		if _, err := drop.Write(t.AttemptDir, d); err != nil {
			return driver.Result{}, err
		}
		return driver.Result{}, put(t, "a.txt", text)
	}}))
	i := wantState(t, report, "a", journal.StateShipped)
	var progress map[string]json.RawMessage
	must(t, json.Unmarshal(w.jobOf(store, report.Wave, "a").Progress, &progress))
	var said struct{ Attempt, Status, Reason string }
	must(t, json.Unmarshal(progress["said"], &said))
	if said.Attempt != i.Attempts[0].Attempt || said.Status != "failed" || said.Reason != "I could not" || progress["Said"] != nil || string(progress["tests"]) != "3" {
		t.Errorf("the job has %s", asJSON(progress))
	}
	if second := i.Attempts[1].Said; second == nil || second.Status != nil || second.Fault == nil || !strings.Contains(*second.Fault, "said") {
		t.Errorf("the second attempt: %s", asJSON(second))
	}
}

// TestFieldsThatAJobCannotKeepTakeNothingWithThem: the report and the word about the end are kept, and that the fields are not is told.
func TestFieldsThatAJobCannotKeepTakeNothingWithThem(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	report := w.runOn(store, with(saying(func(ctx context.Context, t driver.Task) error {
		if err := finalised(ctx, t); err != nil {
			return err
		}
		fields := json.RawMessage(`{"log": "` + strings.Repeat("x", 64<<10-20) + `"}`)
		_, err := drop.Write(t.AttemptDir, drop.Drop{Attempt: t.AttemptID, Status: job.Completed, Reason: strings.Repeat("y", drop.MaxText), Fields: fields})
		return err
	})))
	i := wantState(t, report, "a", journal.StateShipped)
	if said := i.Attempts[0].Said; said.Fault == nil || !strings.Contains(*said.Fault, "the fields would be") || *said.Status != "completed" {
		t.Errorf("said is %.300s", asJSON(said))
	}
	record := w.jobOf(store, report.Wave, "a")
	if record.Report == nil || !strings.Contains(string(record.Progress), `"completed"`) || strings.Contains(string(record.Progress), "xx") {
		t.Errorf("the job has the report %v and %.200s", record.Report, record.Progress)
	}
}

// TestWhatIsToldOfAnAgentsWordIsShort, however long what is wrong with it.
func TestWhatIsToldOfAnAgentsWordIsShort(t *testing.T) {
	for name, text := range map[string]string{
		"a status": `{"schemaVersion": 1, "attempt": "x", "reason": "", "fields": {}, "status": "` + strings.Repeat("\\u0001", 30_000) + `"}`,
		"a key":    `{"schemaVersion": 1, "attempt": "x", "status": "", "reason": "", "fields": {}, "` + strings.Repeat("k", 200_000) + `": 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			report := w.run(with(saying(func(_ context.Context, t driver.Task) error {
				if err := os.WriteFile(filepath.Join(t.AttemptDir, manifest.Name), []byte(text), 0o600); err != nil {
					return err
				}
				return os.WriteFile(filepath.Join(t.AttemptDir, drop.Name), []byte(text), 0o600)
			})))
			i := wantState(t, report, "a", journal.StateShipped)
			if said := i.Attempts[0].Said; said == nil || said.Fault == nil || len(*said.Fault) > 5000 || !strings.Contains(*said.Fault, drop.Name) || !strings.Contains(*said.Fault, manifest.Name) {
				t.Errorf("said is %.300s", asJSON(said))
			}
		})
	}
}

// TestAStopHearsWhatWasSaid: what an agent finished saying before it was stopped counts.
func TestAStopHearsWhatWasSaid(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	store := w.store()
	var s *wave.Scheduler
	s = w.schedulerOn(store, with(&agent{work: func(ctx context.Context, t driver.Task) (driver.Result, error) {
		if err := finalised(ctx, t); err != nil {
			return driver.Result{}, err
		}
		s.Stop()
		return driver.Result{}, &driver.Error{Class: driver.Cancelled}
	}}))
	report, err := s.Run(t.Context())
	must(t, err)
	i := wantState(t, report, "a", journal.StateParked)
	if said := i.Attempts[0].Said; said == nil || said.Fault != nil || said.Report == nil {
		t.Errorf("said is %s", asJSON(said))
	}
	if record := w.jobOf(store, report.Wave, "a"); record.Report == nil {
		t.Errorf("the job is %s", asJSON(record))
	}
}

// TestAnAttemptsFolderIsTheEngines: what stands in its place is not looked into.
func TestAnAttemptsFolderIsTheEngines(t *testing.T) {
	for name, swap := range map[string]func(dir, elsewhere string) error{
		"gone": func(dir, _ string) error { return os.RemoveAll(dir) },
		"a link": func(dir, elsewhere string) error {
			return errors.Join(os.Rename(dir, elsewhere), os.Symlink(elsewhere, dir))
		},
		"a file": func(dir, _ string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			store, elsewhere := w.store(), filepath.Join(w.dir, "elsewhere")
			report := w.runOn(store, with(saying(func(ctx context.Context, t driver.Task) error {
				if _, err := drop.Write(t.AttemptDir, drop.Drop{Attempt: t.AttemptID, Status: job.Completed}); err != nil {
					return err
				}
				if err := finalised(ctx, t); err != nil {
					return err
				}
				return swap(t.AttemptDir, elsewhere)
			})))
			i := wantState(t, report, "a", journal.StateShipped)
			if said := i.Attempts[0].Said; said == nil || said.Fault == nil || said.Status != nil || said.Report != nil || strings.Count(*said.Fault, "\n") > 0 {
				t.Errorf("said is %s", asJSON(said))
			}
			if record := w.jobOf(store, report.Wave, "a"); record.Progress != nil || record.Report != nil {
				t.Errorf("the job is %s", asJSON(record))
			}
		})
	}
}
