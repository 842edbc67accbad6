package lifecycle_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/statestore"
	"aesop/statestore/lifecycle"
)

// TestAnAgentIsJudgedByItsStateHeartbeatAndProgressTogether has a row for each cell of the table, and for each edge.
func TestAnAgentIsJudgedByItsStateHeartbeatAndProgressTogether(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const m = time.Minute
	running := func(claimed, progress time.Duration) lifecycle.Agent {
		a := lifecycle.Agent{Job: "j", State: lifecycle.Working, Attempt: "a", Claimed: now.Add(-claimed), Since: now.Add(-claimed)}
		if progress > 0 {
			a.Progress = now.Add(-progress)
		}
		return a
	}
	beat := func(age, progress time.Duration) *lifecycle.Heartbeat {
		h := &lifecycle.Heartbeat{Job: "j", Attempt: "a", At: now.Add(-age)}
		if progress != 0 {
			h.Progress = now.Add(-progress)
		}
		return h
	}
	in := func(s lifecycle.State, since time.Duration) lifecycle.Agent {
		return lifecycle.Agent{Job: "j", State: s, Since: now.Add(-since), Claimed: now.Add(-since), Attempt: "a"}
	}
	reasons := func(r ...lifecycle.Reason) []lifecycle.Reason { return r }
	for name, test := range map[string]struct {
		agent   lifecycle.Agent
		beat    *lifecycle.Heartbeat
		level   lifecycle.Level
		reasons []lifecycle.Reason
		age     time.Duration
	}{
		"alive and getting on":            {running(60*m, 0), beat(m, 2*m), lifecycle.OK, nil, m},
		"just claimed, alive":             {running(10*m, 0), beat(0, 0), lifecycle.OK, nil, 0},
		"at the edge of quiet":            {running(60*m, 0), beat(10*m, 10*m), lifecycle.OK, nil, 10 * m},
		"no progress for a while":         {running(60*m, 0), beat(m, 11*m), lifecycle.Quiet, reasons(lifecycle.NoProgress), 11 * m},
		"no progress since the claim":     {running(11*m, 0), beat(m, 0), lifecycle.Quiet, reasons(lifecycle.NoProgress), 11 * m},
		"at the edge of stalled":          {running(60*m, 0), beat(0, 20*m), lifecycle.Quiet, reasons(lifecycle.NoProgress), 20 * m},
		"alive without progress":          {running(60*m, 0), beat(m, 21*m), lifecycle.Stuck, reasons(lifecycle.NoProgress), 21 * m},
		"never any progress":              {running(21*m, 0), beat(m, 0), lifecycle.Stuck, reasons(lifecycle.NoProgress), 21 * m},
		"progress that is an event":       {running(60*m, m), beat(m, 40*m), lifecycle.OK, nil, m},
		"no sign of life for a while":     {running(60*m, 0), beat(11*m, 12*m), lifecycle.Quiet, reasons(lifecycle.HeartbeatOld, lifecycle.NoProgress), 12 * m},
		"silent, and nothing done before": {running(60*m, 0), beat(11*m, 30*m), lifecycle.Stuck, reasons(lifecycle.HeartbeatOld, lifecycle.NoProgress), 30 * m},
		"at the edge of dead":             {running(60*m, 0), beat(20*m, 20*m), lifecycle.Quiet, reasons(lifecycle.HeartbeatOld, lifecycle.NoProgress), 20 * m},
		"no sign of life for long":        {running(60*m, 0), beat(21*m, 21*m), lifecycle.Dead, reasons(lifecycle.HeartbeatOld), 21 * m},
		"old heartbeat, newer progress":   {running(60*m, 0), beat(30*m, m), lifecycle.OK, nil, m},
		"events are signs of life":        {running(60*m, m), nil, lifecycle.OK, nil, m},
		"old events are none":             {running(60*m, 21*m), nil, lifecycle.Dead, reasons(lifecycle.HeartbeatOld), 21 * m},
		"no heartbeat at all, yet":        {running(0, 0), nil, lifecycle.Unknown, reasons(lifecycle.NoHeartbeat), 0},
		"no heartbeat at all":             {running(20*m, 0), nil, lifecycle.Unknown, reasons(lifecycle.NoHeartbeat), 20 * m},
		"no heartbeat at all for long":    {running(21*m, 0), nil, lifecycle.Dead, reasons(lifecycle.NoHeartbeat), 21 * m},
		"heartbeat of another attempt": {running(0, 0), &lifecycle.Heartbeat{Job: "j", Attempt: "b", At: now}, lifecycle.Unknown,
			reasons(lifecycle.NoHeartbeat), 0},
		"a little ahead is now":   {running(60*m, 0), beat(-2*m, -2*m), lifecycle.OK, nil, 0},
		"heartbeat ahead":         {running(60*m, 0), beat(-2*m-1, m), lifecycle.Future, reasons(lifecycle.HeartbeatAhead), 0},
		"progress ahead":          {running(60*m, 0), beat(m, -2*m-1), lifecycle.Future, reasons(lifecycle.ProgressAhead), 0},
		"stalled is judged anew":  {in(lifecycle.Stalled, 60*m), beat(m, m), lifecycle.OK, nil, m},
		"queued":                  {in(lifecycle.Queued, 20*m), nil, lifecycle.OK, nil, 20 * m},
		"queued for long":         {in(lifecycle.Queued, 21*m), nil, lifecycle.Waiting, reasons(lifecycle.Unclaimed), 21 * m},
		"done is never stalled":   {in(lifecycle.Done, 60*m), beat(60*m, 60*m), lifecycle.Ended, nil, 0},
		"failed is never stalled": {in(lifecycle.Failed, 60*m), nil, lifecycle.Ended, nil, 0},
		"nor is cancelled":        {in(lifecycle.Cancelled, 60*m), beat(-time.Hour, 0), lifecycle.Ended, nil, 0},
		"nor timed out":           {in(lifecycle.TimedOut, 60*m), nil, lifecycle.Ended, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v := lifecycle.Judge(test.agent, test.beat, now, lifecycle.Thresholds{})
			if v.Level != test.level || !slices.Equal(v.Reasons, test.reasons) || v.Age != test.age || v.Job != "j" {
				t.Errorf("judged %s %v after %s, want %s %v after %s", v.Level, v.Reasons, v.Age, test.level, test.reasons, test.age)
			}
			if (v.Level != lifecycle.OK && v.Level != lifecycle.Ended) != (len(v.Next) > 0) {
				t.Errorf("%s suggests %v", v.Level, v.Next)
			}
		})
	}
}

// TestEachThresholdHasItsEffect moves one at a time.
func TestEachThresholdHasItsEffect(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := lifecycle.Agent{Job: "j", State: lifecycle.Working, Attempt: "a", Claimed: now.Add(-time.Hour)}
	for _, test := range []struct {
		quiet, dead, progress time.Duration
		want                  lifecycle.Level
	}{
		{0, 0, 10 * time.Minute, lifecycle.OK},
		{0, 0, 11 * time.Minute, lifecycle.Quiet},
		{12 * time.Minute, 0, 11 * time.Minute, lifecycle.OK},
		{12 * time.Minute, 0, 24 * time.Minute, lifecycle.Quiet}, // Dead is twice Quiet
		{12 * time.Minute, 0, 25 * time.Minute, lifecycle.Stuck},
		{0, 11 * time.Minute, 11 * time.Minute, lifecycle.Quiet},
		{0, 11 * time.Minute, 12 * time.Minute, lifecycle.Stuck},
		{time.Second, time.Second, 2 * time.Second, lifecycle.Stuck},
	} {
		th := lifecycle.Thresholds{Quiet: test.quiet, Dead: test.dead}
		v := lifecycle.Judge(a, &lifecycle.Heartbeat{Attempt: "a", At: now, Progress: now.Add(-test.progress)}, now, th)
		if v.Level != test.want || th.Check() != nil {
			t.Errorf("%+v: judged %s, want %s (%v)", test, v.Level, test.want, th.Check())
		}
	}
	for _, th := range []lifecycle.Thresholds{{Quiet: -1}, {Dead: -1}, {Quiet: time.Hour, Dead: time.Minute}, {Dead: time.Minute}} {
		if th.Check() == nil {
			t.Errorf("%+v is taken", th)
		}
	}
}

// TestSuggestedStepsAreOrdered, the mildest first where the agent may still be helped.
func TestSuggestedStepsAreOrdered(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := lifecycle.Agent{Job: "j", State: lifecycle.Working, Attempt: "a", Claimed: now.Add(-time.Hour)}
	stuck := lifecycle.Judge(a, &lifecycle.Heartbeat{Attempt: "a", At: now}, now, lifecycle.Thresholds{})
	dead := lifecycle.Judge(a, nil, now, lifecycle.Thresholds{})
	if diff := cmp.Diff([]lifecycle.Action{lifecycle.Message, lifecycle.StopAndRelaunch, lifecycle.InspectTail}, stuck.Next); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]lifecycle.Action{lifecycle.Stop, lifecycle.InspectTail, lifecycle.RelaunchFromLastGood}, dead.Next); diff != "" {
		t.Error(diff)
	}
}

func TestVerdictsHaveTheirAgeInMillisecondsAndDamageAsAString(t *testing.T) {
	v := lifecycle.Verdict{Job: "j", Age: 1500 * time.Millisecond, Level: lifecycle.Unknown, Damage: &statestore.DamagedError{What: "record beat/j", Err: errors.New("bad")}}
	data, err := json.Marshal(v)
	if want := `{"job":"j","state":"","level":"unknown","damage":"record beat/j is damaged: bad","ageMs":1500}`; err != nil || string(data) != want {
		t.Errorf("it is %s, %v", data, err)
	}
}

// TestPatienceIsOfProgressOnly, only lengthens, and does not keep the dead alive.
func TestPatienceIsOfProgressOnly(t *testing.T) {
	const m, hour = time.Minute, time.Hour
	for name, test := range map[string]struct {
		patience, life, progress time.Duration
		want                     lifecycle.Level
	}{
		"at its edge":       {hour, 0, hour, lifecycle.OK},
		"past it":           {hour, 0, hour + 1, lifecycle.Quiet},
		"at twice":          {hour, 0, 2 * hour, lifecycle.Quiet},
		"past twice":        {hour, 0, 2*hour + 1, lifecycle.Stuck},
		"a short one":       {m, 0, 10 * m, lifecycle.OK},
		"none":              {0, 0, 20*m + 1, lifecycle.Stuck},
		"one that is wrong": {-hour, 0, 20*m + 1, lifecycle.Stuck},
		"no sign of life":   {hour, 20*m + 1, 20*m + 1, lifecycle.Dead},
	} {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		a := lifecycle.Agent{State: lifecycle.Working, Attempt: "a", Claimed: now.Add(-9 * hour)}
		b := lifecycle.Heartbeat{Attempt: "a", At: now.Add(-test.life), Progress: now.Add(-test.progress), PatienceMs: test.patience.Milliseconds()}
		if v := lifecycle.Judge(a, &b, now, lifecycle.Thresholds{}); v.Level != test.want {
			t.Errorf("%s: %s, want %s", name, v.Level, test.want)
		}
	}
}
