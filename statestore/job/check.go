package job

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aesop/tracker"
)

// maxFields bounds what a job carries as progress, in bytes of JSON: the files that it comes from are an agent's.
const maxFields = 64 << 10

// Bounds of what a job carries besides, in bytes, so that its news always fits into an outbox. A longer name is invalid, a longer reason is cut.
const (
	MaxName   = 4 << 10
	MaxReason = 16 << 10
	maxPath   = 32 << 10
)

// What proves an authority.

func unproven(*Record, ask, time.Time) *Decision { return nil }

func bringsToken(_ *Record, a ask, _ time.Time) *Decision {
	if !isToken(a.by.authority().token) {
		return invalid(BadToken, "claim of job %s: the token is not one of tracker.NewToken", a.id)
	}
	return nil
}

func holdsToken(r *Record, a ask, _ time.Time) *Decision {
	return sameAttempt(r, a, tracker.AttemptID(a.by.authority().token))
}

func sawAttempt(r *Record, a ask, _ time.Time) *Decision {
	return sameAttempt(r, a, a.by.authority().attempt)
}

func sameAttempt(r *Record, a ask, attempt string) *Decision {
	switch r.Attempt {
	case "":
		refusal := refused(NoAttempt, "%s of job %s: it has no attempt", a.name, a.id)
		refusal.audit = a.late
		return refusal
	case attempt:
		return nil
	}
	refusal := refused(StaleAttempt, "%s of job %s: its attempt is %s and not that of the request", a.name, a.id, r.Attempt)
	refusal.audit = a.late
	return refusal
}

func sawTransition(r *Record, a ask, _ time.Time) *Decision {
	if seen := a.by.authority().seq; seen != r.TransitionSeq {
		refusal := conflict(StaleTransition, "%s of job %s: expected transition %d, is %d", a.name, a.id, seen, r.TransitionSeq)
		refusal.audit = true
		return refusal
	}
	return nil
}

func owed(r *Record, a ask, _ time.Time) *Decision {
	switch r.Intent {
	case "":
		return &Decision{Outcome: Idempotent, Reason: AlreadySettled, Text: "nothing is owed of job " + a.id}
	case a.by.authority().intent:
		return nil
	}
	return refused(StaleIntent, "settle of job %s: what is owed is %s and not what was sent", a.id, r.Intent)
}

// What else must hold.

func named(_ *Record, a ask, _ time.Time) *Decision {
	names := []struct {
		field, value string
		optional     bool
	}{
		{field: "id", value: a.id}, {field: "item", value: a.create.Item}, {field: "wave", value: a.create.Wave}, {field: "seat", value: a.create.Seat},
		{field: "type", value: a.create.Type, optional: true},
	}
	for _, name := range names {
		switch {
		case name.value == "" && !name.optional:
			return invalid(Incomplete, "create of job %s: it has no %s", a.id, name.field)
		case len(name.value) > MaxName:
			return invalid(BadName, "create of job %.50q: its %s %.50q… has more than %d bytes", a.id, name.field, name.value, MaxName)
		case !utf8.ValidString(name.value) || strings.ContainsFunc(name.value, unicode.IsControl):
			return invalid(BadName, "create of job %q: its %s %q has characters that cannot be kept", a.id, name.field, name.value)
		}
	}
	return nil
}

func itemFree(_ *Record, a ask, _ time.Time) *Decision {
	if a.live != "" && a.live != a.id {
		return conflict(ItemBusy, "%s of job %s: job %s of the same item has not ended", a.name, a.id, a.live)
	}
	return nil
}

func tokenUnused(_ *Record, a ask, _ time.Time) *Decision {
	if a.spent {
		return refused(TokenUsed, "claim of job %s: the token was used before", a.id)
	}
	return nil
}

func granted(_ *Record, a ask, _ time.Time) *Decision {
	if a.ceiling == nil {
		return nil
	}
	decision := refused(NoRoom, "%s of job %s: %v", a.name, a.id, a.ceiling)
	decision.Ceiling = a.ceiling
	return decision
}

func fieldsFit(r *Record, a ask, _ time.Time) *Decision {
	var old json.RawMessage
	if r != nil {
		old = r.Progress
	}
	if a.fields == nil && (r == nil || a.report != nil) {
		return nil
	}
	refusal := CheckFields(old, a.fields)
	if refusal != nil {
		refusal.Text = fmt.Sprintf("%s of job %s: %s", a.name, a.id, refusal.Text)
	}
	return refusal
}

// CheckFields is nil where fields may be added to the progress of a job, nil is none yet, and the refusal otherwise.
func CheckFields(progress, added json.RawMessage) *Decision {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(added, &members); err != nil || members == nil || !utf8.Valid(added) {
		return invalid(BadFields, "the fields are not a JSON object in UTF-8")
	}
	for name := range members {
		if reserved(name) {
			return refused(ReservedField, "the field %q is the job's own and not for progress", name)
		}
	}
	if size := len(merge(progress, added)); size > maxFields {
		return refused(FieldsTooLarge, "the fields would be %d bytes, and %d are kept", size, maxFields)
	}
	return nil
}

func reportNamed(_ *Record, a ask, _ time.Time) *Decision {
	if a.report == nil {
		return nil
	}
	if !filepath.IsAbs(a.report.Path) || len(a.report.Path) > maxPath {
		return invalid(BadReport, "%s of job %s: the path of the report is not absolute, or too long: %.100q", a.name, a.id, a.report.Path)
	}
	if sum, err := hex.DecodeString(a.report.SHA256); err != nil || len(sum) != 32 {
		return invalid(BadReport, "%s of job %s: the report has no SHA-256", a.name, a.id)
	}
	return nil
}

// threeYeses are those of the switch, of the backend and of the job itself. None of them stands for another.
func threeYeses(r *Record, a ask, _ time.Time) *Decision {
	g := a.by.authority().gate
	switch {
	case !g.Enabled:
		return refused(NotInferred, "infer of job %s: completion by inference is switched off", a.id)
	case !g.Quiescent:
		return refused(NotInferred, "infer of job %s: that its backend is idle proves nothing", a.id)
	case !r.AutoComplete:
		return refused(NotInferred, "infer of job %s: the job has not opted in", a.id)
	case g.Evidence == "":
		return invalid(NoEvidence, "infer of job %s: no evidence is named", a.id)
	}
	return nil
}

// reserved says whether a name could be taken for one of the record's own, however it is written, or for the token.
func reserved(name string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "").Replace(name)
	own := []string{
		"id", "item", "wave", "seat", "status", "reason", "attempt", "iteration", "epoch", "transitionseq", "deadline", "final",
		"explicit", "reserved", "progress", "createdat", "updatedat", "token", "type", "maxiterations", "autocomplete", "evidence",
		"report", "intent",
	}
	return slices.ContainsFunc(own, func(field string) bool { return strings.EqualFold(field, plain) })
}

func deadlinePassed(r *Record, a ask, now time.Time) *Decision {
	switch {
	case r.Deadline.IsZero():
		return refused(DeadlineAhead, "timeout of job %s: it has no deadline", a.id)
	case now.Before(r.Deadline):
		return refused(DeadlineAhead, "timeout of job %s: its deadline is %s", a.id, r.Deadline.Format(time.RFC3339))
	}
	return nil
}

func notFinal(r *Record, a ask, _ time.Time) *Decision {
	if r.Final {
		return refused(AlreadyFinal, "%s of job %s: it has ended for good", a.name, a.id)
	}
	return nil
}

func notFinalYet(r *Record, a ask, _ time.Time) *Decision {
	if !r.Final {
		return nil
	}
	return &Decision{Outcome: Idempotent, Reason: AlreadyFinal, Text: "job " + a.id + " is final already", audit: true}
}

func laterIteration(r *Record, a ask, _ time.Time) *Decision {
	if a.iteration <= r.Iteration {
		return refused(OldIteration, "redispatch of job %s: iteration %d is not after %d", a.id, a.iteration, r.Iteration)
	}
	return nil
}

func withinBudget(r *Record, a ask, _ time.Time) *Decision {
	if r.MaxIterations > 0 && a.iteration > r.MaxIterations {
		return refused(BudgetUsedUp, "redispatch of job %s: iteration %d is past its %d: finalize it", a.id, a.iteration, r.MaxIterations)
	}
	return nil
}

func reasonGiven(_ *Record, a ask, _ time.Time) *Decision {
	if strings.TrimSpace(a.reason) == "" {
		return invalid(NoReason, "%s of job %s: a reason is required", a.name, a.id)
	}
	return nil
}

// isToken says whether tracker.NewToken could have made it.
func isToken(token string) bool {
	secret, err := hex.DecodeString(token)
	return err == nil && len(secret) == 32
}
