package wave_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

func TestLandedPushCountsWhateverPeopleEditedMeanwhile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	if code, _ := w.binary("push", "run"); code != -1 {
		t.Fatalf("exit %d", code)
	}
	w.edit("Write b.txt.", "Write another b.txt.")
	if code, out := w.binary("", "resume"); code != 0 {
		t.Fatalf("resume: exit %d\n%s", code, out)
	}
	for _, id := range []string{"a", "b"} {
		row := w.read(id)
		wantStatus(t, row, tracker.Done)
		if row.Shipped.Commit != w.refs()["refs/aesop/items/"+id] {
			t.Errorf("%s: backlog %s, remote %s", id, row.Shipped.Commit, w.refs()["refs/aesop/items/"+id])
		}
	}
}

// TestLandedPushNeedsNothingOfTheSetup: what became of a push is asked before anything can fail that only work needs.
func TestLandedPushNeedsNothingOfTheSetup(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	w := kitWorld(t)
	w.items(item{"id": "a"})
	w.write("aesop.json", `{"carry": ["kit/"]}`)
	w.script(map[string][]attempt{"a": good("a")})
	if code, out := w.binary("push", "run"); code != -1 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	must(t, os.RemoveAll(filepath.Join(w.repo, "kit")))
	for _, kept := range w.kept() {
		must(t, os.RemoveAll(kept))
	}
	if code, out := w.binary("", "resume"); code != 0 {
		t.Errorf("exit %d\n%s", code, out)
	}
	wantStatus(t, w.read("a"), tracker.Done)
}

func TestItemEditedWhileParkedIsGivenBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs SIGKILL")
	}
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	if code, _ := w.binary("verified", "run"); code != -1 {
		t.Fatalf("exit %d", code)
	}
	w.edit("Write b.txt.", "Write another b.txt.")
	if code, out := w.binary("", "resume"); code != 1 {
		t.Fatalf("resume: exit %d\n%s", code, out)
	}
	wantStatus(t, w.read("a"), tracker.Done)
	row := w.read("b")
	wantStatus(t, row, tracker.Todo)
	if row.Attempts != 0 || row.Claim != nil {
		t.Errorf("row: %+v", row)
	}
}

// reopener reopens an item when an event is stored, as a person could at that moment.
type reopener struct {
	w     *world
	event string
	act   func()
}

func (r *reopener) Observe(_ *journal.Wave, e journal.Event) {
	if e.Type() == r.event && r.act != nil {
		act := r.act
		r.act = nil
		act()
	}
}

func TestReopeningBetweenPlanAndClaimIsNotSwallowed(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	other := w.schedulerOn(store)
	r := &reopener{w: w, event: "planned", act: func() {
		report, err := other.Run(t.Context())
		if err != nil || report.Outcome != journal.Good {
			t.Errorf("the other wave: %v, %s", err, asJSON(report))
		}
		if err := w.tracker().Operate(t.Context(), tracker.Order{ID: "a", Request: tracker.Reopen, Reason: "again"}); err != nil {
			t.Error(err)
		}
		w.script(map[string][]attempt{"a": {writes("a.txt", "good, better\n")}})
	}}
	w.script(map[string][]attempt{"a": good("a")})
	late := &agent{}
	late.work = w.lateScript()
	report, err := w.schedulerOn(store, with(late), func(c *wave.Config) { c.Observers = []wave.Observer{r} }).Run(t.Context())
	must(t, err)
	i := wantState(t, report, "a", journal.StateShipped)
	if len(i.Attempts) != 1 || i.Reason != "" {
		t.Errorf("the reopened item was not built: %s", asJSON(i))
	}
	if w.show(*i.Commit, "a.txt") != "good, better" {
		t.Errorf("a.txt: %q", w.show(*i.Commit, "a.txt"))
	}
}

func TestWavesOfAnotherStateAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	started := make(chan struct{})
	s := w.schedulerOn(store, with(stuck(started)))
	done := make(chan wave.Report, 1)
	go func() {
		report, err := s.Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		done <- report
	}()
	<-started
	reports, err := w.schedulerOn(store, func(c *wave.Config) { c.State = filepath.Join(w.dir, "elsewhere") }).Resume(t.Context(), "")
	if err != nil || len(reports) != 0 {
		t.Errorf("another state took the wave over: %v, %s", err, asJSON(reports))
	}
	_, err = w.schedulerOn(store).Resume(t.Context(), w.newest())
	if err == nil || !strings.Contains(err.Error(), "is running") {
		t.Errorf("the live wave was resumed: %v", err)
	}
	s.Stop()
	wantOutcome(t, <-done, journal.Interrupted)
}
