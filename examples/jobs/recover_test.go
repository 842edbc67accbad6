package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"aesop/examples/internal/cli"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/outbox"
	"aesop/tracker"
	"aesop/wave/journal"
)

// TestRecoveryMakesRecordsWhatTheEventsSay: of jobs, of waves, of advice and of statuses; what is right stays.
func TestRecoveryMakesRecordsWhatTheEventsSay(t *testing.T) {
	dir := t.TempDir()
	ends(t, cli.OK, dir, "submit", "a")
	ends(t, cli.OK, dir, "submit", "b")
	update(t, dir, func(tx statestore.Tx) error {
		if err := tx.Delete("job/manual/a", statestore.Any); err != nil {
			return err
		}
		if _, err := tx.Put("item/b", []byte(`{"epoch":9}`), statestore.Any); err != nil {
			return err
		}
		for _, key := range []statestore.Key{"advice/manual/b", "status/main"} {
			if _, err := tx.Put(key, []byte("{}"), 0); err != nil {
				return err
			}
		}
		_, err := tx.Append("wave/w1", statestore.AnyVersion, statestore.Entry{Type: journal.Stopped{}.Type(), Data: []byte("{}")})
		return err
	})
	ends(t, cli.Usage, dir, "status", "manual/a")
	var found recoverDocument
	document(t, &found, cli.NotGood, dir, "recover", "--dry-run")
	var keys []string
	for _, drift := range found.Drifts {
		keys = append(keys, drift.Key)
	}
	slices.Sort(keys)
	if got := strings.Join(keys, " "); got != "advice/manual/b item/b job/manual/a open/w1 status/main wave/w1" {
		t.Errorf("found are %s", got)
	}
	ends(t, cli.Usage, dir, "status", "manual/a")
	if got := ends(t, cli.OK, dir, "recover"); strings.Count(got.stdout, "repaired: ") != len(found.Drifts) {
		t.Errorf("it says %s", got.stdout)
	}
	ends(t, cli.OK, dir, "status", "manual/a")
	ends(t, cli.Refused, dir, "submit", "b", "--id", "other")
	ends(t, cli.OK, dir, "recover", "--dry-run")
}

// TestADamagedLogIsNotRecoveredFrom: nobody can say what the records should be.
func TestADamagedLogIsNotRecoveredFrom(t *testing.T) {
	dir := t.TempDir()
	ends(t, cli.OK, dir, "submit", "a")
	update(t, dir, func(tx statestore.Tx) error {
		_, err := tx.Append(job.Stream("manual/a"), statestore.AnyVersion, statestore.Entry{Type: "job.claim", Data: []byte(`[]`)})
		return err
	})
	for _, args := range [][]string{{"recover", "--dry-run"}, {"recover"}} {
		if got := ends(t, cli.Usage, dir, args...); !strings.Contains(got.stderr, "event 2 of job/manual/a is damaged") {
			t.Errorf("%v: %s", args, got.stderr)
		}
	}
}

// TestJobsOfWavesThatAreNotFinishedAreTheirEngines: nobody picks them up, and they do not time out here.
func TestJobsOfWavesThatAreNotFinishedAreTheirEngines(t *testing.T) {
	dir := t.TempDir()
	token, err := tracker.NewToken(nil)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(requests ...job.Request) {
		update(t, dir, func(tx statestore.Tx) error {
			for _, request := range requests {
				if d, err := job.Apply(tx, request); err != nil || !d.OK() {
					t.Errorf("%T: %+v, %v", request, d, err)
				}
			}
			return nil
		})
	}
	update(t, dir, func(tx statestore.Tx) error {
		_, err := tx.Append("wave/w1", statestore.AnyVersion, statestore.Entry{Type: journal.Stopped{}.Type(), Data: []byte("{}")})
		return err
	})
	ends(t, cli.OK, dir, "recover")
	apply(job.Create{ID: "w1/a", Item: "a", Wave: "w1", Seat: "worker"}, job.Create{ID: "w1/b", Item: "b", Wave: "w1", Seat: "worker"},
		job.Claim{ID: "w1/b", Token: token, Deadline: time.Unix(1, 0)})
	ends(t, cli.NotGood, dir, "claim", "--next")
	ends(t, cli.OK, dir, "recover")
	if got := ends(t, cli.OK, dir, "status", "w1/b"); !strings.Contains(got.stdout, "running") {
		t.Error(got.stdout)
	}
	update(t, dir, func(tx statestore.Tx) error { return tx.Delete("open/w1", statestore.Any) })
	ends(t, cli.OK, dir, "claim", "--next")
}

// TestWhatIsDamagedInTheOutboxCanBeForgotten: recovery tells of it, does the rest, and goes on once nobody is owed it.
func TestWhatIsDamagedInTheOutboxCanBeForgotten(t *testing.T) {
	for _, of := range []string{"outbox/sink/", "outbox/intent/", "outbox/queue/file/"} {
		dir := t.TempDir()
		ends(t, cli.OK, dir, "recover", "--to-file", filepath.Join(dir, "news"))
		ends(t, cli.OK, dir, "submit", "a")
		ends(t, cli.OK, dir, "claim", "manual/a", "--deadline", "1ns")
		damaged := ""
		update(t, dir, func(tx statestore.Tx) error {
			for record, err := range tx.Scan(statestore.Range{Prefix: statestore.Key(of)}) {
				if err != nil {
					return err
				}
				damaged = string(record.Key) // the newest
			}
			_, err := tx.Put(statestore.Key(damaged), []byte("{"), statestore.Any)
			return err
		})
		var found recoverDocument
		document(t, &found, cli.NotGood, dir, "recover", "--dry-run")
		if len(found.Drifts) > 0 || len(found.Overdue) != 1 || !strings.Contains(strings.Join(found.Damaged, ""), damaged) {
			t.Errorf("%s: found is %+v", damaged, found)
		}
		if got, err := play(t.Context(), dir, "recover"); err != nil || got.code == cli.OK || !strings.Contains(got.stdout+got.stderr, damaged) {
			t.Errorf("%s: %v, exit code %d, %s%s", damaged, err, got.code, got.stdout, got.stderr)
		}
		if got := ends(t, cli.OK, dir, "recover", "--forget", "file"); !strings.Contains(got.stdout, "forgotten: ") {
			t.Errorf("%s: it says %s", damaged, got.stdout)
		}
		if got := ends(t, cli.OK, dir, "status", "manual/a"); !strings.Contains(got.stdout, "timed_out") {
			t.Errorf("%s: %s", damaged, got.stdout)
		}
		if got := ends(t, cli.OK, dir, "recover", "--dry-run"); !strings.Contains(got.stdout, "there is nothing to do") {
			t.Errorf("%s: %s", damaged, got.stdout)
		}
	}
}

// TestRecoveriesAtOnceDoAllOnce: with drift, jobs past their deadline and news that is owed, while others submit.
func TestRecoveriesAtOnceDoAllOnce(t *testing.T) {
	dir := t.TempDir()
	news := filepath.Join(dir, "news")
	ends(t, cli.OK, dir, "recover", "--to-file", news)
	for n := range 5 {
		ends(t, cli.OK, dir, "submit", fmt.Sprint("i", n))
		ends(t, cli.OK, dir, "claim", fmt.Sprint("manual/i", n), "--deadline", "1ns")
	}
	update(t, dir, func(tx statestore.Tx) error { return tx.Delete("item/i0", statestore.Any) })
	timedOut := make([]int, 3)
	group, ctx := errgroup.WithContext(t.Context())
	for n := range timedOut {
		group.Go(func() error {
			got, err := play(ctx, dir, "recover", "--to-file", news)
			if timedOut[n] = strings.Count(got.stdout, "timed out: "); err == nil && got.code != cli.OK && got.code != cli.NotGood {
				err = fmt.Errorf("exit code %d: %s", got.code, got.stderr)
			}
			return err
		})
	}
	group.Go(func() error {
		got, err := play(ctx, dir, "submit", "beside")
		if err == nil && got.code != cli.OK {
			err = errors.New(got.stderr)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if timedOut[0]+timedOut[1]+timedOut[2] != 5 {
		t.Errorf("timed out were %v", timedOut)
	}
	ends(t, cli.OK, dir, "recover", "--to-file", news)
	ends(t, cli.OK, dir, "recover", "--dry-run")
	text, err := os.ReadFile(news)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		i, err := outbox.ParseDocument([]byte(line))
		if err != nil || ids[i.ID] {
			t.Errorf("%s: once more, or %v", line, err)
		}
		ids[i.ID] = true
	}
	if len(ids) != 16 {
		t.Errorf("%d pieces of news, want those of 6 jobs made, 5 claimed and 5 timed out", len(ids))
	}
}
