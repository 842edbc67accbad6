package job_test

import (
	"encoding/json"
	"errors"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/outbox"
)

func (f *fixture) update(fn func(tx statestore.Tx) error) {
	f.Helper()
	if err := f.store.Update(f.Context(), fn); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) drifts() []string {
	f.Helper()
	var all []string
	err := f.store.View(f.Context(), func(r statestore.Reader) error {
		drifts, err := job.Check(r)
		for _, d := range drifts {
			all = append(all, d.String())
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	return all
}

func (f *fixture) subscribe(name string, kinds ...string) {
	f.Helper()
	f.update(func(tx statestore.Tx) error {
		return outbox.Subscribe(tx, outbox.Subscription{Name: name, Kinds: kinds})
	})
}

// played is a store in which random requests were made of some jobs.
func played(t *testing.T, seed int64) *fixture {
	f := newFixture(t)
	f.subscribe("all")
	f.subscribe("ends", "job.complete", "job.fail")
	random := rand.New(rand.NewSource(seed))
	last := map[string]job.Record{}
	tokens := []string{f.token(), f.token(), f.token(), f.token()}
	for range 300 {
		id := []string{"a", "b", "c/d"}[random.Intn(3)]
		request := randomRequest(id, byte(random.Intn(256)), byte(random.Intn(256)), tokens, last[id])
		if _, ok := request.(job.Settle); ok {
			continue // is for the notifier, with what it takes off the queue
		}
		if f.apply(request).Outcome == job.Applied {
			last[id] = f.get(id)
		}
	}
	return f
}

// TestWhatIsRebuiltEqualsWhatIsLive holds the records that transitions keep against those that the events make.
func TestWhatIsRebuiltEqualsWhatIsLive(t *testing.T) {
	for seed := range int64(20) {
		f := played(t, seed)
		if drifts := f.drifts(); len(drifts) > 0 {
			t.Fatalf("seed %d: %v", seed, drifts)
		}
	}
}

// TestEveryRecordIsRepairedFromTheEvents spoils each record of jobs in each way, and finds and repairs just that.
func TestEveryRecordIsRepairedFromTheEvents(t *testing.T) {
	f := played(t, 1)
	before := f.values()
	var keys []statestore.Key
	for k := range before {
		if !strings.HasPrefix(string(k), "outbox/") {
			keys = append(keys, k)
		}
	}
	for prefix, least := range map[string]int{"job/": 2, "item/": 1, "attempt/": 2, "wave-job/": 2} {
		n := 0
		for _, k := range keys {
			if strings.HasPrefix(string(k), prefix) {
				n++
			}
		}
		if n < least {
			t.Fatalf("there are %d records under %s", n, prefix)
		}
	}
	spoil := func(k statestore.Key, value []byte) {
		f.update(func(tx statestore.Tx) (err error) {
			if value == nil {
				return tx.Delete(k, statestore.Any)
			}
			_, err = tx.Put(k, value, statestore.Any)
			return err
		})
		if drifts := f.drifts(); len(drifts) != 1 || !strings.Contains(drifts[0], string(k)) {
			t.Fatalf("%s was spoilt, and found was %v", k, drifts)
		}
		f.update(func(tx statestore.Tx) error {
			drifts, err := statestore.Repair(tx, job.Check)
			if err == nil && (len(drifts) != 1 || drifts[0].Key != k) {
				t.Errorf("%s was spoilt, and repaired was %v", k, drifts)
			}
			return err
		})
	}
	for _, k := range keys {
		for _, value := range [][]byte{nil, []byte("{"), []byte(`{"id":"x","status":"completed"}`)} {
			spoil(k, value)
		}
	}
	for _, k := range []statestore.Key{"job/more", "item/more", "attempt/more", "wave-job/w/more", "reserved/a"} {
		spoil(k, []byte(`"a"`))
	}
	after := f.values()
	for k, v := range before {
		if string(after[k]) != string(v) {
			t.Errorf("%s is %s, was %s", k, after[k], v)
		}
	}
	if len(after) != len(before) {
		t.Errorf("there are %d records, were %d", len(after), len(before))
	}
}

// values are the values of all records.
func (f *fixture) values() map[statestore.Key][]byte {
	f.Helper()
	values := map[statestore.Key][]byte{}
	err := f.store.View(f.Context(), func(r statestore.Reader) error {
		for record, err := range r.Scan(statestore.Range{}) {
			if err != nil {
				return err
			}
			values[record.Key] = record.Value
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return values
}

func TestADamagedLogIsNotRepairedFrom(t *testing.T) {
	for what, spoil := range map[string]func(*job.Event){
		"a transition is missing": func(e *job.Event) { e.Job.TransitionSeq = 3 },
		"it is of another job":    func(e *job.Event) { e.Job.ID = "b" },
		"no such transition":      func(e *job.Event) { e.Job.Status = job.Completed },
		"no outcome":              func(e *job.Event) { e.Outcome = "" },
	} {
		f := newFixture(t)
		f.create("a", "item")
		event := job.Event{Outcome: job.Applied, By: "operator", Job: job.Record{ID: "a", Item: "item", Wave: "w1", Status: job.Cancelled, TransitionSeq: 2}}
		spoil(&event)
		data, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		f.update(func(tx statestore.Tx) error {
			_, err := tx.Append(job.Stream("a"), statestore.AnyVersion, statestore.Entry{Type: "job.cancel", Data: data})
			return err
		})
		before := f.dump()
		err = f.store.Update(t.Context(), func(tx statestore.Tx) error { _, err := statestore.Repair(tx, job.Check); return err })
		damaged, ok := errors.AsType[*statestore.DamagedError](err)
		if !ok || damaged.What != "event 2 of job/a" || f.dump() != before {
			t.Errorf("%s: error is %v", what, err)
		}
	}
}

// TestReplayTakesWhatTheTableHas, and nothing else.
func TestReplayTakesWhatTheTableHas(t *testing.T) {
	running := &job.Record{ID: "a", Item: "i", Status: job.Running, Attempt: "x", TransitionSeq: 2}
	for _, test := range []struct {
		kind   string
		status job.Status
		want   bool
	}{
		{"job.progress", job.Running, true}, {"job.reserve", job.Running, true}, {"job.fail", job.Failed, true}, {"job.finalize", job.Failed, true},
		{"job.requeue", job.Pending, true}, {"job.progress", job.Failed, false}, {"job.fail", job.Completed, false}, {"job.finalize", job.Completed, false},
		{"job.claim", job.Running, false}, {"job.settle", job.Running, false}, {"job.revive", job.Running, false}, {"fail", job.Failed, false},
	} {
		after := *running
		after.Status, after.TransitionSeq = test.status, 3
		data, err := json.Marshal(job.Event{Outcome: job.Applied, Job: after})
		if err != nil {
			t.Fatal(err)
		}
		got, err := job.Replay(running, statestore.Stored{Entry: statestore.Entry{Type: test.kind, Data: data}, Stream: "job/a"})
		if (err == nil) != test.want || (got != nil) != test.want {
			t.Errorf("%s to %s: %+v, %v", test.kind, test.status, got, err)
		}
	}
	refused, err := job.Replay(running, statestore.Stored{Entry: statestore.Entry{Type: "job.fail", Data: []byte(`{"outcome":"refused"}`)}, Stream: "job/a"})
	if refused != nil || err != nil {
		t.Errorf("refused: %+v, %v", refused, err)
	}
}

// pending are the kinds of what a sink is owed.
func (f *fixture) pending(sink string) (kinds []string) {
	f.Helper()
	err := f.store.View(f.Context(), func(r statestore.Reader) error {
		for owed, err := range outbox.Pending(r, sink) {
			if err != nil {
				return err
			}
			kinds = append(kinds, owed.Intent.Kind)
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return kinds
}

// TestTheNotificationIntentIsCommittedWithTheState owes news in the transaction of the transition, and none where that is undone.
func TestTheNotificationIntentIsCommittedWithTheState(t *testing.T) {
	f := newFixture(t)
	f.create("a", "item")
	if r := f.get("a"); r.Intent != "" {
		t.Errorf("nobody is subscribed, and %s is owed", r.Intent)
	}
	f.subscribe("ends", "job.complete")
	token := f.token()
	if r := f.applied(job.Claim{ID: "a", Token: token}); r.Intent != "" {
		t.Errorf("nobody wants news of claims, and %s is owed", r.Intent)
	}
	stop := statestore.ErrConflict
	err := f.store.Update(t.Context(), func(tx statestore.Tx) error {
		if _, err := job.Apply(tx, job.Complete{ID: "a", By: job.Worker{Token: token}}); err != nil {
			return err
		}
		return stop
	})
	if err != stop || len(f.pending("ends")) != 0 {
		t.Fatalf("a transition that was undone is told: %v %v", err, f.pending("ends"))
	}
	done := f.applied(job.Complete{ID: "a", By: job.Worker{Token: token}, Reason: "good"})
	if want := outbox.ID("job/a", 3, "job.complete"); done.Intent != want || f.get("a").Intent != want {
		t.Errorf("the job is owed %q, want %q", done.Intent, want)
	}
	if got := f.pending("ends"); !slices.Equal(got, []string{"job.complete"}) {
		t.Errorf("owed is %v", got)
	}
	var news job.Record
	f.update(func(tx statestore.Tx) error {
		for owed := range outbox.Pending(tx, "ends") {
			if err := json.Unmarshal(owed.Intent.Data, &news); err != nil {
				return err
			}
		}
		return nil
	})
	if done.Intent = ""; !same(news, done) {
		t.Errorf("the news is %+v, want %+v", news, done)
	}
}

// TestSettlingIsConditionalOnTheExactIntentThatWasSent settles an older one while a newer is owed, and then the newer, twice.
func TestSettlingIsConditionalOnTheExactIntentThatWasSent(t *testing.T) {
	f := newFixture(t)
	f.subscribe("all")
	first := f.create("a", "item").Intent
	token := f.token()
	second := f.applied(job.Claim{ID: "a", Token: token}).Intent
	settle := func(intent string) job.Decision {
		return f.apply(job.Settle{ID: "a", By: job.Notifier{Intent: intent}})
	}
	if settle(second); f.get("a").Intent != second {
		t.Error("what is still owed was settled")
	}
	if d := settle(first); d.Outcome != job.Refused || d.Reason != job.StaleIntent || f.get("a").Intent != second {
		t.Errorf("settling the older: %s %s", d.Outcome, d.Reason)
	}
	events := f.log()
	before := f.get("a")
	f.update(func(tx statestore.Tx) error { _, err := outbox.Unsubscribe(tx, "all", nil); return err })
	if d := settle(second); d.Outcome != job.Applied {
		t.Errorf("settling the newer: %s %s", d.Outcome, d.Reason)
	}
	after := f.get("a")
	if before.Intent = ""; !same(before, after) || f.log() != events {
		t.Errorf("settle wrote more than its one field: %+v", after)
	}
	if d := settle(second); d.Outcome != job.Idempotent {
		t.Errorf("settling once more: %s %s", d.Outcome, d.Reason)
	}
}

// TestAnOlderLogIsNoDrift: records and events as they were written before jobs had rounds, reports, evidence and news. A field that were written
// where it is empty, or in another place, would make all jobs of an older store differ from their events.
func TestAnOlderLogIsNoDrift(t *testing.T) {
	const (
		of      = `"id":"w1/a","item":"a","wave":"w1","seat":"worker"`
		made    = `"createdAt":"2026-01-02T03:04:05Z"`
		created = `{` + of + `,"status":"pending","iteration":1,"epoch":1,"transitionSeq":1,` + made + `,"updatedAt":"2026-01-02T03:04:05Z"}`
		claimed = `{` + of + `,"status":"running","attempt":"0011223344556677","iteration":1,"epoch":1,"transitionSeq":2,"deadline":"2026-01-02T04:04:05Z",` +
			`"reserved":{"model":"m","amount":{"cost":5}},` + made + `,"updatedAt":"2026-01-02T03:05:05Z"}`
		ended = `{` + of + `,"status":"failed","reason":"no","attempt":"0011223344556677","iteration":1,"epoch":1,"transitionSeq":3,"deadline":"2026-01-02T04:04:05Z",` +
			`"explicit":true,"progress":{"a":1},` + made + `,"updatedAt":"2026-01-02T03:06:05Z"}`
	)
	amount, err := json.Marshal(job.Reservation{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	running := strings.Replace(claimed, `{"model":"m","amount":{"cost":5}}`, string(amount), 1)
	f := newFixture(t)
	f.update(func(tx statestore.Tx) error {
		for _, e := range []struct{ kind, data string }{
			{"job.create", `{"outcome":"applied","by":"operator","job":` + created + `}`},
			{"job.claim", `{"outcome":"applied","by":"worker","from":"pending","job":` + running + `}`},
			{"job.fail", `{"outcome":"applied","by":"worker","from":"running","job":` + ended + `}`},
			{"job.complete", `{"outcome":"conflict","reason":"already_ended","text":"late","by":"worker","from":"failed","job":` + ended + `}`},
		} {
			if _, err := tx.Append("job/w1/a", statestore.AnyVersion, statestore.Entry{Type: e.kind, Data: []byte(e.data)}); err != nil {
				return err
			}
		}
		for k, v := range map[statestore.Key]string{"job/w1/a": ended, "item/a": `{"epoch":1}`, "attempt/0011223344556677": `"w1/a"`, "wave-job/w1/w1/a": `"w1/a"`} {
			if _, err := tx.Put(k, []byte(v), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if drifts := f.drifts(); len(drifts) > 0 {
		t.Errorf("an older store has %v", drifts)
	}
	f.applied(job.Redispatch{ID: "w1/a", By: job.Operator{TransitionSeq: 3}, Iteration: 2})
	if drifts := f.drifts(); len(drifts) > 0 {
		t.Errorf("after a transition it has %v", drifts)
	}
}
