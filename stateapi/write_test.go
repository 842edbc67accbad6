package stateapi_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/stateapi"
	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/statestore/sqlite"
	"aesop/tracker"
)

func set(activity, phase string) stateapi.StatusChange {
	return stateapi.StatusChange{Activity: &activity, Phase: &phase}
}

// TestAStatusIsOneEventWithItsRecord, whatever of it changes.
func TestAStatusIsOneEventWithItsRecord(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		s, err := f.write.SetStatus(t.Context(), stateapi.How{}, set("plans", "intake"))
		want := stateapi.Status{ID: "main", Role: "orchestrator", Activity: "plans", Phase: "intake", Version: 1, UpdatedAt: f.now}
		if diff := cmp.Diff(want, s); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
		f.pass(time.Minute)
		phase := "build"
		s, err = f.write.SetStatus(t.Context(), stateapi.How{}, stateapi.StatusChange{Phase: &phase, Role: "conductor"})
		want.Phase, want.Role, want.Version, want.UpdatedAt = "build", "conductor", 2, f.now
		if diff := cmp.Diff(want, s); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
		s, err = f.write.SetStatus(t.Context(), stateapi.How{}, stateapi.StatusChange{})
		want.Version = 3
		if diff := cmp.Diff(want, s); err != nil || diff != "" {
			t.Fatalf("what was not said is not as it was: %v %s", err, diff)
		}
		now, err := f.read.Status(t.Context(), "")
		if diff := cmp.Diff(stateapi.StatusNow{Status: want, Freshness: stateapi.Freshness{Fresh: stateapi.IsFresh}}, now); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		events, err := f.read.Events(t.Context(), stateapi.EventQuery{Stream: "status/main"}, stateapi.Page{})
		if err != nil || len(events.Entries) != 3 {
			t.Errorf("events are %+v, %v", events.Entries, err)
		}
		for range 2 { // the second changes nothing
			if err := f.write.ClearStatus(t.Context(), stateapi.How{}, ""); err != nil {
				t.Error(err)
			}
		}
		if _, err := f.read.Status(t.Context(), "main"); !errors.Is(err, statestore.ErrNotFound) {
			t.Errorf("cleared it is %v", err)
		}
		s, err = f.write.SetStatus(t.Context(), stateapi.How{Version: version(4)}, stateapi.StatusChange{})
		if err != nil || s.Version != 5 || s.Role != "orchestrator" || s.Phase != "" {
			t.Errorf("set after it was cleared: %+v, %v", s, err)
		}
	})
}

// TestWhatIsRebuiltEqualsWhatIsLive makes random changes of statuses, and spoils records.
func TestWhatIsRebuiltEqualsWhatIsLive(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		random := rand.New(rand.NewSource(1))
		noDrift := func() {
			t.Helper()
			f.view(func(r statestore.Reader) error {
				drifts, err := stateapi.Check(r)
				if len(drifts) > 0 {
					t.Fatalf("drifts: %v", drifts)
				}
				return err
			})
		}
		for n := range 100 {
			f.pass(time.Duration(random.Intn(1000)) * time.Millisecond)
			id := []string{"main", "a", "a.b"}[random.Intn(3)]
			text := fmt.Sprintf("says <%d> & more", n)
			var err error
			switch random.Intn(4) {
			case 0:
				err = f.write.ClearStatus(t.Context(), stateapi.How{}, id)
			case 1:
				_, err = f.write.SetStatus(t.Context(), stateapi.How{}, stateapi.StatusChange{ID: id, Activity: &text})
			default:
				_, err = f.write.SetStatus(t.Context(), stateapi.How{}, stateapi.StatusChange{ID: id, Phase: &text, Role: []string{"", "r"}[random.Intn(2)]})
			}
			if err != nil {
				t.Fatal(err)
			}
			noDrift()
		}
		if _, err := f.write.SetStatus(t.Context(), stateapi.How{}, set("a", "b")); err != nil {
			t.Fatal(err)
		}
		before := f.dump()
		for key, value := range map[statestore.Key]string{"status/main": "{", "status/more": "{}", "status/a": `{"id":"a"}`} {
			f.put(key, value)
			f.update(func(tx statestore.Tx) error {
				drifts, err := statestore.Repair(tx, stateapi.Check)
				if len(drifts) != 1 || drifts[0].Key != key {
					t.Errorf("%s was spoilt, and repaired was %v", key, drifts)
				}
				return err
			})
			noDrift()
		}
		if got, want := withoutRevisions(f.dump()), withoutRevisions(before); got != want {
			t.Errorf("repaired it is %s, was %s", got, want)
		}
		for id, event := range map[string][2]string{"told": {"status.told", "{}"}, "nobody": {"status.set", "{}"}, "cut": {"status.set", "{"}} {
			undo := errors.New("undo")
			err := f.store.Update(t.Context(), func(tx statestore.Tx) error {
				if _, err := tx.Append("status/"+id, 0, statestore.Entry{Type: event[0], Data: []byte(event[1])}); err != nil {
					return err
				}
				if _, err := stateapi.Check(tx); !isDamaged(err) || !strings.Contains(err.Error(), "event 1 of status/"+id) {
					t.Errorf("of a damaged log, %v: %v", event, err)
				}
				return undo
			})
			if err != undo {
				t.Error(err)
			}
		}
	})
}

func withoutRevisions(dump string) (all string) {
	for line := range strings.Lines(dump) {
		words := strings.SplitN(line, " ", 3)
		if strings.Contains(words[0], "/") {
			all += words[0] + " " + words[2]
		}
	}
	return all
}

// TestAKeyHappensOnce: the first answer comes again, whatever was written since, and another request is refused.
func TestAKeyHappensOnce(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		how := stateapi.How{Key: "k1"}
		first, err := f.write.SetStatus(t.Context(), how, set("plans", "intake"))
		if err != nil {
			t.Fatal(err)
		}
		f.pass(time.Minute)
		if _, err := f.write.SetStatus(t.Context(), stateapi.How{Key: "k2"}, set("builds", "build")); err != nil {
			t.Fatal(err)
		}
		before := f.dump()
		f.pass(time.Minute)
		again, err := f.writer(stateapi.WriteConfig{Store: f.store}).SetStatus(t.Context(), how, set("plans", "intake"))
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Errorf("once more: %v %s", err, diff)
		}
		reused := (*stateapi.KeyReusedError)(nil)
		if _, err := f.write.SetStatus(t.Context(), how, set("plans", "ship")); !errors.As(err, &reused) || reused.Key != "k1" {
			t.Errorf("another change: %v", err)
		}
		reused = nil
		if _, err := f.write.Note(t.Context(), how, "plans"); !errors.As(err, &reused) {
			t.Errorf("another kind of write: %v", err)
		}
		if err := f.write.ClearStatus(t.Context(), how, ""); !errors.As(err, &reused) {
			t.Errorf("another kind of write: %v", err)
		}
		if f.dump() != before {
			t.Error("they changed what is stored")
		}
		line, err := f.write.Note(t.Context(), stateapi.How{Key: "n"}, "began")
		if more, err2 := f.write.Note(t.Context(), stateapi.How{Key: "n"}, "began"); err != nil || err2 != nil || cmp.Diff(line, more) != "" || line.Version != 1 {
			t.Errorf("notes are %+v and %+v, %v %v", line, more, err, err2)
		}
		if err := f.write.ClearStatus(t.Context(), stateapi.How{Key: "c"}, ""); err != nil {
			t.Error(err)
		}
		if _, err := f.write.SetStatus(t.Context(), stateapi.How{}, set("x", "y")); err != nil {
			t.Error(err)
		}
		if err := f.write.ClearStatus(t.Context(), stateapi.How{Key: "c"}, ""); err != nil {
			t.Error(err)
		}
		if s, err := f.read.Status(t.Context(), ""); err != nil || s.Activity != "x" {
			t.Errorf("clearing it once more cleared what came later: %+v, %v", s, err)
		}
	})
}

// TestAVersionThatIsOldConflicts and nothing is written, also where a key is given, which then can be used again.
func TestAVersionThatIsOldConflicts(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		if _, err := f.write.SetStatus(t.Context(), stateapi.How{Version: version(0)}, set("a", "b")); err != nil {
			t.Fatal(err)
		}
		if _, err := f.write.Note(t.Context(), stateapi.How{Version: version(0)}, "one"); err != nil {
			t.Fatal(err)
		}
		f.claimed("w1/j", "w1")
		before := f.dump()
		for name, write := range map[string]func(how stateapi.How) error{
			"status": func(how stateapi.How) error {
				_, err := f.write.SetStatus(t.Context(), how, set("c", "d"))
				return err
			},
			"clear": func(how stateapi.How) error { return f.write.ClearStatus(t.Context(), how, "") },
			"note":  func(how stateapi.How) error { _, err := f.write.Note(t.Context(), how, "two"); return err },
			"job": func(how stateapi.How) error {
				_, err := f.write.Do(t.Context(), how, job.Cancel{ID: "w1/j", By: job.Operator{TransitionSeq: 2}})
				return err
			},
		} {
			for _, n := range []statestore.Version{0, 7} {
				var conflict *statestore.ConflictError
				err := write(stateapi.How{Key: "key of " + name, Version: version(n)})
				if !errors.As(err, &conflict) || !errors.Is(err, statestore.ErrConflict) || conflict.Want != uint64(n) || conflict.Got == 0 {
					t.Errorf("%s of version %d: %v", name, n, err)
				}
			}
		}
		if f.dump() != before {
			t.Fatalf("a conflict wrote: %s", f.dump())
		}
		how := stateapi.How{Key: "key of status", Version: version(1)}
		first, err := f.write.SetStatus(t.Context(), how, set("c", "d"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.write.SetStatus(t.Context(), how, set("c", "d")) // its version is old by now, by itself
		if err != nil || cmp.Diff(first, again) != "" {
			t.Errorf("once more: %+v, %v", again, err)
		}
	})
}

// TestRequestsToJobsHappenOnce, and each decision is kept, also across processes' restarts.
func TestRequestsToJobsHappenOnce(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("w1/j", "w1")
		other, err := tracker.NewToken(nil)
		if err != nil {
			t.Fatal(err)
		}
		complete := job.Complete{ID: "w1/j", By: job.Worker{Token: token}, Reason: "good"}
		first, err := f.write.Do(t.Context(), stateapi.How{Key: "k", Version: version(2)}, complete)
		if err != nil || first.Outcome != job.Applied || first.Record.Status != job.Completed {
			t.Fatalf("%+v, %v", first, err)
		}
		f.do(job.Redispatch{ID: "w1/j", By: job.Operator{TransitionSeq: 3}, Iteration: 2})
		before := f.dump()
		again, err := f.write.Do(t.Context(), stateapi.How{Key: "k", Version: version(2)}, complete)
		if err != nil || again.Outcome != job.Applied || again.Record.Status != job.Completed || again.Record.TransitionSeq != 3 {
			t.Errorf("once more: %+v, %v", again, err)
		}
		reused := (*stateapi.KeyReusedError)(nil)
		for _, request := range []job.Request{
			job.Complete{ID: "w1/j", By: job.Worker{Token: other}, Reason: "good"},
			job.Complete{ID: "w1/j", By: job.Operator{TransitionSeq: 3}, Reason: "good"},
			job.Fail{ID: "w1/j", By: job.Worker{Token: token}, Reason: "good"},
		} {
			if _, err := f.write.Do(t.Context(), stateapi.How{Key: "k", Version: version(2)}, request); !errors.As(err, &reused) {
				t.Errorf("%+v: %v", request, err)
			}
		}
		if f.dump() != before || strings.Contains(before, token) {
			t.Error("they changed what is stored, or it has the token")
		}
		refused, err := f.write.Do(t.Context(), stateapi.How{Key: "r"}, job.Timeout{ID: "w1/j"})
		more, err2 := f.write.Do(t.Context(), stateapi.How{Key: "r"}, job.Timeout{ID: "w1/j"})
		if err != nil || err2 != nil || refused.Outcome != job.Refused || cmp.Diff(refused.Text, more.Text) != "" || more.Reason != refused.Reason {
			t.Errorf("refused: %+v and %+v, %v %v", refused, more, err, err2)
		}
		for _, request := range []job.Request{nil, job.Settle{ID: "w1/j"}, &complete} {
			if _, err := f.write.Do(t.Context(), stateapi.How{}, request); !errors.Is(err, stateapi.ErrInvalid) {
				t.Errorf("%T: %v", request, err)
			}
		}
	})
}

// purse grants nothing.
type purse struct {
	err     error
	Program func() // no request could be told by it
}

func (p purse) Grant(statestore.Reader, job.Record) (*job.Reservation, error) { return nil, p.err }

// TestARefusalForLackOfRoomIsOneWheneverItIsTold.
func TestARefusalForLackOfRoomIsOneWheneverItIsTold(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.do(job.Create{ID: "w1/j", Item: "i", Wave: "w1", Seat: "worker"})
		token, err := tracker.NewToken(nil)
		if err != nil {
			t.Fatal(err)
		}
		for n, p := range []job.Purse{purse{err: fmt.Errorf("day: %w", cost.ErrCeiling)}, purse{}} {
			d, err := f.write.Do(t.Context(), stateapi.How{Key: "k"}, job.Claim{ID: "w1/j", Token: token, Reserve: p})
			if err != nil || d.Reason != job.NoRoom || !errors.Is(d.Ceiling, cost.ErrCeiling) {
				t.Errorf("call %d: %+v, %v", n, d, err)
			}
		}
	})
}

// TestTextFromOutsideIsRedactedBeforeItIsStored, and requests are compared as they are stored.
func TestTextFromOutsideIsRedactedBeforeItIsStored(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.write = f.writer(stateapi.WriteConfig{Store: f.store, Redact: func(s string) string { return strings.ReplaceAll(s, "hidden", "***") }})
		if _, err := f.write.SetStatus(t.Context(), stateapi.How{Key: "s"}, stateapi.StatusChange{Role: "hidden role", Activity: ptr("hidden act"), Phase: ptr("hidden")}); err != nil {
			t.Fatal(err)
		}
		if line, err := f.write.Note(t.Context(), stateapi.How{Key: "n"}, "a hidden line"); err != nil || line.Text != "a *** line" {
			t.Fatal(line, err)
		}
		token := f.claimed("j", "w1")
		if err := f.write.Beat(t.Context(), lifecycle.Heartbeat{Job: "j", Attempt: tracker.AttemptID(token), Note: "hidden"}); err != nil {
			t.Fatal(err)
		}
		f.do(job.Progress{ID: "j", By: job.Worker{Token: token}, Fields: json.RawMessage(`{"a hidden name":["hidden",1.50,{"x":"hidden"}]}`)})
		record := f.do(job.Complete{ID: "j", By: job.Worker{Token: token}, Reason: "hidden"})
		if string(record.Progress) != `{"a *** name":["***",1.50,{"x":"***"}]}` || record.Reason != "***" {
			t.Errorf("stored is %s %s", record.Progress, record.Reason)
		}
		f.do(job.Redispatch{ID: "j", By: job.Operator{TransitionSeq: 4}, Iteration: 2, Reason: "hidden"})
		f.do(job.Cancel{ID: "j", By: job.Operator{TransitionSeq: 5}, Reason: "hidden"})
		f.do(job.Finalize{ID: "j", By: job.Operator{TransitionSeq: 6}, Reason: "hidden"})
		f.do(job.Create{ID: "k", Item: "k", Wave: "w1", Seat: "worker", Fields: json.RawMessage(`{"f":"hidden"}`), AutoComplete: true})
		claim := func() (token string) {
			token, err := tracker.NewToken(nil)
			if err != nil {
				t.Fatal(err)
			}
			f.do(job.Claim{ID: "k", Token: token})
			return token
		}
		claim()
		f.do(job.Requeue{ID: "k", By: job.Operator{TransitionSeq: 2}, Reason: "hidden"})
		token = claim()
		by := job.Gate{Attempt: tracker.AttemptID(token), Enabled: true, Quiescent: true, Evidence: "digest"}
		f.do(job.Infer{ID: "k", By: by, Reason: "hidden"})
		f.do(job.Fail{ID: "k", By: job.Worker{Token: token}, Reason: "hidden"})
		if all := f.dump(); strings.Contains(all, "hidden") {
			t.Errorf("stored is %s", all)
		}
	})
}

func ptr(s string) *string { return &s }

func TestWhatCannotBeWrittenIsRefused(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		before := f.dump()
		long := strings.Repeat("x", 5000)
		for name, write := range map[string]func() error{
			"id": func() error {
				_, err := f.write.SetStatus(t.Context(), stateapi.How{}, stateapi.StatusChange{ID: "a/b"})
				return err
			},
			"activity": func() error { _, err := f.write.SetStatus(t.Context(), stateapi.How{}, set("a\nb", "")); return err },
			"phase":    func() error { _, err := f.write.SetStatus(t.Context(), stateapi.How{}, set("", long)); return err },
			"role": func() error {
				_, err := f.write.SetStatus(t.Context(), stateapi.How{}, stateapi.StatusChange{Role: "\xff"})
				return err
			},
			"id to clear": func() error { return f.write.ClearStatus(t.Context(), stateapi.How{}, "a/b") },
			"key":         func() error { return f.write.ClearStatus(t.Context(), stateapi.How{Key: long}, "") },
			"no line":     func() error { _, err := f.write.Note(t.Context(), stateapi.How{}, " "); return err },
			"lines":       func() error { _, err := f.write.Note(t.Context(), stateapi.How{}, "a\nb"); return err },
			"fields": func() error {
				_, err := f.write.Do(t.Context(), stateapi.How{}, job.Create{ID: "j", Item: "i", Wave: "w", Seat: "s", Fields: json.RawMessage(`{} {}`)})
				return err
			},
		} {
			if err := write(); !errors.Is(err, stateapi.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		f.put("status/main", "{")
		if _, err := f.write.SetStatus(t.Context(), stateapi.How{}, set("a", "b")); !isDamaged(err) {
			t.Errorf("over a damaged status: %v", err)
		}
		for _, value := range []string{"{", "{}", "null"} {
			f.put("once/k", value)
			if _, err := f.write.Note(t.Context(), stateapi.How{Key: "k"}, "a"); !isDamaged(err) {
				t.Errorf("with the damaged key %s: %v", value, err)
			}
		}
		for _, value := range []string{"{", `{"first":3,"next":1}`} {
			f.put("once-span", value)
			if _, err := f.write.Note(t.Context(), stateapi.How{Key: "l"}, "a"); !isDamaged(err) {
				t.Errorf("with the damaged span %s: %v", value, err)
			}
		}
		if f.dump()[:len(before)] != before || strings.Contains(f.dump(), "note.added") {
			t.Error("something was written")
		}
		if _, err := stateapi.NewWrite(stateapi.WriteConfig{}); err == nil {
			t.Error("a WriteAPI without a store")
		}
	})
}

// TestAnAnswerThatIsDamagedIsNone.
func TestAnAnswerThatIsDamagedIsNone(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		if _, err := f.write.Note(t.Context(), stateapi.How{Key: "k"}, "a"); err != nil {
			t.Fatal(err)
		}
		f.update(func(tx statestore.Tx) error {
			record, err := tx.Get("once/k")
			if err != nil {
				return err
			}
			_, err = tx.Put("once/k", []byte(strings.Replace(string(record.Value), `"answer":{`, `"answer":"", "was":{`, 1)), record.Rev)
			return err
		})
		if line, err := f.write.Note(t.Context(), stateapi.How{Key: "k"}, "a"); !isDamaged(err) {
			t.Errorf("it is %+v, %v", line, err)
		}
	})
}

// TestNamesThatAreTheSameWithoutTheirSecretsAreRefused: of two members one would be lost.
func TestNamesThatAreTheSameWithoutTheirSecretsAreRefused(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.write = f.writer(stateapi.WriteConfig{Store: f.store, Redact: func(s string) string {
			if strings.HasPrefix(s, "hidden") {
				return "***"
			}
			return s
		}})
		token := f.claimed("j", "w1")
		for _, fields := range []string{`{"hidden1":1,"hidden2":2}`, `{"a":[{"b":{"hidden1":1,"hidden2":2}}]}`} {
			_, err := f.write.Do(t.Context(), stateapi.How{}, job.Progress{ID: "j", By: job.Worker{Token: token}, Fields: json.RawMessage(fields)})
			if !errors.Is(err, stateapi.ErrInvalid) {
				t.Errorf("%s: %v", fields, err)
			}
		}
		f.do(job.Progress{ID: "j", By: job.Worker{Token: token}, Fields: json.RawMessage(`{"hidden1":1,"a":{"hidden2":2}}`)})
	})
}

// TestTheOldestKeyIsForgotten when more are used than are kept. The store is filled as if they had been.
func TestTheOldestKeyIsForgotten(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		note := func(key string) stateapi.Line {
			t.Helper()
			line, err := f.write.Note(t.Context(), stateapi.How{Key: key}, "x")
			if err != nil {
				t.Fatal(err)
			}
			return line
		}
		note("a")
		note("b")
		f.put("once-span", fmt.Sprintf(`{"first":0,"next":%d}`, stateapi.KeysKept))
		if n := note("c").Version; n != 3 {
			t.Fatalf("line %d", n)
		}
		if n := note("b").Version; n != 2 {
			t.Errorf("b is forgotten: line %d", n)
		}
		if n := note("a").Version; n != 4 {
			t.Errorf("a is remembered: line %d", n)
		}
		if n := note("b").Version; n != 5 {
			t.Errorf("b is remembered: line %d", n)
		}
		rows := 0
		f.view(func(r statestore.Reader) error {
			for _, err := range r.Scan(statestore.Range{Prefix: "once"}) {
				if err != nil {
					return err
				}
				rows++
			}
			return nil
		})
		if rows != 7 { // the span, and c, a and b with their places
			t.Errorf("%d rows", rows)
		}
	})
}

// TestOfManyWithOneKeyOneWrites: goroutines over several APIs.
func TestOfManyWithOneKeyOneWrites(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		var group sync.WaitGroup
		for range 8 {
			w := f.writer(stateapi.WriteConfig{Store: f.store})
			for n := range 4 {
				group.Go(func() {
					line, err := w.Note(t.Context(), stateapi.How{Key: fmt.Sprint("key ", n)}, fmt.Sprint("line ", n))
					if err != nil || line.Text != fmt.Sprint("line ", n) {
						t.Error(line, err)
					}
				})
			}
		}
		group.Wait()
		events, err := f.read.Events(t.Context(), stateapi.EventQuery{Stream: stateapi.BuildLog}, stateapi.Page{})
		if err != nil || len(events.Entries) != 4 {
			t.Errorf("%d lines, %v", len(events.Entries), err)
		}
	})
}

// TestWritersWithOldVersionsConflict: each increment that was acknowledged is there.
func TestWritersWithOldVersionsConflict(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		var wrote, conflicts atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 10 {
					seen, err := f.read.Status(t.Context(), "")
					if err != nil && !errors.Is(err, statestore.ErrNotFound) {
						t.Error(err)
						return
					}
					_, err = f.write.SetStatus(t.Context(), stateapi.How{Version: version(seen.Version)}, set("a", fmt.Sprint(seen.Version+1)))
					switch {
					case err == nil:
						wrote.Add(1)
					case errors.Is(err, statestore.ErrConflict):
						conflicts.Add(1)
					default:
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		s, err := f.read.Status(t.Context(), "")
		if err != nil || int64(s.Version) != wrote.Load() || s.Phase != fmt.Sprint(s.Version) || wrote.Load()+conflicts.Load() != 80 {
			t.Errorf("%+v after %d writes and %d conflicts, %v", s, wrote.Load(), conflicts.Load(), err)
		}
	})
}

// TestReadersSeeWholeTransactions: of two jobs that change together, one page has both before or both after; and a status never has one field of
// another change than the other.
func TestReadersSeeWholeTransactions(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		for _, id := range []string{"w/a", "w/b"} {
			f.do(job.Create{ID: id, Item: id, Wave: "w", Seat: "worker"})
		}
		done := make(chan struct{})
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					jobs, err := f.read.Jobs(t.Context(), stateapi.JobQuery{Wave: "w"}, stateapi.Page{})
					if err != nil || len(jobs.Entries) != 2 || jobs.Entries[0].Status != jobs.Entries[1].Status {
						t.Errorf("jobs are %+v, %v", jobs.Entries, err)
						return
					}
					if s, err := f.read.Status(t.Context(), ""); err == nil && (s.Activity != s.Phase || fmt.Sprint(s.Version) != s.Phase) {
						t.Errorf("the status is %+v", s)
						return
					}
				}
			})
		}
		for n := range 40 {
			f.update(func(tx statestore.Tx) error {
				for _, id := range []string{"w/a", "w/b"} {
					record, err := job.Get(tx, id)
					if err != nil {
						return err
					}
					var request job.Request = job.Requeue{ID: id, By: job.Operator{TransitionSeq: record.TransitionSeq}}
					if record.Status == job.Pending {
						token, err := tracker.NewToken(nil)
						if err != nil {
							return err
						}
						request = job.Claim{ID: id, Token: token}
					}
					if d, err := job.Apply(tx, request); err != nil || d.Outcome != job.Applied {
						return fmt.Errorf("%+v: %w", d, err)
					}
				}
				return nil
			})
			if _, err := f.write.SetStatus(t.Context(), stateapi.How{}, set(fmt.Sprint(n+1), fmt.Sprint(n+1))); err != nil {
				t.Error(err)
			}
		}
		close(done)
		group.Wait()
	})
}

// TestOfProcessesWithOneKeyOneWrites: processes on one store, one of which is killed.
func TestOfProcessesWithOneKeyOneWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	const processes = 4
	var children []*exec.Cmd
	var stdins []io.Closer
	var outputs []*bufio.Scanner
	for range processes {
		cmd := childCommand(t, path)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		if !lines.Scan() {
			t.Fatal("a child is not ready")
		}
		children, stdins, outputs = append(children, cmd), append(stdins, stdin), append(outputs, lines)
	}
	for _, stdin := range stdins {
		_ = stdin.Close()
	}
	answers := map[string]stateapi.Line{}
	for n, lines := range outputs {
		for lines.Scan() {
			var line stateapi.Line
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			if before, ok := answers[line.Text]; ok && cmp.Diff(before, line) != "" {
				t.Errorf("%s was answered with %+v and %+v", line.Text, before, line)
			}
			answers[line.Text] = line
			if n == 0 {
				_ = children[0].Process.Kill()
			}
		}
		if err := children[n].Wait(); err != nil && n > 0 {
			t.Error(err)
		}
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	read, err := stateapi.NewRead(stateapi.ReadConfig{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	events, err := read.Events(t.Context(), stateapi.EventQuery{Stream: stateapi.BuildLog}, stateapi.Page{})
	if err != nil || len(events.Entries) != childNotes || len(answers) != childNotes {
		t.Errorf("%d lines and %d answers, %v", len(events.Entries), len(answers), err)
	}
}
