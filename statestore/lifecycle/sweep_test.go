package lifecycle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/tracker"
)

func (f *fixture) sweep() lifecycle.Swept {
	f.Helper()
	s, err := lifecycle.Sweep(f.Context(), f.store, lifecycle.Thresholds{})
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *fixture) noDrift() {
	f.Helper()
	f.view(func(r statestore.Reader) error {
		drifts, err := lifecycle.Check(r)
		if len(drifts) > 0 {
			f.Errorf("advice has drifted: %v", drifts)
		}
		return err
	})
}

func (f *fixture) adviceOf(id string) (a lifecycle.Advice, open bool) {
	f.Helper()
	f.view(func(r statestore.Reader) (err error) {
		a, err = lifecycle.AdviceOf(r, id)
		open = err == nil
		if errors.Is(err, statestore.ErrNotFound) {
			return nil
		}
		return err
	})
	return a, open
}

// TestAdviceOpensAndClosesWithItsStall: the event and the record come together, once, and the history has the stall.
func TestAdviceOpensAndClosesWithItsStall(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		f.mustBeat("j", token, time.Time{})
		f.pass(15 * time.Minute)
		if s := f.sweep(); s.Changed != 0 || s.Verdicts[0].Level != lifecycle.Quiet {
			t.Errorf("a quiet agent: %+v", s)
		}
		f.pass(6 * time.Minute)
		f.mustBeat("j", token, time.Time{})
		opened := f.now
		if s := f.sweep(); s.Changed != 1 {
			t.Errorf("a stuck agent: %+v", s)
		}
		a, open := f.adviceOf("j")
		want := lifecycle.Advice{Job: "j", Attempt: tracker.AttemptID(token), Level: lifecycle.Stuck, Reasons: []lifecycle.Reason{lifecycle.NoProgress},
			Next: []lifecycle.Action{lifecycle.Message, lifecycle.StopAndRelaunch, lifecycle.InspectTail}, Opened: opened, At: opened}
		if diff := cmp.Diff(want, a); !open || diff != "" {
			t.Errorf("advice is %+v: %s", a, diff)
		}
		f.pass(time.Minute)
		if s := f.sweep(); s.Changed != 0 {
			t.Errorf("once more: %+v", s)
		}
		f.pass(30 * time.Minute)
		f.sweep()
		if a, _ := f.adviceOf("j"); a.Level != lifecycle.Dead || !a.Opened.Equal(opened) {
			t.Errorf("a dead agent: %+v", a)
		}
		if a := f.agent("j"); a.State != lifecycle.Stalled {
			t.Errorf("the agent is %s", a.State)
		}
		f.noDrift()
		f.pass(time.Minute)
		f.mustBeat("j", token, f.now)
		if s := f.sweep(); s.Changed != 1 || s.Verdicts[0].Level != lifecycle.OK {
			t.Errorf("a recovered agent: %+v", s)
		}
		if _, open := f.adviceOf("j"); open {
			t.Error("the advice is open still")
		}
		f.noDrift()
		if types := f.events("agent/j"); !slices.Equal(types, []string{"agent.stalled", "agent.stalled", "agent.recovered"}) {
			t.Errorf("events are %v", types)
		}
		agent := f.agent("j")
		var told []string
		for _, s := range agent.History {
			told = append(told, strings.TrimSpace(string(s.State)+" "+s.Reason))
		}
		history := []string{"queued", "dispatched", "working", "stalled stalled no_progress", "stalled dead heartbeat_old", "working recovered"}
		if !slices.Equal(told, history) || agent.State != lifecycle.Working {
			t.Errorf("the history is %q", told)
		}
	})
}

// TestAdviceEndsWithItsAttempt, also where the next one runs by then.
func TestAdviceEndsWithItsAttempt(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*fixture)
		last lifecycle.State
		want []string
	}{
		"the job ends": {func(f *fixture) {
			f.applied(job.Fail{ID: "j", By: job.Operator{TransitionSeq: 2}})
		}, lifecycle.Failed, []string{"agent.stalled", "agent.ended"}},
		"it is queued again": {func(f *fixture) {
			f.applied(job.Requeue{ID: "j", By: job.Operator{TransitionSeq: 2}})
		}, lifecycle.Queued, []string{"agent.stalled", "agent.ended"}},
		"the next runs": {func(f *fixture) {
			f.applied(job.Requeue{ID: "j", By: job.Operator{TransitionSeq: 2}})
			f.claim("j")
		}, lifecycle.Dispatched, []string{"agent.stalled", "agent.ended"}},
		"the next stalls": {func(f *fixture) {
			f.applied(job.Requeue{ID: "j", By: job.Operator{TransitionSeq: 2}})
			f.claim("j")
			f.pass(time.Hour)
		}, lifecycle.Stalled, []string{"agent.stalled", "agent.ended", "agent.stalled"}},
	} {
		t.Run(name, func(t *testing.T) {
			onBothStores(t, func(t *testing.T, f *fixture) {
				f.claimed("j")
				f.pass(time.Hour)
				f.sweep()
				test.end(f)
				if s := f.sweep(); s.Changed != 1 {
					t.Errorf("swept was %+v", s)
				}
				if s := f.sweep(); s.Changed != 0 {
					t.Errorf("once more: %+v", s)
				}
				if types := f.events("agent/j"); !slices.Equal(types, test.want) {
					t.Errorf("events are %v", types)
				}
				if a := f.agent("j"); a.State != test.last {
					t.Errorf("the agent is %+v", a)
				}
				f.noDrift()
			})
		})
	}
}

// TestAVerdictOnWhatIsNotSoAnyMoreOpensNothing: the job has gone on between the judgement and the transaction.
func TestAVerdictOnWhatIsNotSoAnyMoreOpensNothing(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		dead := lifecycle.Verdict{Job: "j", Attempt: tracker.AttemptID(token), Level: lifecycle.Dead}
		other := dead
		other.Attempt = "another"
		advise := func(v lifecycle.Verdict) (n int) {
			f.update(func(tx statestore.Tx) (err error) { n, err = lifecycle.Advise(tx, v); return err })
			return n
		}
		if n := advise(other); n != 0 {
			t.Error("advice on another attempt was opened")
		}
		if n := advise(dead); n != 1 {
			t.Error("none was opened")
		}
		for _, level := range []lifecycle.Level{lifecycle.Unknown, lifecycle.Future} {
			if n := advise(lifecycle.Verdict{Job: "j", Attempt: dead.Attempt, Level: level}); n != 0 {
				t.Errorf("%s changed it", level)
			}
		}
		f.applied(job.Complete{ID: "j", By: job.Worker{Token: token}})
		if n := advise(dead); n != 1 || !slices.Equal(f.events("agent/j"), []string{"agent.stalled", "agent.ended"}) {
			t.Errorf("after the end: %d, %v", n, f.events("agent/j"))
		}
		if n := advise(dead); n != 0 {
			t.Error("advice on a job that has ended was opened")
		}
	})
}

// TestNoAdviceIsKeptWithoutItsEvent: where the transaction is undone, both are.
func TestNoAdviceIsKeptWithoutItsEvent(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		stop := errors.New("stop")
		err := f.store.Update(t.Context(), func(tx statestore.Tx) error {
			if _, err := lifecycle.Advise(tx, lifecycle.Verdict{Job: "j", Attempt: tracker.AttemptID(token), Level: lifecycle.Dead}); err != nil {
				return err
			}
			return stop
		})
		if _, open := f.adviceOf("j"); err != stop || open || len(f.events("agent/j")) != 0 {
			t.Errorf("%v: open %t, events %v", err, open, f.events("agent/j"))
		}
	})
}

// TestProgressEndsAStallBeforeTheNextSweep in the history, and the sweep adds nothing to it.
func TestProgressEndsAStallBeforeTheNextSweep(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		f.pass(time.Hour)
		f.sweep()
		f.applied(job.Progress{ID: "j", By: job.Worker{Token: token}, Fields: json.RawMessage(`{"n":1}`)})
		want := []lifecycle.State{lifecycle.Queued, lifecycle.Dispatched, lifecycle.Stalled, lifecycle.Working}
		if a := f.agent("j"); !slices.Equal(states(a), want) {
			t.Errorf("the history is %v", states(a))
		}
		f.sweep()
		if a := f.agent("j"); !slices.Equal(states(a), want) || len(f.events("agent/j")) != 2 {
			t.Errorf("after a sweep it is %v", states(a))
		}
	})
}

// TestWhatIsRebuiltEqualsWhatIsLive sweeps between random requests, and repairs each record that is spoilt.
func TestWhatIsRebuiltEqualsWhatIsLive(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		stalled := 0
		records, tokens := map[string]job.Record{}, map[string]string{}
		for n := range 200 {
			id := fmt.Sprintf("w/%d", n%4)
			f.pass(time.Duration(f.seeds.Intn(30)) * time.Minute)
			f.sweep()
			if records[id].ID == "" {
				records[id] = f.applied(job.Create{ID: id, Item: id, Wave: "w", Seat: "worker", AutoComplete: true})
			}
			request, token := f.random(records[id], tokens[id])
			if _, final := request.(job.Finalize); final {
				continue
			}
			if request == nil {
				_ = f.beat(id, tokens[id], f.now)
			} else if d := f.apply(request); d.Outcome == job.Applied {
				records[id] = d.Record
				if token != "" {
					tokens[id] = token
				}
			}
			f.sweep()
			f.noDrift()
			a := f.agent(id)
			advice, open := f.adviceOf(id)
			if open != (a.State == lifecycle.Stalled) || open && advice.Attempt != a.Attempt {
				t.Fatalf("the agent is %+v, advice open %t: %+v", a, open, advice)
			}
			if open {
				stalled++
			}
		}
		if stalled < 5 {
			t.Fatalf("only %d times an agent was stalled", stalled)
		}
		f.claimed("last")
		f.pass(time.Hour)
		f.sweep()
		advice, _ := f.adviceOf("last")
		for _, spoil := range []func(tx statestore.Tx) error{
			func(tx statestore.Tx) error { return tx.Delete("advice/last", statestore.Any) },
			func(tx statestore.Tx) error { _, err := tx.Put("advice/last", []byte("{"), statestore.Any); return err },
			func(tx statestore.Tx) error { _, err := tx.Put("advice/more", []byte("{}"), 0); return err },
		} {
			f.update(spoil)
			f.update(func(tx statestore.Tx) error {
				drifts, err := statestore.Repair(tx, lifecycle.Check)
				if len(drifts) != 1 {
					t.Errorf("repaired was %v", drifts)
				}
				return err
			})
			f.noDrift()
			if a, open := f.adviceOf("last"); !open || cmp.Diff(advice, a) != "" {
				t.Errorf("repaired it is %+v", a)
			}
		}
		f.append("agent/last", "agent.stalled", "{")
		err := f.store.View(t.Context(), func(r statestore.Reader) error { _, err := lifecycle.Check(r); return err })
		if !isDamaged(err) || !strings.Contains(err.Error(), "of agent/last") {
			t.Errorf("of a damaged log: %v", err)
		}
	})
}

// TestASweepReadsInPages over more agents, and more items of ended jobs, than one has.
func TestASweepReadsInPages(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		const jobs = 300
		f.update(func(tx statestore.Tx) error {
			for n := range jobs {
				id := fmt.Sprintf("w/%03d", n)
				token := f.token()
				for _, request := range []job.Request{job.Create{ID: id, Item: id, Wave: "w", Seat: "worker"}, job.Claim{ID: id, Token: token}} {
					if _, err := job.Apply(tx, request); err != nil {
						return err
					}
				}
				if n%50 == 7 {
					if _, err := job.Apply(tx, job.Complete{ID: id, By: job.Worker{Token: token}}); err != nil {
						return err
					}
				}
			}
			for n := range 9000 { // items whose jobs have ended
				if _, err := tx.Put(statestore.Key(fmt.Sprintf("item/w/%03d/%d", n%jobs, n)), []byte(`{"epoch":1}`), 0); err != nil {
					return err
				}
			}
			return nil
		})
		f.pass(time.Hour)
		store := &failing{Store: f.store}
		s, err := lifecycle.Sweep(t.Context(), store, lifecycle.Thresholds{})
		if views := -store.after; err != nil || views != 4 { // one of the advice
			t.Errorf("%d views, %v", views, err)
		}
		seen := map[string]bool{}
		for _, v := range s.Verdicts {
			seen[v.Job] = true
		}
		if want := jobs - jobs/50; len(s.Verdicts) != want || len(seen) != want || s.Changed != want {
			t.Errorf("judged %d, %d of them different, changed %d, want %d", len(s.Verdicts), len(seen), s.Changed, want)
		}
		if s := f.sweep(); s.Changed != 0 {
			t.Errorf("once more: %d", s.Changed)
		}
	})
}

// TestASweepWritesNothingWhereNothingChanges: its transaction would wait for other writers.
func TestASweepWritesNothingWhereNothingChanges(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.claimed("j")
		f.pass(time.Hour)
		f.sweep()
		f.store = &failing{Store: f.store, update: errors.New("must not write")}
		f.sweep()
	})
}

// TestASweepJudgesOnceMoreWhereItWrites: an agent that beats between the two has not stalled.
func TestASweepJudgesOnceMoreWhereItWrites(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("late")
		f.claimed("dead")
		f.pass(time.Hour)
		store := &failing{Store: f.store, before: func() { f.mustBeat("late", token, f.now) }}
		s, err := lifecycle.Sweep(t.Context(), store, lifecycle.Thresholds{})
		if err != nil || s.Changed != 1 || len(f.events("agent/late")) != 0 || len(f.events("agent/dead")) != 1 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// failing is a store that fails, or in which something happens before a write.
type failing struct {
	statestore.Store
	view, update error
	commit       error
	after        int // views that do not
	before       func()
}

func (s *failing) View(ctx context.Context, fn func(statestore.Reader) error) error {
	if s.after--; s.view != nil && s.after < 0 {
		return s.view
	}
	return s.Store.View(ctx, fn)
}

func (s *failing) Update(ctx context.Context, fn func(statestore.Tx) error) error {
	if s.update != nil {
		return s.update
	}
	if s.before != nil {
		s.before()
	}
	return s.Store.Update(ctx, func(tx statestore.Tx) error { return errors.Join(fn(tx), s.commit) })
}

// TestAnErrorOfTheStoreInASweepIsReturned, wherever it comes.
func TestAnErrorOfTheStoreInASweepIsReturned(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.claimed("j")
		f.pass(time.Hour)
		broken := errors.New("the disk is gone")
		for name, store := range map[string]*failing{
			"advice": {Store: f.store, view: broken}, "agents": {Store: f.store, view: broken, after: 1}, "write": {Store: f.store, update: broken},
			"commit": {Store: f.store, commit: broken},
		} {
			if s, err := lifecycle.Sweep(t.Context(), store, lifecycle.Thresholds{}); !errors.Is(err, broken) || s.Changed != 0 {
				t.Errorf("%s: changed %d, error is %v", name, s.Changed, err)
			}
		}
		if len(f.events("agent/j")) != 0 {
			t.Error("it wrote all the same")
		}
		if s := f.sweep(); s.Changed != 1 {
			t.Errorf("the next one: %+v", s)
		}
	})
}

// TestWhatIsDamagedIsUnknownAndDoesNotHideTheOthers.
func TestWhatIsDamagedIsUnknownAndDoesNotHideTheOthers(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		for _, id := range []string{"a", "b", "c", "d"} {
			f.claimed(id)
		}
		f.put("beat/a", `{`)
		f.append("job/b", "job.progress", `{}`)
		f.put("advice/c", `{`)
		f.pass(time.Hour)
		s, err := lifecycle.Sweep(t.Context(), f.store, lifecycle.Thresholds{})
		if !isDamaged(err) {
			t.Errorf("error is %v", err)
		}
		for _, what := range []string{"record beat/a", "event 3 of job/b", "record advice/c"} {
			if err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s is not named: %v", what, err)
			}
		}
		var levels []lifecycle.Level
		for _, v := range s.Verdicts {
			levels = append(levels, v.Level)
		}
		want := []lifecycle.Level{lifecycle.Unknown, lifecycle.Unknown, lifecycle.Dead, lifecycle.Dead}
		if !slices.Equal(levels, want) || s.Changed != 1 || len(f.events("agent/d")) != 1 {
			t.Errorf("levels are %v, changed %d", levels, s.Changed)
		}
		if v := s.Verdicts[0]; !slices.Equal(v.Reasons, []lifecycle.Reason{lifecycle.Unreadable}) || v.Damage == nil || v.Attempt == "" {
			t.Errorf("the damaged one is judged %+v", v)
		}
	})
}

// TestADamagedRecordDoesNotKeepTheOthersFromAdvice, whosever it is. Nothing is concluded of what it is of.
func TestADamagedRecordDoesNotKeepTheOthersFromAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(f *fixture)
		named string
		left  bool // no verdict of it
	}{
		"advice without a job": {func(f *fixture) {
			f.put("advice/b", `{"job":"b","attempt":"x","level":"dead","opened":"2026-01-02T03:04:05Z","at":"2026-01-02T03:04:05Z"}`)
			f.update(func(tx statestore.Tx) error { return tx.Delete("job/b", statestore.Any) })
			f.put("item/item of b", `{"epoch":1}`)
		}, "job b is damaged", true},
		"a job":              {func(f *fixture) { f.put("job/b", "{") }, "record job/b is damaged", false},
		"a job that is gone": {func(f *fixture) { f.update(func(tx statestore.Tx) error { return tx.Delete("job/b", statestore.Any) }) }, "job b is damaged", false},
		"an item":            {func(f *fixture) { f.put("item/item of b", "{") }, "record item/item of b is damaged", true},
	} {
		t.Run(name, func(t *testing.T) {
			onBothStores(t, func(t *testing.T, f *fixture) {
				for _, id := range []string{"a", "b", "c"} {
					f.claimed(id)
				}
				c.spoil(f)
				f.pass(time.Hour)
				s, err := lifecycle.Sweep(t.Context(), f.store, lifecycle.Thresholds{})
				if !isDamaged(err) || strings.Count(err.Error(), c.named) != 1 {
					t.Errorf("error is %v", err)
				}
				levels := map[string]lifecycle.Level{}
				for _, v := range s.Verdicts {
					levels[v.Job] = v.Level
				}
				want := map[string]lifecycle.Level{"a": lifecycle.Dead, "b": lifecycle.Unknown, "c": lifecycle.Dead}
				if c.left {
					delete(want, "b")
				}
				if diff := cmp.Diff(want, levels); diff != "" || s.Changed != 2 {
					t.Errorf("changed %d, and judged (-want +got): %s", s.Changed, diff)
				}
				if a, b, c := f.events("agent/a"), f.events("agent/b"), f.events("agent/c"); len(a) != 1 || len(b) != 0 || len(c) != 1 {
					t.Errorf("events are %v, %v, %v", a, b, c)
				}
			})
		})
	}
}

// TestSweepsAtOnceOpenAdviceOnce.
func TestSweepsAtOnceOpenAdviceOnce(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		f.claimed("j")
		f.pass(time.Hour)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if _, err := lifecycle.Sweep(t.Context(), f.store, lifecycle.Thresholds{}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if types := f.events("agent/j"); len(types) != 1 {
			t.Errorf("events are %v", types)
		}
		f.noDrift()
	})
}

func TestThresholdsThatMakeNoSenseAreRefused(t *testing.T) {
	if _, err := lifecycle.Sweep(t.Context(), nil, lifecycle.Thresholds{Quiet: -1}); err == nil {
		t.Error("taken")
	}
}

// TestAJobOfThreeHoursLivesByItsHeartbeats, and one without them is found within its threshold.
func TestAJobOfThreeHoursLivesByItsHeartbeats(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("alive")
		f.claimed("silent")
		for n := range 3 * 60 {
			f.pass(time.Minute)
			f.mustBeat("alive", token, f.now)
			s := f.sweep()
			if v := s.Verdicts[0]; v.Level != lifecycle.OK {
				t.Fatalf("after %d minutes: %+v", n+1, v)
			}
			want := lifecycle.Unknown
			if n+1 > 20 {
				want = lifecycle.Dead
			}
			if v := s.Verdicts[1]; v.Level != want {
				t.Fatalf("after %d minutes the silent one is %s", n+1, v.Level)
			}
		}
	})
}
