package job

import (
	"encoding/json"
	"time"

	"aesop/tracker"
)

// What a row changes beside status, reason, transition and time.

func create(r *Record, a ask) {
	r.Item, r.Wave, r.Seat = a.create.Item, a.create.Wave, a.create.Seat
	r.Iteration = 1
	r.Epoch = max(a.epoch+1, a.create.MinEpoch)
	r.Type, r.MaxIterations, r.AutoComplete = a.create.Type, a.create.MaxIterations, a.create.AutoComplete
	if a.fields != nil {
		r.Progress = merge(nil, a.fields)
	}
}

func startAttempt(r *Record, a ask) {
	r.Attempt = tracker.AttemptID(a.by.authority().token)
	r.Deadline = a.deadline.UTC()
	r.Reserved = a.granted
}

func reserve(r *Record, a ask) {
	r.Reserved = a.granted
	if !a.deadline.IsZero() {
		r.Deadline = a.deadline.UTC()
	}
}

func clearAttempt(r *Record, _ ask) {
	r.Attempt, r.Deadline, r.Report = "", time.Time{}, nil
}

func nextIteration(r *Record, a ask) {
	clearAttempt(r, a)
	r.Iteration, r.Explicit = a.iteration, false
	r.Evidence = ""
}

func endExplicitly(r *Record, a ask) {
	r.Explicit = true
	noteReport(r, a)
}

func infer(r *Record, a ask) {
	r.Evidence = a.by.authority().gate.Evidence
	noteReport(r, a)
}

func noteReport(r *Record, a ask) {
	if a.report != nil {
		r.Report = a.report
	}
}

func settle(r *Record, a ask) { r.Intent = a.owed }

func finish(r *Record, _ ask) { r.Final = true }

func finishRunning(r *Record, _ ask) { r.Explicit, r.Final = true, true }

func noteProgress(r *Record, a ask) {
	if a.fields != nil {
		r.Progress = merge(r.Progress, a.fields)
	}
	noteReport(r, a)
}

// merge adds the members of one JSON object to those of another. Both are known to be objects; nil is an empty one.
func merge(old, added json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	for _, object := range []json.RawMessage{old, added} {
		if object != nil {
			_ = json.Unmarshal(object, &members)
		}
	}
	merged, _ := json.Marshal(members)
	return merged
}
