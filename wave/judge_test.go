package wave_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
	"aesop/wave/policy"
)

// panel is a Reviewer and an Approver that is a function; it keeps the ids that it was asked about.
type panel struct {
	answer func(ctx context.Context, c wave.Change) (wave.Judgement, error)
	mu     sync.Mutex
	asked  []string
}

func (p *panel) Review(ctx context.Context, c wave.Change) (wave.Judgement, error) {
	p.mu.Lock()
	p.asked = append(p.asked, c.Item.ID)
	p.mu.Unlock()
	return p.answer(ctx, c)
}

func (p *panel) Approve(ctx context.Context, c wave.Change) (wave.Judgement, error) {
	return p.Review(ctx, c)
}

func (p *panel) ids() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.asked))
}

// TestApproverIsAskedAboutAllAtOnce, once the reviewer is through with all, and only about those that it let pass.
func TestApproverIsAskedAboutAllAtOnce(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"}, item{"id": "c"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b"), "c": good("c")})
	reviewer := &panel{answer: func(_ context.Context, c wave.Change) (wave.Judgement, error) {
		return wave.Judgement{OK: c.Item.ID != "b", Reason: "read"}, nil
	}}
	var both sync.WaitGroup
	both.Add(2)
	approver := &panel{answer: func(context.Context, wave.Change) (wave.Judgement, error) {
		if n := len(reviewer.ids()); n != 3 {
			t.Errorf("asked to approve after %d reviews", n)
		}
		both.Done()
		both.Wait() // neither answers before both are asked
		return wave.Judgement{OK: true}, nil
	}}
	report := w.run(asks(policy.Policy{Review: 1}), func(c *wave.Config) { c.Parallel, c.Reviewer, c.Approver = 1, reviewer, approver })
	wantOutcome(t, report, journal.Partial)
	wantState(t, report, "b", journal.StateReviewRejected)
	if got := approver.ids(); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("the approver was asked about %v", got)
	}
}

// TestJudgementsSurviveAStop: a resume asks only for those that were not given.
func TestJudgementsSurviveAStop(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"}, item{"id": "b"})
	w.script(map[string][]attempt{"a": good("a"), "b": good("b")})
	store := w.store()
	waiting, given := make(chan struct{}), make(chan struct{})
	once := &panel{answer: func(ctx context.Context, c wave.Change) (wave.Judgement, error) {
		if c.Item.ID == "a" {
			<-waiting
			return wave.Judgement{OK: true}, nil
		}
		close(waiting)
		<-ctx.Done()
		return wave.Judgement{}, ctx.Err()
	}}
	r := &reopener{w: w, event: "judged", act: func() { close(given) }}
	s := w.schedulerOn(store, func(c *wave.Config) { c.Approver, c.Observers = once, []wave.Observer{r} })
	stopped := make(chan struct{})
	go func() { defer close(stopped); <-given; s.Stop() }()
	report, err := s.Run(t.Context())
	must(t, err)
	<-stopped
	wantOutcome(t, report, journal.Interrupted)
	if report.Steps.Approve != "partial" {
		t.Errorf("steps: %s", asJSON(report.Steps))
	}
	again := &panel{answer: func(context.Context, wave.Change) (wave.Judgement, error) { return wave.Judgement{OK: true}, nil }}
	reports, err := w.schedulerOn(store, func(c *wave.Config) { c.Approver = again }).Resume(t.Context(), report.Wave)
	must(t, err)
	wantOutcome(t, reports[0], journal.Good)
	if got := again.ids(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the resume asked about %v", got)
	}
}

// TestSeatThatComesLaterIsAsked about a wave that was left before it was configured, and stays asked for where it is gone again.
func TestSeatThatComesLaterIsAsked(t *testing.T) {
	for name, sit := range map[string]func(*wave.Config, *panel){
		"reviewer": func(c *wave.Config, p *panel) { c.Reviewer = p },
		"approver": func(c *wave.Config, p *panel) { c.Approver = p },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.items(item{"id": "a"})
			w.script(map[string][]attempt{"a": good("a")})
			store := w.store()
			var s *wave.Scheduler
			stop := func(c *wave.Config) {
				c.Observers = []wave.Observer{&onEvent{event: "verified", act: func() { s.Stop() }}}
			}
			s = w.schedulerOn(store, stop)
			wantOutcome(t, w.runOn2(s), journal.Interrupted)
			// Halted as soon as it is asked, so that the wave is left once more.
			halts := &panel{answer: func(ctx context.Context, _ wave.Change) (wave.Judgement, error) {
				s.Stop()
				<-ctx.Done()
				return wave.Judgement{}, ctx.Err()
			}}
			s = w.schedulerOn(store, func(c *wave.Config) { sit(c, halts) })
			wantOutcome(t, w.runOn2(s), journal.Interrupted)
			if name == "reviewer" { // a desk is there always, a reviewer is not
				reports, err := w.schedulerOn(store).Resume(t.Context(), "")
				must(t, err)
				wantOutcome(t, reports[0], journal.GateUnavailable)
			}
			no := &panel{answer: func(context.Context, wave.Change) (wave.Judgement, error) { return wave.Judgement{Reason: "no"}, nil }}
			w.runOn2(w.schedulerOn(store, func(c *wave.Config) { sit(c, no) }))
			if at := w.refs()["refs/aesop/items/a"]; at != "" || len(halts.ids()) != 1 || len(no.ids()) != 1 {
				t.Errorf("shipped at %q, asked %v, then %v", at, halts.ids(), no.ids())
			}
			wantStatus(t, w.read("a"), tracker.Failed)
		})
	}
}
