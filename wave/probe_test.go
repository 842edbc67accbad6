package wave_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/review"
)

// missing is a driver whose program is not there.
type missing struct {
	*agent
	env []string
}

func (m *missing) Probe(env []string) error {
	m.env = env
	return errors.New("the robot is not installed; buy one")
}

// TestDriverThatCannotWorkIsAskedFirst: nothing is claimed, no attempt is counted, and a wave without work asks nobody.
func TestDriverThatCannotWorkIsAskedFirst(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	robot := &missing{agent: &agent{}}
	s := w.scheduler(with(robot))
	_, err := s.Run(t.Context())
	setup, ok := errors.AsType[*wave.SetupError](err)
	if !ok || setup.Code != "agent_missing" || !strings.Contains(err.Error(), "buy one") || len(robot.tasks) > 0 {
		t.Errorf("error %v", err)
	}
	if !slices.ContainsFunc(robot.env, func(e string) bool { return strings.HasPrefix(e, "PATH=") }) {
		t.Errorf("asked with %q", robot.env)
	}
	if row := w.read("a"); row.Status != tracker.Todo || row.Attempts != 0 || row.Claim != nil {
		t.Errorf("the backlog has %+v", row)
	}
	if left, err := s.Resume(t.Context(), ""); len(left) > 0 || err != nil {
		t.Errorf("something is left: %v, %v", left, err)
	}
	w.items(item{"id": "a", "status": "done"})
	if _, err := s.Run(t.Context()); err != nil {
		t.Errorf("without work: %v", err)
	}
}

// TestReviewerThatCannotWorkIsAskedFirst: no agent is paid for what nobody could review.
func TestReviewerThatCannotWorkIsAskedFirst(t *testing.T) {
	w := newWorld(t)
	w.items(item{"id": "a"})
	worker := writer()
	reviewer, err := review.New(&missing{agent: &agent{}}, review.Options{})
	must(t, err)
	_, err = w.scheduler(with(worker), func(c *wave.Config) { c.Reviewer = reviewer }).Run(t.Context())
	setup, ok := errors.AsType[*wave.SetupError](err)
	if !ok || setup.Code != "agent_missing" || len(worker.tasks) > 0 || w.read("a").Status != tracker.Todo {
		t.Errorf("error %v, %d dispatches", err, len(worker.tasks))
	}
}
