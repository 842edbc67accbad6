package wave_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// supervised makes a scheduler ask people.
func supervised(store statestore.Store) option {
	return func(c *wave.Config) { c.Approver = wave.Desk{Store: store}.Approver() }
}

// desk is a person at the world's desk, with a handle of their own on the store.
type desk struct {
	t *testing.T
	wave.Desk
}

func (w *world) desk() desk {
	w.t.Helper()
	return desk{w.t, wave.Desk{Store: w.store(), By: "ann"}}
}

// wait returns when the item waits and want is true of it.
func (d desk) wait(item string, want func(wave.Pending) bool) wave.Pending {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := d.Pending(ctx)
		must(d.t, err)
		for _, p := range all {
			if p.Item == item && want(p) {
				return p
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			d.t.Fatalf("%s does not wait; what does: %+v", item, all)
		}
	}
}

func any1(wave.Pending) bool { return true }

// began runs a wave that goes on beside the test; the report comes from the returned function.
func (w *world) began(s *wave.Scheduler) func() wave.Report {
	type end struct {
		report wave.Report
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		report, err := s.Run(w.t.Context())
		ended <- end{report, err}
	}()
	return func() wave.Report {
		w.t.Helper()
		e := <-ended
		must(w.t, e.err)
		checkContract(w.t, e.report)
		return e.report
	}
}

// correct hands a correction in and returns what came of it.
func (d desk) correct(item string, c wave.Correction, reason string) journal.Corrected {
	d.t.Helper()
	made, err := d.Correct(d.t.Context(), wave.Seen{Item: item}, c, reason)
	must(d.t, err)
	came, err := d.Outcome(d.t.Context(), made)
	must(d.t, err)
	return came
}

func refusal(t *testing.T, err error) string {
	t.Helper()
	refused, ok := errors.AsType[*wave.RefusedError](err)
	if !ok {
		t.Fatalf("not refused: %v", err)
	}
	return refused.Code
}

func TestCorrectionsAreBuiltFencedAndTested(t *testing.T) {
	w := newWorld(t)
	w.write("tool.sh", "#!/bin/sh\nexit 1\n")
	must(t, os.Chmod(filepath.Join(w.repo, "tool.sh"), 0o755))
	w.write("old.txt", "old\n")
	w.commit("More")
	w.git(w.repo, "push", "--quiet", "origin", "main")
	row := func() { w.items(item{"id": "a", "ownsFiles": []string{"a.txt", "tool.sh", "old.txt", "dir/"}}) }
	row()
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	report, d := w.began(w.schedulerOn(store, supervised(store))), w.desk()
	first := d.wait("a", any1)
	file := func(path, text string) wave.Correction {
		return wave.Correction{Write: []wave.File{{Path: path, Data: []byte(text)}}}
	}
	for _, tt := range []struct {
		c    wave.Correction
		says string
	}{
		{file("b.txt", "x"), "b.txt (outside_owned)"},
		{file("README.md", "mine"), "README.md (outside_owned)"},
		{file("A.TXT", "good"), "twin"},
		{file("a.txt/b", "x"), "write a.txt/b"},
		{wave.Correction{Delete: []string{"none.txt"}}, "delete none.txt"},
		{wave.Correction{Delete: []string{"a.txt"}}, "takes the whole change back"},
		{file("a.txt", "good\n"), "changes nothing"},
		{file("a.txt", "poor\n"), "its test fails, exit 1"},
	} {
		came := d.correct("a", tt.c, "try")
		if came.Passed() || !strings.Contains(came.Why(), tt.says) || came.Of != first.Commit {
			t.Errorf("%v: %+v", tt.c.Paths(), came)
		}
		d.wait("a", func(p wave.Pending) bool {
			return p.Commit == first.Commit && slices.ContainsFunc(p.Corrected, func(c journal.Corrected) bool { return c.Attempt == came.Attempt })
		})
	}
	came := d.correct("a", wave.Correction{Write: []wave.File{{Path: "a.txt", Data: []byte("good, better\n")}, {Path: "tool.sh", Data: []byte("#!/bin/sh\n")},
		{Path: "dir/deep/run", Data: []byte("x"), Executable: true}}, Delete: []string{"old.txt"}}, "as we do it")
	if !came.Passed() {
		t.Fatalf("not taken: %s", came.Why())
	}
	second := d.wait("a", func(p wave.Pending) bool { return p.Commit == came.Commit })
	if _, err := d.Approve(t.Context(), wave.Seen{Item: "a", Commit: first.Commit}); refusal(t, err) != "older_commit" {
		t.Errorf("a decision about the older commit: %v", err)
	}
	_, err := d.Approve(t.Context(), wave.Seen{Wave: second.Wave, Item: "a", Commit: second.Commit})
	must(t, err)
	r := report()
	i := wantState(t, r, "a", journal.StateShipped)
	if *i.Commit != came.Commit || len(i.Attempts) != 1 || len(i.Corrections) != 1 || len(i.Corrected) != 9 || !strings.Contains(i.Corrections[0], "by ann: as we do it") ||
		*i.TreeSHA != came.Tree || r.Steps.Approve != "done" || len(i.Judgements) != 1 || i.Judgements[0].By != "ann" {
		t.Errorf("item: %s", asJSON(i))
	}
	if got := w.show(*i.Commit, "a.txt"); got != "good, better" {
		t.Errorf("a.txt: %q", got)
	}
	tree := w.git("", "--git-dir="+w.remote, "ls-tree", "-r", *i.Commit)
	if strings.Contains(tree, "old.txt") || !strings.Contains(tree, "100755 blob") || strings.Count(tree, "100755") != 2 {
		t.Errorf("tree: %s", tree)
	}
	if parents := w.git("", "--git-dir="+w.remote, "log", "-1", "--format=%P", *i.Commit); parents != *r.Base {
		t.Errorf("parents %s, base %s", parents, *r.Base)
	}

	// It is signed like any other: a state that has only the key knows whose it is.
	w.keepOnlyKey()
	row()
	again := w.run()
	if i := wantState(t, again, "a", journal.StateShipped); !strings.Contains(i.Reason, "adopted") {
		t.Errorf("not adopted: %s", asJSON(i))
	}
}

// TestApproverOfOnesOwnCanCorrect: a program may answer as a person may.
func TestApproverOfOnesOwnCanCorrect(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	p := &panel{}
	p.answer = func(_ context.Context, c wave.Change) (wave.Judgement, error) {
		if len(c.Corrected) == 0 {
			return wave.Judgement{By: "robot", Correction: &wave.Correction{Write: []wave.File{{Path: "a.txt", Data: []byte("good, by a robot\n")}}}}, nil
		}
		if !strings.Contains(c.Diff, "+good, by a robot") || c.Commit != c.Corrected[0].Commit {
			t.Errorf("asked again about %+v", c)
		}
		return wave.Judgement{OK: true}, nil
	}
	report := w.run(func(c *wave.Config) { c.Approver = p })
	i := wantState(t, report, "a", journal.StateShipped)
	if len(p.asked) != 2 || w.show(*i.Commit, "a.txt") != "good, by a robot" || !slices.Equal(i.Corrections, []string{"a.txt by robot"}) {
		t.Errorf("asked %d times, item %s", len(p.asked), asJSON(i))
	}
}

func TestDeskRefusesWhatDoesNotWait(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"}, item{"id": "slow", "priority": "P0"}, item{"id": "bad"})
	gate := filepath.Join(w.dir, "gate")
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "slow": {{"exec": "while ! test -e " + gate + "; do sleep 0.01; done; echo good > slow.txt"}}, "bad": {{"fail": "refused"}}})
	store, d := w.store(), w.desk()
	verified := make(chan struct{})
	r := &reopener{w: w, event: "verified", act: func() { close(verified) }}
	report := w.began(w.schedulerOn(store, supervised(store), func(c *wave.Config) { c.Observers = []wave.Observer{r} }))
	<-verified
	approve := func(id string) error {
		_, err := d.Approve(t.Context(), wave.Seen{Item: id})
		return err
	}
	refused := func(id, says string) {
		t.Helper()
		if err := approve(id); refusal(t, err) != "not_waiting" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", id, err, says)
		}
	}
	refused("slow", "not verified yet")
	must(t, os.WriteFile(gate, nil, 0o600))
	p := d.wait("a", any1)
	d.wait("b", any1)
	d.wait("slow", any1)
	refused("bad", "it ended as driver_failed")
	if _, err := d.Approve(t.Context(), wave.Seen{Item: "b"}, wave.Seen{Item: "bad"}); err == nil {
		t.Error("some of the items do not wait, and the others were approved")
	}
	if now := d.wait("b", any1); now.Decided != "" {
		t.Errorf("b is decided: %+v", now)
	}
	if err := approve("none"); err == nil || !strings.Contains(err.Error(), `no wave has taken an item "none"`) {
		t.Errorf("an unknown item: %v", err)
	}
	if _, err := d.Approve(t.Context(), wave.Seen{Wave: "20200101-000000-0000", Item: "a"}); err == nil {
		t.Error("an unknown wave")
	}
	if _, err := d.Reject(t.Context(), wave.Seen{Item: "a"}, " "); err == nil {
		t.Error("a rejection without a reason")
	}
	must(t, approve("a"))
	must(t, approve("slow"))
	_, err := d.Reject(t.Context(), wave.Seen{Item: "b"}, "no")
	must(t, err)
	end := report()
	wantOutcome(t, end, journal.Partial)
	must(t, approve("a"))
	if made, err := d.Approve(t.Context(), wave.Seen{Item: "a", Commit: p.Commit}); err != nil || made[0].Wave != end.Wave {
		t.Errorf("the same again: %+v, %v", made, err)
	}
	_, err = d.Reject(t.Context(), wave.Seen{Item: "b"}, "no")
	must(t, err)
	refused("b", "it was rejected: no")
	if _, err := d.Reject(t.Context(), wave.Seen{Item: "a"}, "late"); refusal(t, err) != "not_waiting" || !strings.Contains(err.Error(), "has shipped") {
		t.Errorf("a rejection of what shipped: %v", err)
	}
	wantStatus(t, w.read("b"), tracker.Failed)

	w.items(item{"id": "c"})
	w.script(map[string][]attempt{"c": good("c")})
	wantOutcome(t, w.run(), journal.Good)
	refused("c", "has shipped")
}

// TestSameCorrectionAgain is no further one, unless it came to nothing.
func TestSameCorrectionAgain(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store, d := w.store(), w.desk()
	report := w.began(w.schedulerOn(store, supervised(store)))
	d.wait("a", any1)
	text := func(t string) wave.Correction {
		return wave.Correction{Write: []wave.File{{Path: "a.txt", Data: []byte(t)}}}
	}
	taken := d.correct("a", text("good 2\n"), "")
	d.wait("a", func(p wave.Pending) bool { return p.Commit == taken.Commit })
	if again := d.correct("a", text("good 2\n"), ""); again.Attempt != taken.Attempt {
		t.Errorf("again: %+v", again)
	}
	d.correct("a", text("poor\n"), "")
	d.wait("a", func(p wave.Pending) bool { return len(p.Corrected) == 2 })
	d.correct("a", text("poor\n"), "")
	d.wait("a", func(p wave.Pending) bool { return len(p.Corrected) == 3 })
	_, err := d.Approve(t.Context(), wave.Seen{Item: "a"})
	must(t, err)
	if i := wantState(t, report(), "a", journal.StateShipped); len(i.Corrected) != 3 || len(i.Corrections) != 1 {
		t.Errorf("item: %s", asJSON(i))
	}
}

func TestCorrectionsThatNobodyCouldMake(t *testing.T) {
	file := func(path string) wave.File { return wave.File{Path: path} }
	many := wave.Correction{}
	for n := range wave.MaxCorrectionFiles + 1 {
		many.Delete = append(many.Delete, strings.Repeat("x", n+1))
	}
	for name, c := range map[string]wave.Correction{
		"nothing":     {},
		"outside":     {Write: []wave.File{file("../a")}},
		"absolute":    {Delete: []string{"/etc/passwd"}},
		"git":         {Write: []wave.File{file("sub/.GIT/config")}},
		"twice":       {Write: []wave.File{file("a"), file("a")}},
		"both":        {Write: []wave.File{file("a")}, Delete: []string{"A"}},
		"many":        many,
		"large":       {Write: []wave.File{{Path: "a", Data: make([]byte, wave.MaxCorrectionBytes/2)}, {Path: "b", Data: make([]byte, wave.MaxCorrectionBytes/2+1)}}},
		"control":     {Write: []wave.File{file("a\nb")}},
		"not a place": {Write: []wave.File{file("")}},
	} {
		if err := c.Check(); err == nil {
			t.Errorf("%s passes", name)
		} else if setup, ok := errors.AsType[*wave.SetupError](err); !ok || setup.Code != "usage" || setup.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, b := wave.Correction{Write: []wave.File{file("a"), file("b")}, Delete: []string{"c", "d"}}, wave.Correction{Write: []wave.File{file("b"), file("a")}, Delete: []string{"d", "c"}}
	if a.ID("w", "i", "c") != b.ID("w", "i", "c") || a.ID("w", "i", "c") == a.ID("w", "i", "d") || len(a.ID("w", "i", "c")) != 16 {
		t.Error("equal corrections have equal ids, others not")
	}
}

// TestClaimsLiveWhileAPersonThinks, far beyond their lease.
func TestClaimsLiveWhileAPersonThinks(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store, d := w.store(), w.desk()
	report := w.began(w.schedulerOn(store, supervised(store), func(c *wave.Config) { c.Lease = 300 * time.Millisecond }))
	d.wait("a", any1)
	asked := w.read("a").Claim.LeaseUntil
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for w.read("a").Claim.LeaseUntil.Sub(asked) < time.Second { // three leases later
		<-tick.C
	}
	_, err := d.Approve(t.Context(), wave.Seen{Item: "a"})
	must(t, err)
	wantState(t, report(), "a", journal.StateShipped)
}

// TestTakenWhileAPersonThinks: an item that a person takes away ends, whatever is decided later.
func TestTakenWhileAPersonThinks(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store, d := w.store(), w.desk()
	report := w.began(w.schedulerOn(store, supervised(store), func(c *wave.Config) { c.Lease = 300 * time.Millisecond }))
	d.wait("a", any1)
	w.items(item{"id": "a"}) // without the claim
	wantState(t, report(), "a", journal.StateClaimLost)
	if _, err := d.Approve(t.Context(), wave.Seen{Item: "a"}); refusal(t, err) != "not_waiting" {
		t.Errorf("approved: %v", err)
	}
}

// TestKilledAroundADecision: each kill leaves what the next process needs, and each decision is carried out once.
func TestKilledAroundADecision(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("not applicable: needs SIGKILL")
	}
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	killed := func(point string, args ...string) {
		t.Helper()
		if code, out := w.binary(point, args...); code != -1 {
			t.Fatalf("%s: exit %d, the failpoint was not reached\n%s", point, code, out)
		}
	}
	killed("asked", "run", "--supervise")
	d := w.desk()
	first := d.wait("a", any1)
	made, err := d.Correct(t.Context(), wave.Seen{Item: "a"}, wave.Correction{Write: []wave.File{{Path: "a.txt", Data: []byte("good 2\n")}}}, "why not")
	must(t, err)
	killed("commit", "resume") // the correction's commit is built, and nothing is written down
	if now := d.wait("a", any1); now.Commit != first.Commit || now.Decided != "correct" {
		t.Errorf("after the kill: %+v", now)
	}
	killed("corrected", "resume")
	came, err := d.Outcome(t.Context(), made)
	must(t, err)
	if _, err := d.Approve(t.Context(), wave.Seen{Item: "a"}); refusal(t, err) != "not_waiting" {
		t.Errorf("nobody was asked about the new commit yet: %v", err)
	}
	killed("asked", "resume")
	_, err = d.Approve(t.Context(), wave.Seen{Item: "a", Commit: came.Commit})
	must(t, err)
	killed("judged", "resume")
	if code, out := w.binary("", "resume"); code != 0 {
		t.Fatalf("resume: exit %d\n%s", code, out)
	}
	e := w.end(w.newest())
	if w.refs()["refs/aesop/items/a"] != came.Commit || strings.Count(e.Report, `"reason": "why not"`) != 1 {
		t.Errorf("end: %s", e.Report)
	}
	if all, err := d.Pending(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("still waits: %+v, %v", all, err)
	}
}

// TestCorrectionAfterAProcessDiedAtIt: what that process left is no obstacle.
func TestCorrectionAfterAProcessDiedAtIt(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	report, d := w.began(w.schedulerOn(store, supervised(store))), w.desk()
	p := d.wait("a", any1)
	c := wave.Correction{Write: []wave.File{{Path: "a.txt", Data: []byte("good, better\n")}}}
	place := filepath.Join(w.state, "trees", p.Wave, "items", "a", "correction-"+c.ID(p.Wave, "a", p.Commit))
	for _, left := range []string{place, place + ".ignores", place + ".private"} {
		must(t, os.MkdirAll(left, 0o700))
	}
	came := d.correct("a", c, "better")
	if !came.Passed() {
		t.Fatalf("refused: %s", came.Why())
	}
	d.wait("a", func(p wave.Pending) bool { return p.Commit == came.Commit }) // it is asked about anew
	_, err := d.Reject(t.Context(), wave.Seen{Item: "a"}, "no")
	must(t, err)
	report()
}

// TestCorrectionOfAnIgnoredPath: what a person writes is in the commit, or the correction is refused with the reason.
func TestCorrectionOfAnIgnoredPath(t *testing.T) {
	w := newWorld(t)
	w.write(".gitignore", "tracker.json\n*.log\n")
	w.commit("Rules")
	w.git(w.repo, "push", "--quiet")
	w.items(item{"id": "a", "ownsFiles": []string{"a.txt", "dir/", "named.log"}})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	report, d := w.began(w.schedulerOn(store, supervised(store))), w.desk()
	d.wait("a", any1)
	better := wave.File{Path: "a.txt", Data: []byte("good, better\n")}
	for n, files := range [][]wave.File{{better, {Path: "dir/expected.log", Data: []byte("x")}}, {{Path: "dir/expected.log", Data: []byte("x")}}} {
		if came := d.correct("a", wave.Correction{Write: files}, "both"); came.Passed() || !strings.Contains(came.Why(), "the ignore files of the base leave out dir/expected.log") {
			t.Errorf("passed %v: %s", came.Passed(), came.Why())
		}
		d.wait("a", func(p wave.Pending) bool { return len(p.Corrected) == n+1 })
	}
	// From a folder, too, what the item owns by its name is seen.
	p := d.wait("a", func(p wave.Pending) bool { return p.Decided == "" })
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "named.log"), []byte("x"), 0o644))
	c, _, err := w.archive(store).Compare(t.Context(), p.Wave, "a", folder)
	must(t, err)
	came := d.correct("a", c, "its own log")
	if !came.Passed() || len(c.Write) != 1 {
		t.Fatalf("correction of %v: %s", c.Paths(), came.Why())
	}
	d.wait("a", func(p wave.Pending) bool { return p.Commit == came.Commit })
	_, err = d.Approve(t.Context(), wave.Seen{Item: "a"})
	must(t, err)
	i := wantState(t, report(), "a", journal.StateShipped)
	if got := w.show(*i.Commit, "named.log"); got != "x" {
		t.Errorf("shipped %q", got)
	}
}

// TestNameOfADecisionMeansOneItem: the id goes before the slug of another, also where it was shipped before; a slug of several is refused.
func TestNameOfADecisionMeansOneItem(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "old"})
	w.script(map[string][]attempt{"old": good("old"), "b": {writes("a.txt", "good\n")}, "c": {writes("b.txt", "good\n")}})
	store := w.store()
	wantOutcome(t, w.runOn(store), journal.Good)
	w.items(item{"id": "a", "slug": "b"}, item{"id": "b", "slug": "c"})
	report, d := w.began(w.schedulerOn(store, supervised(store))), w.desk()
	d.wait("a", any1)
	d.wait("b", any1)
	if made, err := d.Approve(t.Context(), wave.Seen{Item: "b"}); err != nil || made[0].Item != "b" {
		t.Errorf("b was approved: %+v, %v", made, err)
	}
	if made, err := d.Reject(t.Context(), wave.Seen{Item: "a"}, "no"); err != nil || made.Item != "a" {
		t.Errorf("a was rejected: %+v, %v", made, err)
	}
	wantState(t, report(), "b", journal.StateShipped)
	// What waits under a slug that is an older item's id, or under that of another wave's item, has to be named by its id.
	w.items(item{"id": "x", "slug": "old"}, item{"id": "y", "slug": "twice"})
	w.script(map[string][]attempt{"old": {writes("x.txt", "good\n")}, "twice": {writes("y.txt", "good\n")}})
	first := w.began(w.schedulerOn(store, supervised(store)))
	d.wait("x", any1)
	d.wait("y", any1)
	if _, err := d.Approve(t.Context(), wave.Seen{Item: "old"}); refusal(t, err) != "not_waiting" {
		t.Errorf("old: %v", err)
	}
	other := *w
	other.backlog = filepath.Join(w.dir, "other.json")
	other.items(item{"id": "z", "slug": "twice"})
	other.script(map[string][]attempt{"twice": {writes("z.txt", "good\n")}})
	second := other.began(other.schedulerOn(store, supervised(store)))
	d.wait("z", any1)
	if _, err := d.Approve(t.Context(), wave.Seen{Item: "twice"}); refusal(t, err) != "ambiguous" {
		t.Errorf("twice: %v", err)
	}
	for _, id := range []string{"x", "y", "z"} {
		if _, err := d.Approve(t.Context(), wave.Seen{Item: id}); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	wantOutcome(t, first(), journal.Good)
	wantOutcome(t, second(), journal.Good)
}
