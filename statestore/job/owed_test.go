package job_test

import (
	"context"
	"math/rand"
	"slices"
	"testing"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/outbox"
)

// send sends what a sink is owed, up to a number of intents, and settles it.
func (f *fixture) send(most int, sink string, kinds ...string) {
	f.Helper()
	receive := outbox.SinkFunc(func(context.Context, outbox.Intent) error {
		if most--; most < 0 {
			return outbox.ErrUnreachable
		}
		return nil
	})
	n, err := outbox.New(f.Context(), outbox.Config{Store: f.store, Settled: job.Settled,
		Sinks: []outbox.Named{{Subscription: outbox.Subscription{Name: sink, Kinds: kinds}, Sink: receive}}})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := n.Flush(f.Context()); err != nil {
		f.Fatal(err)
	}
}

// TestTheNewestThatIsStillOwedIsNoted where sinks want different kinds, so that the newest news can be through before the older.
func TestTheNewestThatIsStillOwedIsNoted(t *testing.T) {
	f := newFixture(t)
	f.subscribe("begins", "job.create", "job.claim")
	f.subscribe("ends", "job.complete")
	f.create("a", "item")
	token := f.token()
	claimed := f.applied(job.Claim{ID: "a", Token: token}).Intent
	done := f.applied(job.Complete{ID: "a", By: job.Worker{Token: token}}).Intent
	if claimed == "" || done == claimed || f.get("a").Intent != done {
		t.Fatalf("owed is %q, then %q", claimed, done)
	}
	f.send(1, "ends", "job.complete")
	if got := f.get("a").Intent; got != claimed {
		t.Errorf("the newest is settled, and noted is %q, want that of the claim", got)
	}
	f.send(2, "begins", "job.create", "job.claim")
	if got := f.get("a").Intent; got != "" {
		t.Errorf("all is settled, and noted is %q", got)
	}
	if drifts := f.drifts(); len(drifts) > 0 {
		t.Error(drifts)
	}
}

// TestSendingInAnyOrderLeavesNoDrift between what jobs note and what is owed.
func TestSendingInAnyOrderLeavesNoDrift(t *testing.T) {
	wants := map[string][]string{"all": nil, "begins": {"job.create", "job.claim", "job.redispatch"}, "ends": {"job.complete", "job.fail", "job.timeout"}, "some": {"job.progress"}}
	for seed := range int64(10) {
		f := newFixture(t)
		random := rand.New(rand.NewSource(seed))
		tokens, last := []string{f.token(), f.token(), f.token(), f.token()}, map[string]job.Record{}
		for range 150 {
			id := []string{"a", "b"}[random.Intn(2)]
			sinks := []string{"", "", "", "", "begins", "ends", "some", "all"}
			if seed%2 == 0 {
				sinks = sinks[:7]
			}
			if sink := sinks[random.Intn(len(sinks))]; sink == "" {
				request := randomRequest(id, byte(random.Intn(256)), byte(random.Intn(256)), tokens, last[id])
				if _, ok := request.(job.Settle); !ok && f.apply(request).Outcome == job.Applied {
					last[id] = f.get(id)
				}
			} else if random.Intn(6) == 0 {
				f.update(func(tx statestore.Tx) error { _, err := outbox.Unsubscribe(tx, sink, job.Settled); return err })
			} else {
				f.send(random.Intn(4), sink, wants[sink]...)
			}
			if drifts := f.drifts(); len(drifts) > 0 {
				t.Fatalf("seed %d: %v", seed, drifts)
			}
		}
	}
}

// TestDamagedNewsIsNoDamageOfJobs: who sends tells of it, and jobs can be compared and repaired.
func TestDamagedNewsIsNoDamageOfJobs(t *testing.T) {
	for _, key := range []statestore.Key{"outbox/sink/all", "outbox/intent/" + statestore.Key(outbox.ID("job/a", 1, "job.create"))} {
		f := newFixture(t)
		f.subscribe("all")
		owed := f.create("a", "item").Intent
		f.update(func(tx statestore.Tx) error { _, err := tx.Put(key, []byte("{"), statestore.Any); return err })
		if drifts := f.drifts(); len(drifts) > 0 || f.get("a").Intent != owed {
			t.Errorf("%s: %v", key, drifts)
		}
		f.update(func(tx statestore.Tx) error {
			if _, err := outbox.Unsubscribe(tx, "all", job.Settled); err != nil {
				return err
			}
			_, err := statestore.Repair(tx, job.Check) // what cannot be read is dropped without a word to its job
			return err
		})
		if drifts := f.drifts(); len(drifts) > 0 || f.get("a").Intent != "" {
			t.Errorf("%s: %v, noted is %q", key, drifts, f.get("a").Intent)
		}
	}
}

// TestNewsThatNobodyIsToldOfIsMended: a sink that was dropped without a word to its jobs leaves a note, which is found.
func TestNewsThatNobodyIsToldOfIsMended(t *testing.T) {
	f := newFixture(t)
	f.subscribe("all")
	f.create("a", "item")
	f.update(func(tx statestore.Tx) error { _, err := outbox.Unsubscribe(tx, "all", nil); return err })
	if drifts := f.drifts(); !slices.Equal(drifts, []string{"record job/a is not what the events say"}) {
		t.Errorf("found is %v", drifts)
	}
	f.update(func(tx statestore.Tx) error { _, err := statestore.Repair(tx, job.Check); return err })
	if got := f.get("a").Intent; got != "" || len(f.drifts()) > 0 {
		t.Errorf("noted is %q", got)
	}
}
