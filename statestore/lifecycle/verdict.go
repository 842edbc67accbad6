package lifecycle

import (
	"encoding/json"
	"fmt"
	"time"

	"aesop/statestore"
	"aesop/statestore/job"
)

// Level is how an agent is judged.
type Level string

// The levels. Unknown and Future say that it cannot be judged, which is never as good as OK.
const (
	OK      Level = "ok"
	Ended   Level = "ended"   // its job has: nothing is expected of it
	Waiting Level = "waiting" // queued for long, and nobody claims it
	Quiet   Level = "quiet"   // no progress, or no sign of life, for a while
	Stuck   Level = "stalled" // alive without progress for long
	Dead    Level = "dead"    // no sign of life for long
	Unknown Level = "unknown" // no heartbeat came yet, or it cannot be read
	Future  Level = "future"  // a time is more than Tolerance ahead of the store's clock: one of the clocks is wrong
)

// Stalls says whether the level is one for which there is advice.
func (l Level) Stalls() bool { return l == Stuck || l == Dead }

// Reason is a stable word for why an agent is judged as it is.
type Reason string

// The reasons.
const (
	NoHeartbeat    Reason = "no_heartbeat" // of this attempt
	HeartbeatOld   Reason = "heartbeat_old"
	Unreadable     Reason = "unreadable" // the heartbeat or an event; Verdict.Damage names it
	HeartbeatAhead Reason = "heartbeat_ahead"
	NoProgress     Reason = "no_progress"
	ProgressAhead  Reason = "progress_ahead"
	Unclaimed      Reason = "unclaimed"
)

// Action is a step that is suggested to whoever looks after the agent. Nothing here takes it.
type Action string

// The actions.
const (
	Message              Action = "message_to_resume"
	Stop                 Action = "stop"
	StopAndRelaunch      Action = "stop_and_relaunch"
	InspectTail          Action = "inspect_tail" // of the agent's output
	RelaunchFromLastGood Action = "relaunch_from_last_good"
	StartWorker          Action = "start_worker"
	CheckClock           Action = "check_clock"
)

// next are the suggested steps, the first first.
func (l Level) next() []Action {
	switch l {
	case Quiet, Stuck:
		return []Action{Message, StopAndRelaunch, InspectTail}
	case Dead:
		return []Action{Stop, InspectTail, RelaunchFromLastGood}
	case Unknown:
		return []Action{InspectTail}
	case Waiting:
		return []Action{StartWorker}
	case Future:
		return []Action{CheckClock}
	}
	return nil
}

// Tolerance is how far a time may be ahead of the store's clock and count as now.
const Tolerance = 120 * time.Second

func future(at, now time.Time) bool { return at.Sub(now) > Tolerance }

// DefaultQuiet is that of Thresholds.
const DefaultQuiet = 10 * time.Minute

// Thresholds are the ages after which an agent is judged worse. An age that equals one is not past it.
type Thresholds struct {
	// Quiet is how long no sign of life, or no progress, is nothing to speak of. 0: DefaultQuiet.
	Quiet time.Duration
	// Dead is how long it can be before the agent is judged Dead or Stuck, and for how long a job may be queued before it
	// is Waiting. 0: twice Quiet.
	Dead time.Duration
}

// Check refuses thresholds that make no sense: negative ones, and a Dead below Quiet.
func (t Thresholds) Check() error {
	if u := t.filled(); u.Quiet <= 0 || u.Dead < u.Quiet {
		return fmt.Errorf("thresholds of stalls: %s quiet and %s dead: must be positive and not decrease", t.Quiet, t.Dead)
	}
	return nil
}

func (t Thresholds) filled() Thresholds {
	if t.Quiet == 0 {
		t.Quiet = DefaultQuiet
	}
	if t.Dead == 0 {
		t.Dead = 2 * t.Quiet
	}
	return t
}

// Verdict is how an agent is judged, and why.
type Verdict struct {
	Job     string                   `json:"job"`
	Attempt string                   `json:"attempt,omitempty"`
	State   State                    `json:"state"`
	Level   Level                    `json:"level"`
	Reasons []Reason                 `json:"reasons,omitempty"`
	Age     time.Duration            `json:"-"`                // since what the level is of: the newest sign of life or progress, or the job became queued
	Next    []Action                 `json:"next,omitempty"`   // suggested steps, in order
	Damage  *statestore.DamagedError `json:"damage,omitempty"` // of Unreadable: what cannot be read
}

// MarshalJSON has the age in milliseconds.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type fields Verdict // without this method
	return json.Marshal(struct {
		fields
		AgeMs int64 `json:"ageMs"`
	}{fields(v), v.Age.Milliseconds()})
}

// Unread is the verdict on the agent of a job of whom something cannot be read.
func Unread(record job.Record, damage *statestore.DamagedError) Verdict {
	return Verdict{Job: record.ID, Attempt: record.Attempt, Level: Unknown, Reasons: []Reason{Unreadable}, Next: Unknown.next(), Damage: damage}
}

// Judge judges an agent by its state, its heartbeat and its progress together, at a time of the store's clock. It is
// pure. The heartbeat is nil where there is none; one of another attempt counts as none.
//
// A sign of life is a heartbeat or progress. Of an agent that runs, with ages counted from its claim where there was no
// progress yet:
//
//	                             progress ≤ Quiet   ≤ Dead   > Dead
//	newest sign of life ≤ Quiet         ok          quiet    stalled
//	                    ≤ Dead          -           quiet    stalled
//	                    > Dead          -           -        dead
//	none yet, claimed   ≤ Dead       unknown
//	                    > Dead       dead
//
// Progress is given the patience of the heartbeat and twice that, where it is more than Quiet and Dead.
//
// A queued one is ok, and waiting after Dead. One whose job has ended is ended, whatever else is known.
func Judge(a Agent, beat *Heartbeat, now time.Time, t Thresholds) Verdict {
	t = t.filled()
	v := Verdict{Job: a.Job, Attempt: a.Attempt, State: a.State, Level: OK}
	switch {
	case a.State.Ended():
		v.Level = Ended
	case a.State == Queued:
		if v.Age = age(a.Since, now); v.Age > t.Dead {
			v.Level, v.Reasons = Waiting, []Reason{Unclaimed}
		}
	default:
		if beat != nil && beat.Attempt != a.Attempt {
			beat = nil
		}
		v.running(a, beat, now, t)
	}
	v.Next = v.Level.next()
	return v
}

// running judges an agent whose attempt runs.
func (v *Verdict) running(a Agent, beat *Heartbeat, now time.Time, t Thresholds) {
	progress, life, patient := a.Progress, a.Progress, t
	if beat != nil {
		patience := time.Duration(beat.PatienceMs) * time.Millisecond
		patient = Thresholds{Quiet: max(t.Quiet, patience), Dead: max(t.Dead, 2*patience)}
		v.ahead(HeartbeatAhead, beat.At, now)
		v.ahead(ProgressAhead, beat.Progress, now)
		progress = latest(progress, beat.Progress)
		life = latest(progress, beat.At)
	}
	if v.Level == Future {
		return
	}
	if life.IsZero() {
		v.Level, v.Reasons, v.Age = Unknown, []Reason{NoHeartbeat}, age(a.Claimed, now)
		if v.Age > t.Dead {
			v.Level = Dead
		}
		return
	}
	progressAge := age(latest(progress, a.Claimed), now)
	v.Age = age(life, now)
	switch {
	case v.Age > t.Dead:
		v.Level, v.Reasons = Dead, []Reason{HeartbeatOld}
		return
	case progressAge > patient.Dead:
		v.Level = Stuck
	case progressAge > patient.Quiet:
		v.Level = Quiet
	}
	if v.Age > t.Quiet {
		v.Reasons = append(v.Reasons, HeartbeatOld)
	}
	if progressAge > patient.Quiet {
		v.Reasons, v.Age = append(v.Reasons, NoProgress), progressAge
	}
}

func (v *Verdict) ahead(reason Reason, at, now time.Time) {
	if future(at, now) {
		v.Level, v.Reasons = Future, append(v.Reasons, reason)
	}
}

// age is how long ago a time was; one that is a little ahead is now.
func age(at, now time.Time) time.Duration { return max(0, now.Sub(at)) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
