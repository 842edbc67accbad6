package transcript_test

import (
	"encoding/json"
	"errors"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/cost/transcript"
	"aesop/cost/transcript/transcripttest"
)

// TestReached stops an Ingest at every place where it said how far it was, and goes on from there: each call is given once, and none is lost.
func TestReached(t *testing.T) {
	home := t.TempDir()
	if _, _, err := transcripttest.Write(home, 4, 2<<20); err != nil {
		t.Fatal(err)
	}
	c := transcript.Find(func(name string) string { return map[string]string{"HOME": home}[name] })
	c.Now = later
	var state transcript.State
	whole, _ := ingest(t, c, &state)
	want := map[string]cost.Usage{}
	for _, call := range whole {
		want[call.ID] = call.Usage
	}
	stop, places := errors.New("stopped"), 0
	got := map[string]cost.Usage{}
	state = transcript.State{}
	for {
		var taken []cost.Call
		stopped := c
		stopped.Reached = func(now func() transcript.State) error {
			data, err := json.Marshal(now())
			if err != nil {
				return err
			}
			state = transcript.State{}
			if err := json.Unmarshal(data, &state); err != nil {
				return err
			}
			return stop
		}
		_, _, err := transcript.Ingest(t.Context(), stopped, state, func(some []cost.Call) error {
			taken = append(taken, some...)
			return nil
		})
		for _, call := range taken {
			if _, twice := got[call.ID]; twice {
				t.Errorf("%s was given twice", call.ID)
			}
			got[call.ID] = call.Usage
		}
		if err == nil {
			break
		}
		if places++; !errors.Is(err, stop) || places > 10_000 {
			t.Fatal(err)
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if places < 3 {
		t.Errorf("it was stopped at %d places", places)
	}
}
