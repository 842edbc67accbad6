package job_test

import (
	"encoding/json"
	"testing"

	"aesop/statestore"
	"aesop/statestore/job"
	"aesop/tracker"
)

// FuzzRequests asks random things of two jobs of one item. Whatever is asked, in whatever order and with whatever proof, the
// invariants hold after each request.
func FuzzRequests(f *testing.F) {
	f.Add([]byte("\x00\x10\x20\x30\x40\x50\x60\x70\x80\x90"))
	f.Add([]byte{0, 1, 3, 8, 1, 9, 0, 33, 5, 0, 2, 0, 7, 1, 1, 17, 6, 2, 4, 66})
	f.Add([]byte("create, claim, complete, redispatch, claim, fail"))
	f.Fuzz(func(t *testing.T, script []byte) {
		x := newFixture(t)
		x.subscribe("all")
		tokens := []string{x.token(), x.token(), x.token()}
		last := map[string]job.Record{}
		completed := map[string]bool{}
		for ; len(script) >= 2; script = script[2:] {
			id := []string{"a", "b"}[script[0]>>7]
			request := randomRequest(id, script[0]&0x7f, script[1], tokens, last[id])
			before, known := last[id]
			d := x.apply(request)
			if d.Outcome == job.Applied {
				last[id] = x.get(id)
			} else if known && !same(before, x.get(id)) {
				t.Fatalf("%#v was %s and changed the job", request, d.Outcome)
			}
			if after, ok := last[id]; ok {
				invariants(t, request, before, after, d)
			}
			if d.Outcome == job.Applied && before.Status == job.Running && last[id].Status == job.Completed {
				if completed[last[id].Attempt] {
					t.Fatalf("attempt %s completed twice", last[id].Attempt)
				}
				completed[last[id].Attempt] = true
			}
			if last["a"].Status.Live() && last["b"].Status.Live() {
				t.Fatal("both jobs of the item are live")
			}
			live(t, x, last)
		}
	})
}

func invariants(t *testing.T, request job.Request, before, after job.Record, d job.Decision) {
	t.Helper()
	bad := func(what string) { t.Fatalf("%s: %#v made %+v of %+v", what, request, after, before) }
	if after.Status == job.Pending && after.Attempt != "" || after.Status == job.Running && after.Attempt == "" {
		bad("attempt and status disagree")
	}
	if after.Final && !after.Status.Ended() {
		bad("a live job is final")
	}
	if d.Outcome != job.Applied {
		return
	}
	if _, ok := request.(job.Settle); ok {
		before.Intent = after.Intent
		if !same(before, after) {
			bad("settle wrote more than its field")
		}
		return
	}
	if after.TransitionSeq != before.TransitionSeq+1 {
		bad("transition")
	}
	if after.Iteration < before.Iteration || after.Epoch < before.Epoch {
		bad("iteration or epoch went back")
	}
	if before.Status.Ended() {
		switch request.(type) {
		case job.Redispatch, job.Finalize:
		case job.Complete, job.Fail, job.Cancel:
			if before.Status != job.Completed || before.Explicit {
				bad("an explicit end changed")
			}
		default:
			bad("a job that has ended changed")
		}
		if before.Final {
			bad("a final job changed")
		}
	}
}

// live checks the index of the item against the jobs.
func live(t *testing.T, x *fixture, jobs map[string]job.Record) {
	t.Helper()
	err := x.store.View(t.Context(), func(r statestore.Reader) error {
		record, ok, err := job.Live(r, "item")
		want := jobs["a"]
		if !want.Status.Live() {
			want = jobs["b"]
		}
		if ok != want.Status.Live() || ok && !same(record, want) {
			t.Fatalf("the live job is %+v, want %+v", record, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func same(a, b job.Record) bool {
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	return string(left) == string(right)
}

// randomRequest reads a request and its proof from two bytes; half of the proofs are right.
func randomRequest(id string, kind, how byte, tokens []string, r job.Record) job.Request {
	token := tokens[int(how)%len(tokens)]
	seq := r.TransitionSeq - int(how>>3&1)
	attempt := r.Attempt
	if how&1 != 0 {
		attempt = tracker.AttemptID(token)
	}
	by := []job.Authority{
		job.Worker{Token: token}, job.Operator{TransitionSeq: seq}, job.Engine{Attempt: attempt, TransitionSeq: seq}, nil,
	}[how>>4&3]
	reason := []string{"why", ""}[how>>6&1]
	switch kind % 12 {
	case 0:
		return job.Create{ID: id, Item: "item", Wave: "w", Seat: "worker", MinEpoch: int(how & 3), AutoComplete: how&4 != 0, MaxIterations: int(how >> 6)}
	case 1:
		return job.Claim{ID: id, Token: token}
	case 2:
		return job.Progress{ID: id, By: job.Worker{Token: token}, Fields: json.RawMessage(`{"n":1}`)}
	case 3:
		return job.Complete{ID: id, By: by, Reason: reason}
	case 4:
		return job.Fail{ID: id, By: by, Reason: reason}
	case 5:
		return job.Cancel{ID: id, By: by, Reason: reason}
	case 6:
		return job.Timeout{ID: id, By: job.Engine{Attempt: attempt}}
	case 7:
		return job.Requeue{ID: id, By: by, Reason: reason}
	case 8:
		return job.Redispatch{ID: id, By: by, Iteration: r.Iteration + int(how&1), Reason: reason}
	case 9:
		return job.Infer{ID: id, By: job.Gate{Attempt: attempt, Enabled: how&32 == 0, Quiescent: true, Evidence: "e"}, Reason: reason}
	case 10:
		return job.Settle{ID: id, By: job.Notifier{Intent: []string{r.Intent, "other"}[how>>2&1]}}
	default:
		return job.Finalize{ID: id, By: job.Operator{TransitionSeq: seq}, Reason: reason}
	}
}
