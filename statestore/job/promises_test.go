package job_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"aesop/statestore/job"
	"aesop/tracker"
)

// running is a fixture with the job a in its first attempt, of the returned token.
func running(t *testing.T) (f *fixture, token string) {
	f = newFixture(t)
	token = f.token()
	f.create("a", "item")
	f.applied(job.Claim{ID: "a", Token: token, Deadline: f.now.Add(time.Minute)})
	return f, token
}

func TestProgressMergesFieldsAndNeverChangesTheStatus(t *testing.T) {
	f, token := running(t)
	by := job.Worker{Token: token}
	f.applied(job.Progress{ID: "a", By: by, Fields: json.RawMessage(`{"step":1,"kept":true}`)})
	r := f.applied(job.Progress{ID: "a", By: by, Fields: json.RawMessage(`{"step":2}`)})
	if r.Status != job.Running || string(r.Progress) != `{"kept":true,"step":2}` {
		t.Errorf("the job is %+v", r)
	}
	f.applied(job.Complete{ID: "a", By: by})
	f.not(job.Progress{ID: "a", By: by, Fields: json.RawMessage(`{"step":3}`)}, job.Conflict, job.WrongStatus)
}

// TestAStatusCannotRideInAsAField smuggles every field of the record, in every spelling that somebody might read as it.
func TestAStatusCannotRideInAsAField(t *testing.T) {
	f, token := running(t)
	before := f.dump()
	for _, name := range []string{"status", "Status", "STATUS", "_status", "sta-tus", "final", "explicit", "attempt", "transition_seq", "token", "intent", "iteration"} {
		f.not(job.Progress{ID: "a", By: job.Worker{Token: token}, Fields: json.RawMessage(fmt.Sprintf(`{%q:"completed"}`, name))}, job.Refused, job.ReservedField)
		f.not(job.Create{ID: "b", Item: "other", Wave: "w", Seat: "worker", Fields: json.RawMessage(fmt.Sprintf(`{%q:"completed"}`, name))}, job.Refused, job.ReservedField)
	}
	if f.dump() != before {
		t.Error("a refused field changed something")
	}
}

// TestAMergeDoesNotOverwriteWhatTheCallerChanged: the terminal that was asked for stays, whatever the fields were before.
func TestAMergeDoesNotOverwriteWhatTheCallerChanged(t *testing.T) {
	f, token := running(t)
	f.applied(job.Progress{ID: "a", By: job.Worker{Token: token}, Fields: json.RawMessage(`{"n":1}`)})
	done := f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}, Reason: "no"})
	if got := f.get("a"); got.Status != job.Failed || !same(got, done) || string(got.Progress) != `{"n":1}` {
		t.Errorf("the job is %+v", got)
	}
}

func TestAnExplicitTerminalCommitsOnceAndItsRepeatIsAcknowledged(t *testing.T) {
	f, token := running(t)
	by := job.Worker{Token: token}
	done := f.applied(job.Complete{ID: "a", By: by})
	d := f.apply(job.Complete{ID: "a", By: by})
	if d.Outcome != job.Idempotent || !d.OK() || !same(d.Record, done) || !same(f.get("a"), done) {
		t.Errorf("the repeat is %s, and the job %+v", d.Outcome, f.get("a"))
	}
}

func TestAConflictingOrLateSignalIsRefusedAndRecorded(t *testing.T) {
	f, token := running(t)
	f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}})
	f.not(job.Complete{ID: "a", By: job.Worker{Token: token}}, job.Conflict, job.AlreadyEnded)
	f.applied(job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: 3}, Iteration: 2})
	f.not(job.Complete{ID: "a", By: job.Worker{Token: token}}, job.Refused, job.NoAttempt)
	next := f.token()
	f.applied(job.Claim{ID: "a", Token: next})
	f.not(job.Complete{ID: "a", By: job.Worker{Token: token}}, job.Refused, job.StaleAttempt)
	f.not(job.Cancel{ID: "a", By: job.Operator{TransitionSeq: 4}}, job.Conflict, job.StaleTransition)
	var recorded []string
	_, events := f.events("a")
	for _, e := range events {
		if e.Outcome != job.Applied {
			recorded = append(recorded, string(e.Reason))
		}
	}
	if got := strings.Join(recorded, " "); got != "already_ended no_attempt stale_attempt stale_transition" {
		t.Errorf("recorded is %s", got)
	}
	if r := f.get("a"); r.Status != job.Running || r.Attempt != tracker.AttemptID(next) {
		t.Errorf("the job is %+v", r)
	}
}

// TestASignalOfAnOlderAttemptCannotTouchTheNewer also where the round is the same: a requeue begins another attempt of it.
func TestASignalOfAnOlderAttemptCannotTouchTheNewer(t *testing.T) {
	f, old := running(t)
	f.applied(job.Requeue{ID: "a", By: job.Operator{TransitionSeq: 2}})
	f.applied(job.Claim{ID: "a", Token: f.token()})
	now := f.get("a")
	if now.Iteration != 1 {
		t.Fatalf("the round is %d", now.Iteration)
	}
	by := job.Worker{Token: old}
	for _, request := range []job.Request{
		job.Complete{ID: "a", By: by}, job.Fail{ID: "a", By: by}, job.Cancel{ID: "a", By: by},
		job.Progress{ID: "a", By: by, Fields: json.RawMessage(`{"n":1}`)}, job.Reserve{ID: "a", By: by},
		job.Timeout{ID: "a", By: job.Engine{Attempt: tracker.AttemptID(old)}}, job.Requeue{ID: "a", By: job.Engine{Attempt: tracker.AttemptID(old)}},
		job.Infer{ID: "a", By: job.Gate{Attempt: tracker.AttemptID(old), Enabled: true, Quiescent: true, Evidence: "e"}},
	} {
		f.not(request, job.Refused, job.StaleAttempt)
	}
	if !same(now, f.get("a")) {
		t.Errorf("the job is %+v", f.get("a"))
	}
}

// TestATokenExpectedAgainstNoneIsRefused: fail closed where the job has no attempt.
func TestATokenExpectedAgainstNoneIsRefused(t *testing.T) {
	f := newFixture(t)
	f.create("a", "item")
	for _, request := range []job.Request{
		job.Complete{ID: "a", By: job.Worker{Token: f.token()}}, job.Complete{ID: "a", By: job.Worker{}},
		job.Cancel{ID: "a", By: job.Worker{Token: f.token()}}, job.Timeout{ID: "a", By: job.Engine{}},
		job.Infer{ID: "a", By: job.Gate{Enabled: true, Quiescent: true, Evidence: "e"}},
	} {
		f.not(request, job.Refused, job.NoAttempt)
	}
}

// TestRedispatchIsAnOperatorsAndMustAdvanceTheRound: a replay revives nothing, and an agent cannot move its own record.
func TestRedispatchIsAnOperatorsAndMustAdvanceTheRound(t *testing.T) {
	f, token := running(t)
	f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}})
	f.not(job.Redispatch{ID: "a", By: job.Worker{Token: token}, Iteration: 2}, job.Refused, job.WrongAuthority)
	f.not(job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: 3}, Iteration: 1}, job.Refused, job.OldIteration)
	again := job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: 3}, Iteration: 2}
	if r := f.applied(again); r.Status != job.Pending || r.Attempt != "" || r.Iteration != 2 {
		t.Errorf("the job is %+v", r)
	}
	f.not(again, job.Conflict, job.StaleTransition)
}

func TestFinalizeEndsALoopWhoseBudgetIsUsedUp(t *testing.T) {
	f := newFixture(t)
	f.applied(job.Create{ID: "a", Item: "item", Wave: "w", Seat: "worker", Type: "loop", MaxIterations: 2, Fields: json.RawMessage(`{"goal":"x"}`)})
	var r job.Record
	for round := 1; ; round++ {
		token := f.token()
		f.applied(job.Claim{ID: "a", Token: token})
		r = f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}})
		if r.Type != "loop" || string(r.Progress) != `{"goal":"x"}` {
			t.Errorf("round %d has lost what the job was made with: %+v", round, r)
		}
		d := f.apply(job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: r.TransitionSeq}, Iteration: round + 1})
		if d.Outcome == job.Applied {
			continue
		}
		if round != 2 || d.Outcome != job.Refused || d.Reason != job.BudgetUsedUp {
			t.Fatalf("after round %d: %s %s", round, d.Outcome, d.Reason)
		}
		break
	}
	f.not(job.Finalize{ID: "a", By: job.Operator{TransitionSeq: r.TransitionSeq}}, job.Invalid, job.NoReason)
	end := f.applied(job.Finalize{ID: "a", By: job.Operator{TransitionSeq: r.TransitionSeq}, Reason: "the budget is used up"})
	if !end.Final || end.Status != job.Failed {
		t.Errorf("the job is %+v", end)
	}
	f.not(job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: end.TransitionSeq}, Iteration: 9}, job.Refused, job.AlreadyFinal)
}

// TestARequeueHasItsOwnRequest: what makes a job pending again is named, by whoever may, and takes the token away.
func TestARequeueHasItsOwnRequest(t *testing.T) {
	f, token := running(t)
	f.not(job.Requeue{ID: "a", By: job.Worker{Token: token}}, job.Refused, job.WrongAuthority)
	if r := f.applied(job.Requeue{ID: "a", By: job.Engine{Attempt: tracker.AttemptID(token)}, Reason: "its lease lapsed"}); r.Status != job.Pending || r.Attempt != "" {
		t.Errorf("the job is %+v", r)
	}
}

// TestOnlyAClaimMintsAToken and none serves twice.
func TestOnlyAClaimMintsAToken(t *testing.T) {
	f, token := running(t)
	if r := f.get("a"); r.Attempt != tracker.AttemptID(token) {
		t.Errorf("the attempt is %s", r.Attempt)
	}
	f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}})
	if r := f.applied(job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: 3}, Iteration: 2}); r.Attempt != "" {
		t.Errorf("a redispatch left the attempt %s", r.Attempt)
	}
	f.not(job.Claim{ID: "a", Token: token}, job.Refused, job.TokenUsed)
}

// TestALateExplicitTerminalWinsOverAnInferredOne in both orders.
func TestALateExplicitTerminalWinsOverAnInferredOne(t *testing.T) {
	infer := func(token string) job.Infer {
		return job.Infer{ID: "a", By: job.Gate{Attempt: tracker.AttemptID(token), Enabled: true, Quiescent: true, Evidence: "digest"}}
	}
	opted := func(t *testing.T) (*fixture, string) {
		f := newFixture(t)
		token := f.token()
		f.applied(job.Create{ID: "a", Item: "item", Wave: "w", Seat: "reviewer", AutoComplete: true})
		f.applied(job.Claim{ID: "a", Token: token})
		return f, token
	}
	t.Run("explicit after inferred", func(t *testing.T) {
		f, token := opted(t)
		if r := f.applied(infer(token)); r.Status != job.Completed || r.Explicit || r.Evidence != "digest" {
			t.Fatalf("the job is %+v", r)
		}
		f.not(infer(token), job.Idempotent, job.AlreadyEnded)
		if r := f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}}); r.Status != job.Failed || !r.Explicit {
			t.Errorf("the job is %+v", r)
		}
		f.not(job.Complete{ID: "a", By: job.Worker{Token: token}}, job.Conflict, job.AlreadyEnded)
	})
	t.Run("inferred after explicit", func(t *testing.T) {
		f, token := opted(t)
		f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}})
		f.not(infer(token), job.Conflict, job.AlreadyEnded)
	})
}
