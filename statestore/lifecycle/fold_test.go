package lifecycle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/statestore/lifecycle"
	"aesop/tracker"
)

// TestAHistoryHasEveryStepWithItsAttempt follows a job through two attempts and two iterations.
func TestAHistoryHasEveryStepWithItsAttempt(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		begin := f.now
		at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
		first := f.claimed("w1/greet")
		f.pass(time.Minute)
		f.applied(job.Progress{ID: "w1/greet", By: job.Worker{Token: first}, Fields: json.RawMessage(`{"n":1}`)})
		f.pass(time.Minute)
		f.applied(job.Progress{ID: "w1/greet", By: job.Worker{Token: first}, Fields: json.RawMessage(`{"n":2}`)})
		f.applied(job.Requeue{ID: "w1/greet", By: job.Operator{TransitionSeq: 4}, Reason: "lost"})
		f.pass(time.Minute)
		second := f.claim("w1/greet")
		f.pass(time.Minute)
		f.mustBeat("w1/greet", second, time.Time{})
		f.pass(time.Minute)
		f.applied(job.Fail{ID: "w1/greet", By: job.Worker{Token: second}, Reason: "tests"})
		f.applied(job.Redispatch{ID: "w1/greet", By: job.Operator{TransitionSeq: 7}, Iteration: 2, Reason: "repair"})
		f.pass(time.Minute)
		f.applied(job.Cancel{ID: "w1/greet", By: job.Operator{TransitionSeq: 8}, Reason: "not wanted"})
		f.applied(job.Finalize{ID: "w1/greet", By: job.Operator{TransitionSeq: 9}, Reason: "done with"})

		one, two := tracker.AttemptID(first), tracker.AttemptID(second)
		want := lifecycle.Agent{
			Job: "w1/greet", Item: "item of w1/greet", Wave: "w1", Seat: "worker", State: lifecycle.Cancelled, Since: at(6), Iteration: 2, Final: true,
			History: []lifecycle.Step{
				{State: lifecycle.Queued, At: at(0), Iteration: 1, Seq: 1},
				{State: lifecycle.Dispatched, At: at(0), Attempt: one, Iteration: 1, Seq: 2},
				{State: lifecycle.Working, At: at(1), Attempt: one, Iteration: 1, Seq: 3},
				{State: lifecycle.Queued, At: at(2), Iteration: 1, Reason: "lost", Seq: 5},
				{State: lifecycle.Dispatched, At: at(3), Attempt: two, Iteration: 1, Seq: 6},
				{State: lifecycle.Working, At: at(4), Attempt: two, Iteration: 1},
				{State: lifecycle.Failed, At: at(5), Attempt: two, Iteration: 1, Reason: "tests", Seq: 7},
				{State: lifecycle.Queued, At: at(5), Iteration: 2, Reason: "repair", Seq: 8},
				{State: lifecycle.Cancelled, At: at(6), Iteration: 2, Reason: "not wanted", Seq: 9},
				{State: lifecycle.Cancelled, At: at(6), Iteration: 2, Reason: "done with", Seq: 10},
			},
		}
		if diff := cmp.Diff(want, f.agent("w1/greet")); diff != "" {
			t.Error(diff)
		}
	})
}

// TestEveryOrderThatTheTableAllowsIsFolded makes random requests and heartbeats. The state is always what the record, and what was heard of its
// attempt, say.
func TestEveryOrderThatTheTableAllowsIsFolded(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		seen := map[lifecycle.State]int{}
		for n := range 12 {
			id := fmt.Sprintf("w1/job-%d", n)
			record := f.applied(job.Create{ID: id, Item: id, Wave: "w1", Seat: "worker", AutoComplete: true})
			token, heard, steps := "", false, 1
			for range 25 {
				f.pass(time.Duration(f.seeds.Intn(60)) * time.Second)
				request, newToken := f.random(record, token)
				if request == nil {
					if f.beat(id, token, time.Time{}) == nil {
						heard = true
					}
				} else if d := f.apply(request); d.Outcome == job.Applied {
					record = d.Record
					switch request.(type) {
					case job.Claim:
						token, heard = newToken, false
						steps++
					case job.Progress:
						heard = true
					case job.Reserve:
					default:
						steps++
					}
				}
				a := f.agent(id)
				if want := expected(record, heard); a.State != want || a.Attempt != record.Attempt || a.Iteration != record.Iteration || a.Final != record.Final {
					t.Fatalf("the agent is %+v, want %s, of job %+v", a, want, record)
				}
				told := 0
				for i, s := range a.History {
					if s.State != lifecycle.Working {
						told++
					}
					if i > 0 && s.At.Before(a.History[i-1].At) {
						t.Fatalf("the history goes back: %+v", a.History)
					}
				}
				if told != steps {
					t.Fatalf("the history has %d steps beside working, want %d: %+v", told, steps, a.History)
				}
				seen[a.State]++
			}
		}
		for _, s := range []lifecycle.State{lifecycle.Queued, lifecycle.Dispatched, lifecycle.Working, lifecycle.Done, lifecycle.Failed,
			lifecycle.Cancelled, lifecycle.TimedOut} {
			if seen[s] == 0 {
				t.Errorf("no agent came to be %s", s)
			}
		}
	})
}

// random is a request that may be right, or nil for a heartbeat.
func (f *fixture) random(r job.Record, token string) (request job.Request, newToken string) {
	f.Helper()
	operator, engine := job.Operator{TransitionSeq: r.TransitionSeq}, job.Engine{Attempt: r.Attempt, TransitionSeq: r.TransitionSeq}
	switch n := f.seeds.Intn(14); n {
	case 0, 1, 2:
		newToken = f.token()
		return job.Claim{ID: r.ID, Token: newToken, Deadline: f.now.Add(time.Second)}, newToken
	case 3:
		return job.Progress{ID: r.ID, By: job.Worker{Token: token}, Fields: json.RawMessage(`{"n":1}`)}, ""
	case 4:
		return job.Complete{ID: r.ID, By: job.Worker{Token: token}}, ""
	case 5:
		return job.Fail{ID: r.ID, By: operator}, ""
	case 6:
		return job.Cancel{ID: r.ID, By: operator}, ""
	case 7:
		return job.Infer{ID: r.ID, By: job.Gate{Attempt: r.Attempt, Enabled: true, Quiescent: true, Evidence: "e"}}, ""
	case 8:
		return job.Timeout{ID: r.ID, By: engine}, ""
	case 9:
		return job.Requeue{ID: r.ID, By: engine}, ""
	case 10, 11:
		return job.Redispatch{ID: r.ID, By: engine, Iteration: r.Iteration + 1}, ""
	case 12:
		if f.seeds.Intn(8) == 0 {
			return job.Finalize{ID: r.ID, By: operator, Reason: "over"}, ""
		}
		return job.Reserve{ID: r.ID, By: operator}, ""
	}
	return nil, ""
}

func expected(r job.Record, heard bool) lifecycle.State {
	switch r.Status {
	case job.Pending:
		return lifecycle.Queued
	case job.Running:
		if heard {
			return lifecycle.Working
		}
		return lifecycle.Dispatched
	case job.Completed:
		return lifecycle.Done
	}
	return lifecycle.State(r.Status)
}

// TestAnEventThatCannotBeReadIsNamed spoils the log in each way.
func TestAnEventThatCannotBeReadIsNamed(t *testing.T) {
	running := `{"outcome":"applied","by":"worker","job":{"id":"j","item":"i","status":"running","attempt":"a","transitionSeq":3}}`
	for name, test := range map[string]struct{ stream, kind, data, want string }{
		"no JSON":                 {"job/j", "job.progress", `{`, "event 3 of job/j"},
		"no outcome":              {"job/j", "job.progress", `{}`, "event 3 of job/j"},
		"a transition is missing": {"job/j", "job.progress", strings.Replace(running, ":3", ":4", 1), "event 3 of job/j"},
		"another job":             {"job/j", "job.progress", strings.Replace(running, `"j"`, `"k"`, 1), "event 3 of job/j"},
		"no status":               {"job/j", "job.progress", strings.Replace(running, "running", "resting", 1), "event 3 of job/j"},
		"no order of the table":   {"job/j", "job.claim", running, "event 3 of job/j"},
		"unknown request":         {"job/j", "job.revive", running, "event 3 of job/j"},
		"unknown advice":          {"agent/j", "agent.bored", `{"job":"j","attempt":"a","level":"dead","at":"2026-01-02T03:04:05Z"}`, "event 1 of agent/j"},
		"advice of another":       {"agent/j", "agent.stalled", `{"job":"k","attempt":"a","level":"dead","at":"2026-01-02T03:04:05Z"}`, "event 1 of agent/j"},
		"advice of no attempt":    {"agent/j", "agent.stalled", `{"job":"j","attempt":"a","level":"dead","at":"2026-01-02T03:04:05Z"}`, "event 1 of agent/j"},
		"advice without a level":  {"agent/j", "agent.stalled", `{}`, "event 1 of agent/j"},
	} {
		t.Run(name, func(t *testing.T) {
			onBothStores(t, func(t *testing.T, f *fixture) {
				f.claimed("j")
				f.append(test.stream, test.kind, test.data)
				err := f.store.View(t.Context(), func(r statestore.Reader) error { _, err := lifecycle.Of(r, "j"); return err })
				if !isDamaged(err) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error is %v", err)
				}
			})
		})
	}
}

// TestASignalThatWasRefusedIsNoStep: it is recorded, and changes nothing.
func TestASignalThatWasRefusedIsNoStep(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		f.applied(job.Complete{ID: "j", By: job.Worker{Token: token}})
		if d := f.apply(job.Fail{ID: "j", By: job.Worker{Token: token}}); d.OK() {
			t.Fatal("it was not refused")
		}
		if n := len(f.events("job/j")); n != 4 {
			t.Fatalf("there are %d events", n)
		}
		want := []lifecycle.State{lifecycle.Queued, lifecycle.Dispatched, lifecycle.Done}
		if a := f.agent("j"); !slices.Equal(states(a), want) {
			t.Errorf("the history is %v", states(a))
		}
	})
}

func TestThereIsNoAgentOfNoJob(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		err := f.store.View(t.Context(), func(r statestore.Reader) error { _, err := lifecycle.Of(r, "none"); return err })
		if !errors.Is(err, statestore.ErrNotFound) || !strings.Contains(err.Error(), "none") {
			t.Errorf("error is %v", err)
		}
	})
}

// TestTheFirstHeartbeatHasItsPlaceInTheHistory: before progress that came later, after a stall that was opened before it.
func TestTheFirstHeartbeatHasItsPlaceInTheHistory(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		begin := f.now
		told := func(id string) (all []string) {
			for _, s := range f.agent(id).History {
				all = append(all, fmt.Sprintf("%s %d", s.State, int(s.At.Sub(begin).Minutes())))
			}
			return all
		}
		progress := func(id, token string) {
			f.applied(job.Progress{ID: id, By: job.Worker{Token: token}, Fields: json.RawMessage(`{"n":1}`)})
		}
		a, b, c := f.claimed("beat first"), f.claimed("progress first"), f.claimed("stall first")
		f.pass(time.Minute)
		f.mustBeat("beat first", a, time.Time{})
		progress("progress first", b)
		f.pass(time.Minute)
		f.mustBeat("progress first", b, time.Time{})
		progress("beat first", a)
		f.pass(time.Hour)
		f.sweep()
		f.pass(time.Minute)
		f.mustBeat("stall first", c, f.now)
		f.pass(time.Minute)
		f.sweep()
		for id, want := range map[string][]string{
			"beat first":     {"queued 0", "dispatched 0", "working 1", "stalled 62"},
			"progress first": {"queued 0", "dispatched 0", "working 1", "stalled 62"},
			"stall first":    {"queued 0", "dispatched 0", "stalled 62", "working 63", "working 64"},
		} {
			if got := told(id); !slices.Equal(got, want) {
				t.Errorf("%s: %q", id, got)
			}
		}
	})
}

// TestAReservationIsNoNewsOfItsAgent: the attempt goes on as it was, since when it was claimed.
func TestAReservationIsNoNewsOfItsAgent(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		f.pass(time.Minute)
		f.applied(job.Progress{ID: "j", By: job.Worker{Token: token}, Fields: json.RawMessage(`{"n":1}`)})
		before := f.agent("j")
		f.pass(time.Minute)
		f.applied(job.Reserve{ID: "j", By: job.Worker{Token: token}, Deadline: f.now.Add(time.Hour)})
		if diff := cmp.Diff(before, f.agent("j")); diff != "" {
			t.Errorf("before (-) and after (+) differ: %s", diff)
		}
	})
}

// TestAHeartbeatAtTheMomentOfTheEndIsBeforeIt: the store's clock may stand still between the two.
func TestAHeartbeatAtTheMomentOfTheEndIsBeforeIt(t *testing.T) {
	onBothStores(t, func(t *testing.T, f *fixture) {
		token := f.claimed("j")
		f.mustBeat("j", token, f.now)
		f.applied(job.Complete{ID: "j", By: job.Worker{Token: token}})
		if a := f.agent("j"); a.State != lifecycle.Done || a.History[len(a.History)-1].State != lifecycle.Done {
			t.Errorf("the agent is %+v", a)
		}
	})
}
