package journal_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
	"aesop/wave/journal"
)

// two is the plan of a wave with the items a and b that names no place, as older versions wrote it where place is "".
func two(place string) journal.Planned {
	p := planned()
	p.Place, p.Skipped = place, nil
	return p
}

// summaries are those of the waves after one.
func summaries(t *testing.T, store statestore.Store, after string) (all []journal.Summary) {
	t.Helper()
	view(t, store, func(r statestore.Reader) error {
		all = nil
		for s, err := range journal.Summaries(r, after) {
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		return nil
	})
	return all
}

func wantNoDrift(t *testing.T, store statestore.Store) {
	t.Helper()
	view(t, store, func(r statestore.Reader) error {
		found, err := journal.Check(r)
		if len(found) > 0 {
			t.Errorf("found is %v", found)
		}
		return err
	})
}

// TestASummaryFollowsAWave through a stop, a resume by another driver, an end that leaves work, and the end of that.
func TestASummaryFollowsAWave(t *testing.T) {
	store, advance := memory()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	j := journal.Create(journal.Config{Store: store, Place: "here"}, id)
	for n, step := range []struct {
		events []journal.Event
		want   journal.Summary
	}{
		{[]journal.Event{two("here"), journal.Claimed{Items: []string{"a", "b"}}}, journal.Summary{Driver: "script", Items: map[string]int{"open": 2}}},
		{[]journal.Event{journal.ItemEnded{Item: "b", State: journal.StateNoChanges}}, journal.Summary{Driver: "script", Items: map[string]int{"open": 2}}}, // behind
		{[]journal.Event{journal.Stopped{Outcome: journal.Halted}},
			journal.Summary{Driver: "script", EndedAt: began.Add(2 * time.Second), Outcome: journal.Halted, Items: map[string]int{"open": 1, "no_changes": 1}}},
		{[]journal.Event{journal.TakenOver{Driver: "other"}}, journal.Summary{Driver: "other", Items: map[string]int{"open": 1, "no_changes": 1}}},
		{[]journal.Event{journal.AttemptStarted{Item: "a", Attempt: "t"}, journal.AttemptEnded{Item: "a", Attempt: "t", Outcome: journal.OutcomeBuilt, Commit: "c"},
			journal.Verified{Item: "a", Attempt: "t", Commit: "c", Test: journal.Test{Passed: true}}, journal.PushFailed{Repo: "../r", Error: "push_refused"}, journal.Ended{Outcome: journal.Failed}},
			journal.Summary{Driver: "other", EndedAt: began.Add(4 * time.Second), Outcome: journal.Failed, Items: map[string]int{"open": 1, "no_changes": 1}}},
		{[]journal.Event{journal.TakenOver{Driver: "script"}, journal.Shipped{Repo: "../r", Items: map[string]string{"a": "c"}}, journal.Ended{Outcome: journal.Partial}},
			journal.Summary{Driver: "script", EndedAt: began.Add(5 * time.Second), Outcome: journal.Partial, Items: map[string]int{"shipped": 1, "no_changes": 1}}},
	} {
		if n > 0 {
			advance(time.Second)
		}
		appendTo(t, j, step.events...)
		step.want.ID, step.want.At, step.want.Place = id, began, "here"
		if diff := cmp.Diff([]journal.Summary{step.want}, summaries(t, store, "")); diff != "" {
			t.Errorf("step %d: %s", n, diff)
		}
		wantNoDrift(t, store)
	}
}

// TestAWaveStaysInThePlaceOfItsBeginning whoever writes its end, such as a process that does not know the place.
func TestAWaveStaysInThePlaceOfItsBeginning(t *testing.T) {
	store, _ := memory()
	appendTo(t, journal.Create(journal.Config{Store: store, Place: "here"}, id), two("here"))
	j, err := journal.Load(t.Context(), journal.Config{Store: store}, id)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, j, journal.Stopped{Outcome: journal.Halted})
	if all := summaries(t, store, ""); all[0].Place != "here" || all[0].Outcome != journal.Halted {
		t.Errorf("it is %+v", all)
	}
	wantNoDrift(t, store)
}

// TestRecordsOfOlderVersionsAreGoodEnough: they say when and where a wave began, and no more; their events do not name the place.
func TestRecordsOfOlderVersionsAreGoodEnough(t *testing.T) {
	store, _ := memory()
	j := journal.Create(journal.Config{Store: store, Place: "here"}, id)
	appendTo(t, j, two(""), journal.ItemEnded{Item: "a", State: journal.StateNoChanges}, journal.Stopped{Outcome: journal.Halted})
	short := `{"at":"2026-01-02T03:04:05Z","place":"here"}`
	put(t, store, "wave/"+id, short)
	wantNoDrift(t, store)
	want := journal.Summary{ID: id, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Place: "here", Driver: "script", EndedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Outcome: journal.Halted, Items: map[string]int{"open": 1, "no_changes": 1}}
	if diff := cmp.Diff([]journal.Summary{want}, summaries(t, store, "")); diff != "" {
		t.Error(diff)
	}
	for _, lost := range []statestore.Key{"wave/" + id, "open/" + id} { // the other one knows the place
		put(t, store, lost, "")
		if err := store.Update(t.Context(), func(tx statestore.Tx) error { _, err := statestore.Repair(tx, journal.Check); return err }); err != nil {
			t.Fatal(err)
		}
		view(t, store, func(r statestore.Reader) error {
			open, err := journal.Open(r, "here")
			if all := summaries(t, store, ""); len(open) != 1 || len(all) != 1 || all[0].Place != "here" {
				t.Errorf("%s was lost: open are %v, and all are %+v", lost, open, all)
			}
			return err
		})
		wantNoDrift(t, store)
	}
}

// TestAnUnfinishedWaveMustBeFound: one that ended and left work for a resume is open, and is repaired to be.
func TestAnUnfinishedWaveMustBeFound(t *testing.T) {
	store, _ := memory()
	j := journal.Create(journal.Config{Store: store, Place: "here"}, id)
	appendTo(t, j, two("here"), journal.ItemEnded{Item: "b", State: journal.StateNoChanges}, journal.AttemptStarted{Item: "a", Attempt: "t"},
		journal.AttemptEnded{Item: "a", Attempt: "t", Outcome: journal.OutcomeBuilt, Commit: "c"}, journal.Verified{Item: "a", Attempt: "t", Commit: "c", Test: journal.Test{Passed: true}},
		journal.PushFailed{Repo: "../r", Error: "push_refused"}, journal.Ended{Outcome: journal.Failed})
	put(t, store, "open/"+id, "")
	view(t, store, func(r statestore.Reader) error {
		found, err := journal.Check(r)
		if len(found) != 1 || found[0].Key != "open/"+id {
			t.Errorf("found is %v", found)
		}
		return err
	})
}

func TestSummariesGoOnBehindAWave(t *testing.T) {
	store, _ := memory()
	for _, name := range []string{"w-1", "w-2", "w-3"} {
		appendTo(t, journal.Create(journal.Config{Store: store, Place: "here"}, name), two("here"))
	}
	if all := summaries(t, store, "w-1"); len(all) != 2 || all[0].ID != "w-2" || all[1].ID != "w-3" {
		t.Errorf("after the first are %+v", all)
	}
	put(t, store, "wave/w-2", "{")
	view(t, store, func(r statestore.Reader) error {
		var seen, failed int
		for _, err := range journal.Summaries(r, "") {
			if seen++; err != nil {
				failed = seen
				if damaged, ok := errors.AsType[*statestore.DamagedError](err); !ok || damaged.What != "record wave/w-2" {
					t.Errorf("error is %v", err)
				}
			}
		}
		if seen != 2 || failed != 2 { // an error is the last
			t.Errorf("%d were seen, and number %d failed", seen, failed)
		}
		return nil
	})
}

func TestWhichWavesAreKnown(t *testing.T) {
	store, _ := memory()
	appendTo(t, journal.Create(journal.Config{Store: store, Place: "here"}, "w-1"), two("here"))
	appendTo(t, journal.Create(journal.Config{Store: store, Place: "there"}, "w-2"), two("there"))
	put(t, store, "wave/", "{}") // of no wave
	view(t, store, func(r statestore.Reader) error {
		for name, want := range map[string]bool{"w-1": true, "w-2": true, "w-3": false, "": false} {
			if known, err := journal.Knows(r, name); known != want || err != nil {
				t.Errorf("%q is known: %t (%v)", name, known, err)
			}
		}
		return nil
	})
	put(t, store, "wave/", "")
	view(t, store, func(r statestore.Reader) error {
		all, err := journal.Open(r, "")
		there, errThere := journal.Of(r, "there")
		if diff := cmp.Diff([][]string{{"w-1", "w-2"}, {"w-2"}}, [][]string{all, there}); diff != "" {
			t.Error(diff)
		}
		return errors.Join(err, errThere)
	})
}
