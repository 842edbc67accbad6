package wave_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aesop/driver"
	"aesop/statestore"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// asks makes a wave ask for as much proof as a policy says.
func asks(p policy.Policy) option { return func(c *wave.Config) { c.Policy = &p } }

// counting is a test command that fails before the change, and then writes down that it ran and passes as often as it may.
func (w *world) counting(id string, passes int) string {
	return fmt.Sprintf(`test -e %[1]s.txt || exit 1; echo run >> %[2]s; n=$(grep -c . %[2]s); echo "this is run $n"; test $n -le %[3]d`, id, filepath.Join(w.dir, id+".runs"), passes)
}

// runs is how often the counting test of an item ran.
func (w *world) runs(id string) int {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, id+".runs"))
	must(w.t, err)
	return strings.Count(string(data), "run")
}

func TestTestThatPassesOnlyOnceIsNotVerified(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "flaky", "testCmd": w.counting("flaky", 1)}, item{"id": "good"})
	w.script(map[string][]attempt{"flaky": good("flaky"), "good": good("good")})
	report := w.run(asks(policy.Policy{SpotCheck: 1, Repairs: 3}))
	wantState(t, report, "good", journal.StateShipped)
	i := wantState(t, report, "flaky", journal.StateNotVerified)
	if !strings.Contains(i.Reason, "passed, and failed when it was run again") || i.Verified || i.Proof != nil || i.SpotCheck == nil || *i.SpotCheck != "failed" {
		t.Errorf("%s", asJSON(i))
	}
	if f := i.Failure; f.Step != "spot_check" || *f.Exit != 1 || !strings.Contains(f.Tail, "this is run 1") || !strings.Contains(f.Tail, "this is run 2") {
		t.Errorf("failure: %s", asJSON(f))
	}
	if len(i.Attempts) != 1 || report.Steps.SpotCheck != "done" || w.runs("flaky") != 2 {
		t.Errorf("%d attempts, step %s, %d runs", len(i.Attempts), report.Steps.SpotCheck, w.runs("flaky"))
	}
	wantStatus(t, w.read("flaky"), tracker.Failed)
}

func TestSpotCheckTakesItsShare(t *testing.T) {
	for name, tt := range map[string]struct {
		share   float64
		checked int
		step    string
	}{"none": {0, 0, "not_configured"}, "at least one": {0.01, 1, "done"}, "half, rounded up": {0.5, 3, "done"}, "all": {1, 5, "done"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ids := []string{"a", "b", "c", "d", "e"}
			plays := map[string][]attempt{}
			var rows []item
			for _, id := range ids {
				rows, plays[id] = append(rows, item{"id": id, "testCmd": w.counting(id, 9)}), good(id)
			}
			w.items(rows...)
			w.script(plays)
			store := w.store()
			report := w.runOn(store, asks(policy.Policy{SpotCheck: tt.share}))
			wantOutcome(t, report, journal.Good)
			var checked []string
			for _, i := range report.Items {
				// The verification, the union, and perhaps the spot check.
				if again := w.runs(i.ID) - 2; (i.SpotCheck != nil) != (again == 1) || again > 1 {
					t.Errorf("%s: reported %v, run %d times", i.ID, i.SpotCheck, again+2)
				}
				if i.SpotCheck != nil {
					checked = append(checked, i.ID)
				}
			}
			if len(checked) != tt.checked || report.Steps.SpotCheck != tt.step || report.Policy.SpotCheck != tt.share {
				t.Errorf("%v are checked, step %s, policy %+v", checked, report.Steps.SpotCheck, report.Policy)
			}
			slices.Sort(checked)
			if want := choice(t, store, report.Wave, policy.SpotCheck, tt.share, ids); !slices.Equal(checked, want) {
				t.Errorf("%v are checked, %v chosen", checked, want)
			}
		})
	}
}

// choice is what the state's key chooses, sorted.
func choice(t *testing.T, store statestore.Store, id string, purpose policy.Purpose, share float64, slugs []string) []string {
	t.Helper()
	var key []byte
	must(t, store.View(t.Context(), func(r statestore.Reader) error {
		record, err := r.Get(signingKey)
		key = record.Value
		return err
	}))
	return slices.Sorted(slices.Values(policy.Choose(key, id, purpose, policy.Count(share, len(slugs)), slugs)))
}

// TestResumeChecksTheSameAndNothingTwice: the wave stops after the first of its spot checks.
func TestResumeChecksTheSameAndNothingTwice(t *testing.T) {
	w := newWorld(t)
	ids := []string{"a", "b", "c", "d"}
	plays := map[string][]attempt{}
	var rows []item
	for _, id := range ids {
		rows, plays[id] = append(rows, item{"id": id, "testCmd": w.counting(id, 9)}), good(id)
	}
	w.items(rows...)
	w.script(plays)
	store, needs := w.store(), asks(policy.Policy{SpotCheck: 0.75})
	ctx, cancel := context.WithCancel(t.Context())
	stop := &onEvent{event: "spot_checked", act: cancel}
	stopped, err := w.schedulerOn(store, needs, func(c *wave.Config) { c.Parallel = 1; c.Observers = []wave.Observer{stop} }).Run(ctx)
	must(t, err)
	wantOutcome(t, stopped, journal.Interrupted)
	if stopped.Steps.SpotCheck != "partial" {
		t.Errorf("step %s", stopped.Steps.SpotCheck)
	}
	// What it asks for was planned: a laxer configuration does not change it.
	reports, err := w.schedulerOn(store, asks(policy.Policy{})).Resume(t.Context(), "")
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
	want := choice(t, store, stopped.Wave, policy.SpotCheck, 0.75, ids)
	for _, id := range ids {
		before, after := reported(t, stopped, id), reported(t, reports[0], id)
		if (after.SpotCheck != nil) != slices.Contains(want, id) {
			t.Errorf("%s: %v, chosen are %v", id, after.SpotCheck, want)
		}
		// The verification, the union, and the spot check; one that the stop ended is done again.
		if n := w.runs(id); before.SpotCheck != nil && n != 3 || after.SpotCheck == nil && n != 2 {
			t.Errorf("%s ran %d times", id, n)
		}
	}
	if reports[0].Steps.SpotCheck != "done" {
		t.Errorf("step %s", reports[0].Steps.SpotCheck)
	}
}

// TestSpotCheckStartsWithCachesAsAtFirst: what the first run left in its caches is not there again.
func TestSpotCheckStartsWithCachesAsAtFirst(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a", "testCmd": `test -e a.txt || { echo > "$XDG_CACHE_HOME/base"; exit 1; }; test -e "$XDG_CACHE_HOME/base" && test ! -e "$XDG_CACHE_HOME/run" && echo > "$XDG_CACHE_HOME/run"`})
	w.script(map[string][]attempt{"a": good("a")})
	i := wantState(t, w.run(asks(policy.Policy{SpotCheck: 1})), "a", journal.StateShipped)
	if i.SpotCheck == nil || *i.SpotCheck != "passed" {
		t.Errorf("%s", asJSON(i))
	}
}

func TestPolicyIsThatOfTheDriversTier(t *testing.T) {
	for tier := 1; tier <= policy.LeastTrusted; tier++ {
		w := newWorld(t)
		w.items(item{"id": "a"})
		played := writer()
		played.info = driver.Info{Name: "played", Tier: tier}
		report := w.run(with(played))
		if want := policy.For(tier); *report.Policy != wave.PolicyReport(want) {
			t.Errorf("tier %d: %+v", tier, report.Policy)
		}
	}
}

func TestPolicySaysHowOftenIsRepaired(t *testing.T) {
	for _, repairs := range []int{0, 2} {
		w := newWorld(t)
		w.items(item{"id": "a"})
		w.script(map[string][]attempt{"a": {writes("a.txt", "poor")}})
		i := wantState(t, w.run(asks(policy.Policy{Repairs: repairs})), "a", journal.StateNotVerified)
		if len(i.Attempts) != repairs+1 {
			t.Errorf("%d attempts for %d repairs", len(i.Attempts), repairs)
		}
	}
}

func TestPolicyThatCannotBeIsRefused(t *testing.T) {
	w := newWorld(t)
	w.items()
	c := wave.Config{Repo: w.repo, State: w.state, Tracker: w.tracker(), Store: w.store(), Driver: writer(), Policy: &policy.Policy{SpotCheck: 2}}
	if _, err := wave.New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "spotCheck is 2") {
		t.Error(err)
	}
}
