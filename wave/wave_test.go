package wave_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

func TestTwoWavesInARowOnDefaults(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b", "dependsOn": []string{"a"}})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	first := w.run()
	wantOutcome(t, first, journal.Good)
	if len(first.Skipped) != 1 || first.Skipped[0].Reason != "blocked_by" {
		t.Fatalf("skipped: %s", asJSON(first.Skipped))
	}
	second := w.run()
	wantOutcome(t, second, journal.NothingSelectable)
	// A person merges the branch.
	w.git(w.repo, "fetch", "--quiet", "origin")
	w.git(w.repo, "merge", "--quiet", "--ff-only", "origin/aesop/"+first.Wave)
	w.git(w.repo, "push", "--quiet", "origin", "main")
	third := w.run()
	wantOutcome(t, third, journal.Good)
	wantState(t, third, "b", journal.StateShipped)
	wantOutcome(t, w.run(), journal.NothingToDo)
}

func TestDrainBuildsOnWhatItShipped(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b", "dependsOn": []string{"a"}, "testCmd": "grep -q good a.txt && grep -q good b.txt"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	reports, err := w.scheduler().Drain(t.Context())
	must(t, err)
	if len(reports) != 2 {
		t.Fatalf("%d waves: %s", len(reports), asJSON(reports))
	}
	wantOutcome(t, reports[0], journal.Good)
	wantOutcome(t, reports[1], journal.Good)
	if *reports[1].Base != *reports[0].Repositories[0].SHA {
		t.Errorf("the second wave starts from %s, the first shipped %s", *reports[1].Base, *reports[0].Repositories[0].SHA)
	}
}

func TestDrainOfADoneBacklogSaysSo(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "status": "done"})
	w.script(map[string][]attempt{})
	reports, err := w.scheduler().Drain(t.Context())
	must(t, err)
	if len(reports) != 1 {
		t.Fatalf("%d waves", len(reports))
	}
	wantOutcome(t, reports[0], journal.NothingToDo)
}

func TestDrainEndsWhereAnItemFailsUncounted(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": {{"fail": "overloaded"}}, "b": good("b")})
	reports, err := w.scheduler(func(c *wave.Config) { c.MaxItems = 1 }).Drain(t.Context())
	must(t, err)
	if len(reports) != 2 {
		t.Fatalf("%d waves: %s", len(reports), asJSON(reports))
	}
	row := w.read("a")
	wantStatus(t, row, tracker.Todo)
	if row.Attempts != 0 {
		t.Errorf("an overload was counted: %d attempts", row.Attempts)
	}
}

func TestCrashingDriverIsCountedUntilAttemptsAreUsedUp(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": {{"fail": "crashed"}}})
	reports, err := w.scheduler().Drain(t.Context())
	must(t, err)
	if len(reports) != 3 {
		t.Fatalf("%d waves", len(reports))
	}
	row := w.read("a")
	wantStatus(t, row, tracker.Failed)
	if row.Attempts != 3 {
		t.Errorf("%d attempts", row.Attempts)
	}
}

func TestUsersTreeAndRefsStayAsTheyWere(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": {writes("elsewhere.txt", "x")}})
	w.write("README.md", "changed and not committed\n")
	w.write("staged.txt", "staged\n")
	w.git(w.repo, "add", "staged.txt")
	w.git(w.repo, "checkout", "--quiet", "--detach")
	look := func() string {
		return w.git(w.repo, "status", "--porcelain", "--branch") + w.git(w.repo, "for-each-ref") + w.git(w.repo, "rev-parse", "HEAD") +
			w.git(w.repo, "ls-files", "--stage") + w.git(w.repo, "config", "--list", "--local")
	}
	before := look()
	report := w.run()
	wantState(t, report, "a", journal.StateShipped)
	if after := look(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if dirty := strings.Join(report.Repositories[0].Dirty, " "); !strings.Contains(dirty, "README.md") || !strings.Contains(dirty, "staged.txt") {
		t.Errorf("dirty: %s", dirty)
	}
	entries, err := os.ReadDir(filepath.Join(w.repo, ".git"))
	must(t, err)
	for _, e := range entries {
		if e.Name() == "FETCH_HEAD" || strings.HasSuffix(e.Name(), ".lock") {
			t.Errorf("%s was left in the user's repository", e.Name())
		}
	}
}

func TestFenceRefusesWhatIsNotOwned(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	played := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		return driver.Result{}, errors.Join(put(task, "a.txt", "good"), put(task, "README.md", "mine now"), put(task, "sub/.git/config", "x"))
	}}
	report := w.run(with(played))
	i := wantState(t, report, "a", journal.StateFenceViolation)
	for _, want := range []string{"README.md (outside_owned)", "sub/.git (git_directory"} {
		if !strings.Contains(i.Reason, want) {
			t.Errorf("reason %q does not name %s", i.Reason, want)
		}
	}
	if len(played.tasks) != 1 {
		t.Errorf("a fence violation was repaired: %d dispatches", len(played.tasks))
	}
	if i.Attempts[0].Parked == nil {
		t.Fatal("the agent's tree was not kept")
	}
	if _, err := os.Stat(filepath.Join(w.state, *i.Attempts[0].Parked, "a.txt")); err != nil {
		t.Errorf("parked tree: %v", err)
	}
	wantStatus(t, w.read("a"), tracker.Failed)
}

func TestFirstPromptHasTheTestThatFailsOnTheBase(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "prompt": "Write it.", "acceptanceCriteria": []string{"it is written"}, "testCmd": "echo so-it-fails; grep -q good a.txt"})
	played := &agent{}
	played.work = func(_ context.Context, task driver.Task) (driver.Result, error) {
		text := "poor"
		if task.Round == 2 {
			text = "good"
		}
		return driver.Result{}, put(task, "a.txt", text)
	}
	wantOutcome(t, w.run(with(played)), journal.Good)
	if len(played.tasks) != 2 {
		t.Fatalf("%d dispatches", len(played.tasks))
	}
	first, second := played.tasks[0], played.tasks[1]
	if f := first.Failure; f == nil || f.Step != "base" || !strings.Contains(f.Stdout, "so-it-fails") || f.ExitCode == nil || *f.ExitCode != 2 {
		t.Errorf("failure of the first task: %+v", f)
	}
	if f := second.Failure; f == nil || f.Step != "verify" || !strings.Contains(f.Diff, "+poor") || f.Command == "" || *f.ExitCode != 1 {
		t.Errorf("failure of the repair: %+v", f)
	}
	for _, want := range []string{"Write it.", "it is written", "- a.txt", "grep -q good a.txt", "so-it-fails"} {
		if !strings.Contains(first.Prompt, want) {
			t.Errorf("the first prompt lacks %q:\n%s", want, first.Prompt)
		}
	}
	if !strings.Contains(second.Prompt, "+poor") {
		t.Errorf("the repair's prompt lacks the diff:\n%s", second.Prompt)
	}
}

func TestDriverThatPanicsFailsItsItemOnly(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	report := w.run(with(&agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		if task.Item == "a" {
			panic("oh")
		}
		return driver.Result{}, put(task, "b.txt", "good")
	}}))
	wantState(t, report, "a", journal.StateDriverFailed)
	wantState(t, report, "b", journal.StateShipped)
}

func TestTestThatRewritesItsSubjectProvesNothing(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": "echo good > a.txt"})
	w.script(map[string][]attempt{"a": {writes("a.txt", "poor")}})
	report := w.run()
	i := wantState(t, report, "a", journal.StateNotVerified)
	if !strings.Contains(i.Failure.Tail, "a.txt") {
		t.Errorf("failure: %s", asJSON(i.Failure))
	}
}

// seat is a Reviewer and an Approver with one answer.
type seat struct {
	answer wave.Judgement
	err    error
	seen   []wave.Change
}

func (s *seat) Review(_ context.Context, c wave.Change) (wave.Judgement, error) {
	s.seen = append(s.seen, c)
	return s.answer, s.err
}

func (s *seat) Approve(ctx context.Context, c wave.Change) (wave.Judgement, error) {
	return s.Review(ctx, c)
}

func TestReviewerAndApproverDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		configure func(*wave.Config, *seat)
		step      func(wave.StepsReport) string
	}{
		"review":  {func(c *wave.Config, s *seat) { c.Reviewer = s }, func(s wave.StepsReport) string { return s.Review }},
		"approve": {func(c *wave.Config, s *seat) { c.Approver = s }, func(s wave.StepsReport) string { return s.Approve }},
	} {
		for _, answer := range []seat{{answer: wave.Judgement{OK: true}}, {answer: wave.Judgement{Reason: "no"}}, {answer: wave.Judgement{OK: true}, err: os.ErrClosed}} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.items(item{"id": "a"})
				w.script(map[string][]attempt{"a": good("a")})
				s := answer
				report := w.run(func(c *wave.Config) { tt.configure(c, &s) })
				want, step := journal.StateReviewRejected, "done"
				switch {
				case answer.err != nil: // neither yes nor no
					want, step = journal.StateParked, "partial"
					wantOutcome(t, report, journal.GateUnavailable)
					wantStatus(t, w.read("a"), tracker.InProgress)
				case answer.answer.OK:
					want = journal.StateShipped
				}
				wantState(t, report, "a", want)
				if tt.step(report.Steps) != step {
					t.Errorf("steps: %s", asJSON(report.Steps))
				}
				if len(s.seen) != 1 || !strings.Contains(s.seen[0].Diff, "+good") {
					t.Errorf("seen: %+v", s.seen)
				}
			})
		}
	}
}

func TestTestThatCannotStartFailsItsItemOnly(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": []string{"no-such-program-here"}}, item{"id": "b"}, item{"id": "c", "workDir": "nowhere"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "c": good("c")})
	report := w.run()
	wantState(t, report, "b", journal.StateShipped)
	for id, want := range map[string]string{"a": "no-such-program-here", "c": "nowhere"} {
		if i := wantState(t, report, id, journal.StateNotVerified); !strings.Contains(i.Failure.Tail, want) || i.TestExit != nil {
			t.Errorf("%s: %s", id, asJSON(i))
		}
	}
}

func TestUnmergedWorkKeepsItsPaths(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b", "status": "blocked", "ownsFiles": []string{"a.txt", "b.txt"}})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	first := w.run()
	wantOutcome(t, first, journal.Good)
	w.edit(`"blocked"`, `"todo"`)
	second := w.run()
	wantOutcome(t, second, journal.NothingSelectable)
	if len(second.Skipped) != 1 || second.Skipped[0].Reason != "overlaps_unmerged" {
		t.Errorf("skipped: %s", asJSON(second.Skipped))
	}
	w.git("", "--git-dir="+w.remote, "update-ref", "refs/heads/main", *reported(t, first, "a").Commit)
	wantOutcome(t, w.run(), journal.Good)
}
