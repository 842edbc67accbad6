package job_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"aesop/statestore/job"
	"aesop/statestore/outbox"
)

// TestFieldsAreTextThatEverybodyCanRead: JSON must be UTF-8, and programs in other languages stop at what is not.
func TestFieldsAreTextThatEverybodyCanRead(t *testing.T) {
	f, token := running(t)
	before := f.dump()
	for _, fields := range []string{"{\"a\":\"\xff\"}", "{\"\xff\":1}", "{\"a\":[\"\xed\xa0\x80\"]}"} {
		f.not(job.Progress{ID: "a", By: job.Worker{Token: token}, Fields: json.RawMessage(fields)}, job.Invalid, job.BadFields)
		f.not(job.Create{ID: "b", Item: "other", Wave: "w", Seat: "worker", Fields: json.RawMessage(fields)}, job.Invalid, job.BadFields)
	}
	if f.dump() != before {
		t.Error("fields that are not UTF-8 were kept")
	}
}

// TestAReservedNameIsReservedInEveryCase: decoders of JSON compare names by folding, also with letters that only fold to those of ASCII.
func TestAReservedNameIsReservedInEveryCase(t *testing.T) {
	f, token := running(t)
	for _, name := range []string{"\u017ftatus", "STATU\u017f", "to\u212aen"} {
		fields, err := json.Marshal(map[string]string{name: "completed"})
		if err != nil {
			t.Fatal(err)
		}
		f.not(job.Progress{ID: "a", By: job.Worker{Token: token}, Fields: fields}, job.Refused, job.ReservedField)
	}
}

// TestARepeatedSignalIsRecordedOnce, so that nobody fills the log with an old token or a loop; another signal, and one at another time of the job, is
// recorded again. The fields of the job are not repeated with it.
func TestARepeatedSignalIsRecordedOnce(t *testing.T) {
	f, token := running(t)
	f.applied(job.Progress{ID: "a", By: job.Worker{Token: token}, Fields: json.RawMessage(`{"big":"` + strings.Repeat("x", 1000) + `"}`)})
	f.applied(job.Fail{ID: "a", By: job.Worker{Token: token}, Reason: "no"})
	recorded := func() (n int) {
		_, events := f.events("a")
		for _, e := range events {
			if e.Outcome != job.Applied {
				n++
				if e.Job.Progress != nil {
					t.Errorf("%s repeats the fields", e.Reason)
				}
			}
		}
		return n
	}
	hammer := func(want int, requests ...job.Request) {
		t.Helper()
		for range 20 {
			for _, request := range requests {
				if d := f.apply(request); d.Outcome == job.Applied {
					t.Fatalf("%T was applied", request)
				}
			}
		}
		if got := recorded(); got != want {
			t.Errorf("recorded are %d signals, want %d", got, want)
		}
	}
	by := job.Worker{Token: token}
	hammer(3, job.Complete{ID: "a", By: by}, job.Fail{ID: "a", By: by}, job.Fail{ID: "a", By: job.Operator{TransitionSeq: 1}})
	f.applied(job.Redispatch{ID: "a", By: job.Operator{TransitionSeq: 4}, Iteration: 2})
	hammer(4, job.Complete{ID: "a", By: by})
	other := f.token()
	f.applied(job.Claim{ID: "a", Token: other})
	hammer(5, job.Complete{ID: "a", By: by})
	f.applied(job.Fail{ID: "a", By: job.Worker{Token: other}})
	hammer(8, job.Complete{ID: "a", By: by}, job.Complete{ID: "a", By: job.Worker{Token: other}}, job.Complete{ID: "a", By: job.Worker{Token: other}, Reason: "why"},
		job.Complete{ID: "a", By: job.Operator{TransitionSeq: 7}})
	if drifts := f.drifts(); len(drifts) > 0 {
		t.Error(drifts)
	}
}

// TestNoJobIsTooLargeForItsNews: one that could be made before anybody subscribed, and not be ended afterwards, would stay for ever.
func TestNoJobIsTooLargeForItsNews(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("<", job.MaxName)
	for _, create := range []job.Create{{ID: long + "x", Item: "i", Wave: "w", Seat: "s"}, {ID: "a", Item: long + "x", Wave: "w", Seat: "s"},
		{ID: "a", Item: "i", Wave: long + "x", Seat: "s"}, {ID: "a", Item: "i", Wave: "w", Seat: long + "x"}, {ID: "a", Item: "i", Wave: "w", Seat: "s", Type: long + "x"}} {
		f.not(create, job.Invalid, job.BadName)
	}
	fields, err := json.Marshal(map[string]string{"a": strings.Repeat("x", 64<<10-8)})
	if err != nil {
		t.Fatal(err)
	}
	f.applied(job.Create{ID: long, Item: long, Wave: long, Seat: long, Type: long, Fields: fields})
	f.subscribe("all")
	token := f.token()
	f.applied(job.Claim{ID: long, Token: token})
	r := f.applied(job.Fail{ID: long, By: job.Worker{Token: token}, Reason: strings.Repeat("\x01\u00e4", outbox.MaxSize)})
	if len(r.Reason) > job.MaxReason || !strings.HasSuffix(r.Reason, "\u00e4\x01…") || !utf8.ValidString(r.Reason) {
		t.Errorf("the reason has %d bytes and ends in %.8q", len(r.Reason), r.Reason[max(0, len(r.Reason)-8):])
	}
	if got := f.pending("all"); len(got) != 2 {
		t.Errorf("owed is %v", got)
	}
}

// TestABadNameIsCalledByItsField, of the ones that a job is made with, and so is one that is missing.
func TestABadNameIsCalledByItsField(t *testing.T) {
	fields := map[string]func(*job.Create) *string{
		"id":   func(c *job.Create) *string { return &c.ID },
		"item": func(c *job.Create) *string { return &c.Item },
		"wave": func(c *job.Create) *string { return &c.Wave },
		"seat": func(c *job.Create) *string { return &c.Seat },
		"type": func(c *job.Create) *string { return &c.Type },
	}
	for field, of := range fields {
		for _, value := range []string{"", "a\nb", "\xff", strings.Repeat("x", job.MaxName+1)} {
			c := job.Create{ID: "a", Item: "i", Wave: "w", Seat: "s", Type: "loop"}
			*of(&c) = value
			want := "its " + field + " "
			switch {
			case value == "" && field == "type":
				want = ""
			case value == "" && field == "id":
				want = "names no job"
			case value == "":
				want = "it has no " + field
			}
			d := job.Decide(nil, c, time.Now())
			if d.OK() != (want == "") || !strings.Contains(d.Text, want) || len(d.Text) > 300 {
				t.Errorf("%s %.20q: %s", field, value, d.Text)
			}
		}
	}
}
