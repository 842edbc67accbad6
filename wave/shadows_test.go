package wave_test

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// Each fact has one owner, and whatever else shows it is a shadow. These tests spoil a shadow and see it repaired from its owner, or
// reported, and never believed.

// editRow changes the backlog's first row behind everybody's back.
func (w *world) editRow(change func(row map[string]any)) {
	w.t.Helper()
	data, err := os.ReadFile(w.backlog)
	must(w.t, err)
	var all struct {
		Items []map[string]any `json:"items"`
	}
	must(w.t, json.Unmarshal(data, &all))
	change(all.Items[0])
	data, err = json.MarshalIndent(all, "", "  ")
	must(w.t, err)
	must(w.t, os.WriteFile(w.backlog, data, 0o644))
}

// TestTheRemoteOwnsWhatIsShipped in both directions: a backlog that forgot a shipment learns of it again, and one that made a shipment up
// opens nothing.
func TestTheRemoteOwnsWhatIsShipped(t *testing.T) {
	t.Run("forgotten", func(t *testing.T) {
		w := newWorld(t)
		w.items(item{"id": "a"})
		w.script(map[string][]attempt{"a": {writes("a.txt", "good\n"), {"fail": "crashed"}}})
		wantState(t, w.run(), "a", journal.StateShipped)
		refs := w.refs()
		w.editRow(func(row map[string]any) { row["status"] = "todo"; delete(row, "shipped") })
		report := w.run()
		if i := wantState(t, report, "a", journal.StateShipped); len(i.Attempts) != 0 || !strings.Contains(i.Reason, "adopted") {
			t.Errorf("it was built again: %+v", i)
		}
		if now := w.read("a"); now.Status != "done" || now.Shipped == nil || now.Shipped.Commit != refs["refs/aesop/items/a"] {
			t.Errorf("the backlog says %+v", now)
		}
		if now := w.refs(); now["refs/aesop/items/a"] != refs["refs/aesop/items/a"] {
			t.Errorf("the remote has %v, had %v", now, refs)
		}
	})
	t.Run("made up", func(t *testing.T) {
		w := newWorld(t)
		w.items(item{"id": "a", "status": "done", "shipped": map[string]any{"wave": "w", "branch": "aesop/w", "commit": strings.Repeat("12", 20)}},
			item{"id": "b", "dependsOn": []string{"a"}})
		w.script(map[string][]attempt{"b": good("b")})
		report := w.run()
		if len(report.Skipped) != 1 || report.Skipped[0].ID != "b" || report.Skipped[0].Reason != "blocked_by" {
			t.Errorf("skipped is %+v", report.Skipped)
		}
	})
}

// TestTheStoreOwnsClaims: a claim that only the file shows keeps others out until its lease ends and is reported; one that only the store
// has is seen to be lost (TestClaimThatTheBacklogLostIsReported).
func TestTheStoreOwnsClaims(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	claim := map[string]any{"wave": "w-gone", "owner": "nobody", "attempt": strings.Repeat("0", 16), "leaseUntil": "2999-01-02T03:04:05Z"}
	w.editRow(func(row map[string]any) { row["status"], row["claim"] = "in_progress", claim })
	report := w.run()
	if len(report.Skipped) != 1 || report.Skipped[0].Reason != "claimed" || !strings.Contains(report.Skipped[0].Detail, "nobody") {
		t.Errorf("skipped is %+v", report.Skipped)
	}
	claim["leaseUntil"] = "2020-01-02T03:04:05Z"
	w.editRow(func(row map[string]any) { row["claim"] = claim })
	wantState(t, w.run(), "a", journal.StateShipped)
}

// parked is a world with a wave that HALT stopped when its item was verified, and that can go on.
func parked(t *testing.T) (*world, statestore.Store, wave.Report) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store := w.store()
	h := &haltAt{t: t, halt: wave.Halt{Dir: w.state}, event: "verified"}
	report, err := w.schedulerOn(store, func(c *wave.Config) { c.Observers = []wave.Observer{h} }).Run(t.Context())
	must(t, err)
	wantOutcome(t, report, journal.Halted)
	must(t, h.halt.Clear())
	return w, store.(watched).Store, report
}

// TestEventsOwnTheRecordsOfJobsAndWaves spoils each record of a parked wave that is a shadow of its events. It is found, and repaired, and the
// wave goes on to its end.
func TestEventsOwnTheRecordsOfJobsAndWaves(t *testing.T) {
	for _, prefix := range []statestore.Key{"job/", "item/", "attempt/", "wave-job/", "wave/", "open/"} {
		t.Run(strings.TrimSuffix(string(prefix), "/"), func(t *testing.T) {
			w, store, report := parked(t)
			var spoilt statestore.Key
			must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
				for record, err := range tx.Scan(statestore.Range{Prefix: prefix, Limit: 1}) {
					if err != nil {
						return err
					}
					spoilt = record.Key
				}
				return tx.Delete(spoilt, statestore.Any)
			}))
			var found []statestore.Drift
			must(t, store.Update(t.Context(), func(tx statestore.Tx) (err error) {
				found, err = statestore.Repair(tx, job.Check, journal.Check)
				return err
			}))
			if len(found) != 1 || found[0].Key != spoilt {
				t.Fatalf("%s was spoilt, and found was %v", spoilt, found)
			}
			reports, err := w.schedulerOn(store).Resume(t.Context(), report.Wave)
			must(t, err)
			wantState(t, reports[0], "a", journal.StateShipped)
		})
	}
}

// TestADamagedRecordStopsAWaveLoudly: until it is repaired, what cannot be read is no reason to begin anew.
func TestADamagedRecordStopsAWaveLoudly(t *testing.T) {
	w, store, report := parked(t)
	must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
		_, err := tx.Put(statestore.Key("job/"+report.Wave+"/a"), []byte("{"), statestore.Any)
		return err
	}))
	reports, err := w.schedulerOn(store).Resume(t.Context(), report.Wave)
	if err == nil || !strings.Contains(err.Error(), "job/"+report.Wave+"/a") {
		t.Errorf("resume says %v, %+v", err, reports)
	}
}

// TestEventsOwnTheReport: the file is written anew from them, and nothing reads it.
func TestEventsOwnTheReport(t *testing.T) {
	w, store, report := parked(t)
	must(t, os.WriteFile(wave.ReportPath(w.state, report.Wave), []byte(`{"outcome":"good"`), 0o600))
	reports, err := w.schedulerOn(store).Resume(t.Context(), report.Wave)
	must(t, err)
	data, err := os.ReadFile(wave.ReportPath(w.state, report.Wave))
	must(t, err)
	var written wave.Report
	if err := json.Unmarshal(data, &written); err != nil || written.Outcome != reports[0].Outcome || written.Outcome != journal.Good {
		t.Errorf("the file says %s (%v)", data, err)
	}
}

// TestTheKernelOwnsWhoIsAlive: what is written beside a lock is only a name for people.
func TestTheKernelOwnsWhoIsAlive(t *testing.T) {
	w, store, report := parked(t)
	lock := w.state + "/locks/wave-" + report.Wave + ".lock"
	must(t, os.WriteFile(lock+".owner", []byte("somebody, process 1\n"), 0o600))
	if owner, alive, err := wave.Alive(w.state, report.Wave); alive || err != nil {
		t.Errorf("%s is said to run it (%v)", owner, err)
	}
	reports, err := w.schedulerOn(store).Resume(t.Context(), report.Wave)
	must(t, err)
	wantState(t, reports[0], "a", journal.StateShipped)
}

// TestTheFileOwnsHalt: nothing in the store halts, and nothing there clears.
func TestTheFileOwnsHalt(t *testing.T) {
	w, store, report := parked(t)
	must(t, os.WriteFile(w.state+"/HALT", nil, 0o600)) // its existence alone halts
	reports, err := w.schedulerOn(store).Resume(t.Context(), report.Wave)
	must(t, err)
	wantOutcome(t, reports[0], journal.Halted)
	must(t, os.Remove(w.state+"/HALT"))
	reports, err = w.schedulerOn(store).Resume(t.Context(), report.Wave)
	must(t, err)
	wantState(t, reports[0], "a", journal.StateShipped)
}

// TestAJobMadeByHandKeepsItsItem however old it is: no claim of it can have lapsed, so only a person can end it. A job of a wave is no such
// obstacle once the backlog shows the item as free.
func TestAJobMadeByHandKeepsItsItem(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	w.script(map[string][]attempt{"a": good("a")})
	store, ahead := w.aheadStore()
	apply := func(request job.Request) {
		must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
			d, err := job.Apply(tx, request)
			if err == nil && !d.OK() {
				t.Errorf("%T: %s", request, d.Text)
			}
			return err
		}))
	}
	apply(job.Create{ID: "manual/a", Item: "a", Wave: "manual", Seat: "worker"})
	ahead.Store(int64(time.Hour))
	report := w.runOn(store)
	if len(report.Skipped) != 1 || report.Skipped[0].Reason != "claimed" || !strings.Contains(report.Skipped[0].Detail, "manual/a") {
		t.Fatalf("skipped is %+v", report.Skipped)
	}
	apply(job.Cancel{ID: "manual/a", By: job.Operator{TransitionSeq: 1}})
	wantState(t, w.runOn(store), "a", journal.StateShipped)
}

// TestJobsMadeByHandBesideAWave: one that lives keeps its item, however it stands; one that has ended, however it did, is in nobody's way, and
// stays as it was.
func TestJobsMadeByHandBesideAWave(t *testing.T) {
	token, err := tracker.NewToken(rand.Reader)
	must(t, err)
	create, claim := job.Create{ID: "manual/a", Item: "a", Wave: "manual", Seat: "worker"}, job.Claim{ID: "manual/a", Token: token}
	by, seen := job.Worker{Token: token}, func(n int) job.Operator { return job.Operator{TransitionSeq: n} }
	for name, test := range map[string]struct {
		requests []job.Request
		free     bool
	}{
		"pending":              {[]job.Request{create}, false},
		"running":              {[]job.Request{create, claim}, false},
		"pending once more":    {[]job.Request{create, claim, job.Requeue{ID: "manual/a", By: seen(2), Reason: "r"}}, false},
		"completed":            {[]job.Request{create, claim, job.Complete{ID: "manual/a", By: by}}, true},
		"failed":               {[]job.Request{create, claim, job.Fail{ID: "manual/a", By: by, Reason: "r"}}, true},
		"cancelled":            {[]job.Request{create, job.Cancel{ID: "manual/a", By: seen(1)}}, true},
		"final":                {[]job.Request{create, claim, job.Finalize{ID: "manual/a", By: seen(2), Reason: "r"}}, true},
		"ended, and once more": {[]job.Request{create, claim, job.Fail{ID: "manual/a", By: by, Reason: "r"}, job.Redispatch{ID: "manual/a", By: seen(3), Iteration: 2}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			store := w.store()
			record := func() (r job.Record) {
				must(t, store.View(t.Context(), func(tx statestore.Reader) (err error) { r, err = job.Get(tx, "manual/a"); return err }))
				return r
			}
			must(t, store.Update(t.Context(), func(tx statestore.Tx) error {
				for _, request := range test.requests {
					if d, err := job.Apply(tx, request); err != nil || !d.OK() {
						t.Fatalf("%T: %s (%v)", request, d.Text, err)
					}
				}
				return nil
			}))
			before := record()
			report := w.runOn(store)
			if test.free {
				wantState(t, report, "a", journal.StateShipped)
			} else if len(report.Skipped) != 1 || report.Skipped[0].Reason != "claimed" || !strings.Contains(report.Skipped[0].Detail, "manual/a") {
				t.Errorf("skipped is %+v, and items %+v", report.Skipped, report.Items)
			}
			if diff := cmp.Diff(before, record()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
