package wave_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/driver"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

func (w *world) archive(store statestore.Store) wave.Archive {
	return wave.Archive{State: w.state, Store: store}
}

// everything prunes all that ended.
var everything = wave.PruneOptions{OlderThan: -1}

func (w *world) prune(store statestore.Store, o wave.PruneOptions) wave.Pruned {
	w.t.Helper()
	done, err := w.archive(store).Prune(w.t.Context(), o)
	must(w.t, err)
	return done
}

// files are the files and folders of the state, without those of the database.
func (w *world) files() []string {
	w.t.Helper()
	var names []string
	must(w.t, filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(w.state, path)
		if !strings.HasPrefix(name, "state.db") {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// count is how many of the state's files there are, packs of git by kind, since their names are those of what is in them.
func (w *world) count() map[string]int {
	w.t.Helper()
	n := map[string]int{}
	for _, name := range w.files() {
		dir, base := filepath.Split(name)
		if strings.Contains(dir, "objects/") {
			base = filepath.Ext(base)
		}
		if strings.HasSuffix(dir, ".git/") || strings.Contains(name, ".git/objects/") && filepath.Ext(name) == "" {
			base = ""
		}
		n[dir+base]++
	}
	return n
}

func TestPruneBringsTheDiskBack(t *testing.T) {
	w := newWorld(t)
	store := w.store()
	wave1 := func(n int) string {
		t.Helper()
		var rows []item
		plays := map[string][]attempt{}
		for i := range 3 {
			id := fmt.Sprintf("w%d-%d", n, i)
			rows = append(rows, item{"id": id})
			plays[id] = []attempt{writes(id+".txt", "poor"), writes(id+".txt", "good")}
		}
		w.items(rows...)
		w.script(plays)
		r := w.runOn(store)
		wantOutcome(t, r, journal.Good)
		return r.Wave
	}
	wave1(0)
	w.prune(store, everything)
	before := w.count()
	newest := ""
	for n := range 4 {
		newest = wave1(n + 1)
	}
	grown := w.files()
	dry := w.prune(store, wave.PruneOptions{OlderThan: -1, DryRun: true})
	if diff := cmp.Diff(grown, w.files()); diff != "" || len(dry.Waves) != 4 || dry.Files == 0 || dry.Collected {
		t.Errorf("a dry run: %+v\n%s", dry, diff)
	}
	for name, o := range map[string]wave.PruneOptions{"young": {}, "few": {OlderThan: -1, Keep: 4}, "an hour": {OlderThan: time.Hour}} {
		if done := w.prune(store, o); len(done.Waves) != 0 || len(done.Kept) != 0 || done.Files != 0 {
			t.Errorf("%s: %+v", name, done)
		}
	}
	if diff := cmp.Diff(grown, w.files()); diff != "" {
		t.Errorf("something went: %s", diff)
	}
	if done := w.prune(store, wave.PruneOptions{OlderThan: -1, Keep: 1}); len(done.Waves) != 3 || !done.Collected || done.Waves[0].EndedAt.IsZero() {
		t.Errorf("all but one: %+v", done)
	}
	done := w.prune(store, everything)
	if len(done.Waves) != 1 || done.Waves[0].Wave != newest || done.Files == 0 || done.Bytes == 0 {
		t.Errorf("the last: %+v", done)
	}
	if diff := cmp.Diff(before, w.count()); diff != "" {
		t.Errorf("before (-) and after (+) differ:\n%s", diff)
	}
	if done := w.prune(store, everything); len(done.Waves) != 0 || done.Files != 0 || done.Collected {
		t.Errorf("once more: %+v", done)
	}
	// What happened is still known, and what shipped is still recognised.
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		fold, err := journal.Fold(r, newest)
		if err == nil && len(wave.NewReport(fold).Items) != 3 {
			t.Error("the report is gone")
		}
		return err
	}))
	if _, err := w.archive(store).Log(t.Context(), newest, "w4-0", false, os.Stderr); refusal(t, err) != "nothing_kept" {
		t.Errorf("the log: %v", err)
	}
	if _, err := w.archive(store).Diff(t.Context(), newest, "w4-0"); refusal(t, err) != "nothing_kept" {
		t.Errorf("the diff: %v", err)
	}
	wantOutcome(t, w.runOn(store), journal.NothingToDo)
}

// TestPruneKeepsWhatIsNotPushed, until a person names it.
func TestPruneKeepsWhatIsNotPushed(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "good"}, item{"id": "stray"}, item{"id": "no"}, item{"id": "fails"})
	w.script(map[string][]attempt{"good": good("good"), "stray": {writes("README.md", "mine")}, "no": good("no"), "fails": {writes("fails.txt", "poor")}})
	store := w.store()
	judge := &panel{answer: func(_ context.Context, c wave.Change) (wave.Judgement, error) {
		return wave.Judgement{OK: c.Item.ID != "no", Reason: "no"}, nil
	}}
	r := w.runOn(store, func(c *wave.Config) { c.Approver = judge })
	tree := *reported(t, r, "stray").Attempts[0].Parked
	done := w.prune(store, everything)
	want := []wave.Kept{{Wave: r.Wave, Item: "stray", Why: wave.KeptTree, Place: tree}, {Wave: r.Wave, Item: "no", Why: wave.KeptCommit},
		{Wave: r.Wave, Item: "fails", Why: wave.KeptBuilt}}
	if len(done.Kept) == 3 {
		want[1].Place, want[2].Place = done.Kept[1].Place, done.Kept[2].Place
	}
	if diff := cmp.Diff(want, done.Kept); diff != "" || len(done.Waves) != 0 {
		t.Fatalf("kept: %s\n%+v", diff, done)
	}
	diff, err := w.archive(store).Diff(t.Context(), "", "stray")
	must(t, err)
	if diff.Parked != tree || diff.Commit != "" || !strings.Contains(diff.Text, "+mine") || len(diff.Left) != 0 {
		t.Errorf("diff of the parked tree: %+v", diff)
	}
	if diff, err := w.archive(store).Diff(t.Context(), "", "no"); err != nil || diff.Commit != done.Kept[1].Place || !strings.Contains(diff.Text, "+good") {
		t.Errorf("diff of the commit: %+v, %v", diff, err)
	}
	if diff, err := w.archive(store).Diff(t.Context(), "", "fails"); err != nil || diff.Commit != done.Kept[2].Place || !strings.Contains(diff.Text, "+poor") {
		t.Errorf("diff of what failed: %+v, %v", diff, err)
	}
	for _, piece := range []wave.Piece{{Wave: r.Wave, Item: "good"}, {Wave: "20200101-000000-0000", Item: "stray"}} {
		o := wave.PruneOptions{OlderThan: -1, Discard: []wave.Piece{{Wave: r.Wave, Item: "stray"}, piece}}
		if _, err := w.archive(store).Prune(t.Context(), o); refusal(t, err) != "nothing_kept" {
			t.Errorf("%+v: %v", piece, err)
		}
	}
	stray := []wave.Piece{{Wave: r.Wave, Item: "stray"}}
	if done := w.prune(store, wave.PruneOptions{DryRun: true, Discard: stray}); len(done.Discarded) != 1 || !slices.Contains(w.files(), tree) {
		t.Errorf("a dry run: %+v", done)
	}
	// Discarding does not wait for an age, and takes nothing else along.
	done = w.prune(store, wave.PruneOptions{Discard: stray})
	if len(done.Discarded) != 1 || done.Discarded[0].Place != tree || len(done.Kept) != 2 || len(done.Waves) != 0 || slices.Contains(w.files(), tree) {
		t.Errorf("discarded: %+v", done)
	}
	done = w.prune(store, wave.PruneOptions{OlderThan: -1, Discard: []wave.Piece{{Wave: r.Wave, Item: "no"}, {Wave: r.Wave, Item: "fails"}}})
	if len(done.Discarded) != 2 || len(done.Kept) != 0 || len(done.Waves) != 1 || !done.Collected {
		t.Errorf("discarded: %+v", done)
	}
	for _, name := range w.files() {
		if strings.Contains(name, r.Wave) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestPruneKeepsWhatSomebodyElseShippedOtherwise: our commit, and what our agent left, are nowhere else.
func TestPruneKeepsWhatSomebodyElseShippedOtherwise(t *testing.T) {
	for name, tt := range map[string]struct{ event, why string }{"verified": {"verified", wave.KeptCommit}, "parked": {"attempt_started", wave.KeptTree}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "first"}) // makes the key that the two states share
			w.script(map[string][]attempt{"first": good("first"), "a": {writes("a.txt", "good, ours\n")}})
			store := w.store()
			first := w.runOn(store)
			w.items(item{"id": "a"})
			other := *w
			other.state, other.backlog, other.scriptFile = w.state+"-2", filepath.Join(w.dir, "other.json"), filepath.Join(w.dir, "other-script.json")
			others := sync.OnceFunc(func() {
				theirs := other.store()
				copyKey(t, store, theirs)
				other.items(item{"id": "a"})
				other.script(map[string][]attempt{"a": {writes("a.txt", "good, theirs\n")}})
				wantOutcome(t, other.runOn(theirs), journal.Good)
			})
			var s *wave.Scheduler
			act := others
			options := []option{func(c *wave.Config) { c.Observers = []wave.Observer{&onEvent{event: tt.event, act: func() { act() }}} }}
			if tt.why == wave.KeptTree { // the agent is stopped in the middle, and the resume finds the item shipped
				act = func() {}
				options = append(options, with(&agent{work: func(ctx context.Context, task driver.Task) (driver.Result, error) {
					must(t, put(task, "a.txt", "half\n"))
					s.Stop()
					<-ctx.Done()
					others()
					return driver.Result{}, &driver.Error{Class: driver.Cancelled, Message: "stopped"}
				}}))
			}
			s = w.schedulerOn(store, options...)
			report := w.runOn2(s)
			if tt.why == wave.KeptTree {
				reports, err := w.schedulerOn(store).Resume(t.Context(), report.Wave)
				must(t, err)
				report = reports[0]
			}
			if i := wantState(t, report, "a", journal.StateShipped); !strings.HasPrefix(i.Reason, "adopted") {
				t.Fatalf("%s", asJSON(i))
			}
			done := w.prune(store, everything)
			if len(done.Kept) != 1 || done.Kept[0].Why != tt.why || len(done.Waves) != 1 || done.Waves[0].Wave != first.Wave {
				t.Fatalf("pruned: %+v", done)
			}
			if diff, err := w.archive(store).Diff(t.Context(), report.Wave, "a"); err != nil || strings.Contains(diff.Text, "theirs") || diff.Text == "" {
				t.Errorf("diff: %+v, %v", diff, err)
			}
			done = w.prune(store, wave.PruneOptions{OlderThan: -1, Discard: []wave.Piece{{Wave: report.Wave, Item: "a"}}})
			if len(done.Discarded) != 1 || len(done.Waves) != 1 {
				t.Errorf("discarded: %+v", done)
			}
		})
	}
}

// TestPruneLeavesALiveWaveAlone: it ends as if nothing had been.
func TestPruneLeavesALiveWaveAlone(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "old"})
	w.script(map[string][]attempt{"old": good("old")})
	store := w.store()
	wantOutcome(t, w.runOn(store), journal.Good)
	w.items(item{"id": "a"})
	started, goOn := make(chan struct{}), make(chan struct{})
	slow := &agent{work: func(_ context.Context, task driver.Task) (driver.Result, error) {
		close(started)
		<-goOn
		return driver.Result{}, put(task, "a.txt", "good\n")
	}}
	report := w.began(w.schedulerOn(store, with(slow)))
	<-started
	var live string
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		open, err := journal.Open(r, "")
		live = open[0]
		return err
	}))
	done := w.prune(store, everything)
	if len(done.Waves) != 1 || done.Collected || !slices.Equal(done.Kept, []wave.Kept{{Wave: live, Why: wave.KeptRunning}}) {
		t.Errorf("beside a running wave: %+v", done)
	}
	if _, err := w.archive(store).Abandon(t.Context(), w.tracker(), live, "test"); err == nil {
		t.Error("a running wave was abandoned")
	} else if _, alive := errors.AsType[*wave.AliveError](err); !alive {
		t.Errorf("abandon: %v", err)
	}
	if _, err := w.archive(store).Prune(t.Context(), wave.PruneOptions{Discard: []wave.Piece{{Wave: live, Item: "a"}}}); refusal(t, err) != "unfinished" {
		t.Errorf("discard: %v", err)
	}
	close(goOn)
	wantOutcome(t, report(), journal.Good)
}

// TestPruneOfLeftovers: caches of a process that died, and locks of waves that never began; but no folder that it does not know.
func TestPruneOfLeftovers(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{})
	started := make(chan struct{})
	store := w.store()
	s := w.schedulerOn(store, with(stuck(started)))
	go func() { <-started; s.Stop() }()
	parked := w.runOn2(s)
	caches := filepath.Join(w.state, "trees", parked.Wave+".caches-0123456789abcdef")
	strange := filepath.Join(w.state, "trees", "20200101-000000-0000", "items")
	engines, err := filepath.Glob(filepath.Join(w.state, "git", "*.git"))
	must(t, err)
	aside := engines[0] + ".new"
	for _, dir := range []string{caches, strange, aside} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	must(t, os.WriteFile(filepath.Join(caches, "x"), []byte("x"), 0o400))
	must(t, os.Chmod(caches, 0o500))
	w.git(w.repo, "remote", "rename", "origin", "elsewhere")
	w.git(w.repo, "remote", "add", "other", w.remote)
	if _, err := w.scheduler().Run(t.Context()); err == nil {
		t.Fatal("a wave began without a remote")
	}
	locks, err := filepath.Glob(filepath.Join(w.state, "locks", "wave-*.lock"))
	must(t, err)
	if len(locks) < 2 {
		t.Fatalf("locks: %v", locks)
	}
	done := w.prune(store, everything)
	if !slices.ContainsFunc(done.Kept, func(k wave.Kept) bool { return k.Why == wave.KeptUnknown && k.Wave == "20200101-000000-0000" }) ||
		!slices.ContainsFunc(done.Kept, func(k wave.Kept) bool { return k.Why == wave.KeptUnfinished && k.Wave == parked.Wave }) || len(done.Kept) != 2 {
		t.Errorf("kept: %+v", done.Kept)
	}
	files := w.files()
	for _, name := range files {
		if strings.Contains(name, "caches-") || strings.HasSuffix(name, ".git.new") || strings.HasSuffix(name, ".lock") && strings.Contains(name, "wave-") && !strings.Contains(name, parked.Wave) {
			t.Errorf("%s is left", name)
		}
	}
	if !slices.Contains(files, "trees/20200101-000000-0000/items") {
		t.Error("a strange folder went")
	}
	w.git(w.repo, "remote", "remove", "other")
	w.git(w.repo, "remote", "rename", "elsewhere", "origin")
	reports, err := w.schedulerOn(store, with(writer())).Resume(t.Context(), parked.Wave)
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
}

// runOn2 runs a wave of a scheduler that the test made.
func (w *world) runOn2(s *wave.Scheduler) wave.Report {
	w.t.Helper()
	report, err := s.Run(w.t.Context())
	must(w.t, err)
	return report
}

// TestAbandonGivesTheItemsBack, uncounted, and keeps what they had come to.
func TestAbandonGivesTheItemsBack(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"}, item{"id": "c"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "c": {{"fail": "refused"}}})
	store := w.store()
	s := &shelf{keep: true, err: errors.New("no line"), refs: map[string]string{}}
	r := w.runOn(store, func(c *wave.Config) { c.Shipper = s.of })
	wantState(t, r, "a", journal.StateShipFailed)
	must(t, os.Rename(w.remote, w.remote+".away"))
	if _, err := w.schedulerOn(store).Resume(t.Context(), r.Wave); err == nil {
		t.Fatal("the remote is gone, and the wave was resumed")
	}
	must(t, (wave.Halt{Dir: w.state}).Set(wave.HaltNote{Reason: "lunch"})) // is no obstacle
	report, err := w.archive(store).Abandon(t.Context(), w.tracker(), r.Wave, "the remote is gone")
	must(t, err)
	checkContract(t, report)
	must(t, (wave.Halt{Dir: w.state}).Clear())
	wantOutcome(t, report, journal.Failed)
	for _, id := range []string{"a", "b"} {
		if i := wantState(t, report, id, journal.StateCancelled); !strings.Contains(i.Reason, "abandoned: the remote is gone") {
			t.Errorf("reason %q", i.Reason)
		}
		row := w.read(id)
		wantStatus(t, row, tracker.Todo)
		if row.Attempts != 0 || row.Claim != nil {
			t.Errorf("row: %+v", row)
		}
	}
	wantState(t, report, "c", journal.StateDriverFailed)
	if again, err := w.archive(store).Abandon(t.Context(), w.tracker(), r.Wave, "again"); err != nil || again.Wave != r.Wave {
		t.Errorf("again: %v", err)
	}
	if _, err := w.archive(store).Abandon(t.Context(), w.tracker(), "20200101-000000-0000", ""); err == nil {
		t.Error("a wave that is not there was abandoned")
	}
	if done := w.prune(store, everything); len(done.Kept) != 2 || done.Kept[0].Why != wave.KeptCommit {
		t.Errorf("kept: %+v", done.Kept)
	}
	must(t, os.Rename(w.remote+".away", w.remote))
	wantState(t, w.runOn(store), "a", journal.StateShipped)
}

// TestAbandonedPushThatLanded is found by whoever takes the item next.
func TestAbandonedPushThatLanded(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	s := &shelf{silent: errors.New("no line"), refs: map[string]string{}}
	use := func(c *wave.Config) { c.Shipper = s.of }
	r := w.runOn(store, use)
	wantState(t, r, "a", journal.StateShipFailed)
	_, err := w.archive(store).Abandon(t.Context(), w.tracker(), r.Wave, "no line")
	must(t, err)
	s.silent = nil
	landed := s.refs[wave.ItemRef("a")]
	w.git("", "--git-dir="+s.objects, "push", "--quiet", w.remote, landed+":refs/aesop/landed")
	again := w.runOn(store, use)
	if i := wantState(t, again, "a", journal.StateShipped); *i.Commit != landed || !strings.Contains(i.Reason, "adopted") || len(i.Attempts) != 0 {
		t.Errorf("item: %s", asJSON(i))
	}
}

// TestStateWithBracketsInItsPath: a path is not read as a pattern.
func TestStateWithBracketsInItsPath(t *testing.T) {
	w := newWorld(t)
	w.state = filepath.Join(w.dir, "[old] state")
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	report := w.runOn(store, func(c *wave.Config) { c.Approver = &seat{answer: wave.Judgement{Reason: "no"}} })
	wantState(t, report, "a", journal.StateReviewRejected)
	if _, err := w.archive(store).Diff(t.Context(), report.Wave, "a"); err != nil {
		t.Errorf("diff: %v", err)
	}
	if done := w.prune(store, everything); len(done.Kept) == 0 {
		t.Errorf("the verified commit that did not ship is not listed: %+v", done)
	}
	if left, err := os.ReadDir(filepath.Join(w.state, "trees")); len(left) > 0 || err != nil {
		t.Errorf("left in trees: %v (%v)", left, err)
	}
}
