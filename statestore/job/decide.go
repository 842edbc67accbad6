package job

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Outcome of a decision.
type Outcome string

// The outcomes. Only Applied changes the record.
const (
	Applied    Outcome = "applied"
	Idempotent Outcome = "idempotent" // it is so already
	Refused    Outcome = "refused"    // not allowed, or not now
	Conflict   Outcome = "conflict"   // the job is not as the request expects
	Invalid    Outcome = "invalid"    // can never be applied
)

// Reason is a stable word for why a request was not applied.
type Reason string

// The reasons.
const (
	UnknownRequest  Reason = "unknown_request"
	NoSuchJob       Reason = "no_such_job"
	JobExists       Reason = "job_exists"
	WrongAuthority  Reason = "wrong_authority" // none, or not one that may ask this
	NoAttempt       Reason = "no_attempt"      // a token or attempt was given, and the job has none
	StaleAttempt    Reason = "stale_attempt"   // it is not that of the running or last attempt
	StaleTransition Reason = "stale_transition"
	WrongStatus     Reason = "wrong_status"
	AlreadyEnded    Reason = "already_ended"
	AlreadyFinal    Reason = "already_final"
	ItemBusy        Reason = "item_busy" // the item has another pending or running job
	TokenUsed       Reason = "token_used"
	BadToken        Reason = "bad_token"
	ReservedField   Reason = "reserved_field"
	BadFields       Reason = "bad_fields"
	FieldsTooLarge  Reason = "fields_too_large"
	NoRoom          Reason = "ceiling"        // a limit has no room for the reservation
	DeadlineAhead   Reason = "deadline_ahead" // or there is none
	OldIteration    Reason = "old_iteration"
	NoReason        Reason = "no_reason"
	BudgetUsedUp    Reason = "budget_used_up" // the last iteration was
	NotInferred     Reason = "not_inferred"   // one of the three yeses is a no
	NoEvidence      Reason = "no_evidence"
	BadReport       Reason = "bad_report"
	StaleIntent     Reason = "stale_intent" // newer news is owed
	AlreadySettled  Reason = "already_settled"
	Incomplete      Reason = "incomplete" // a name is missing
	BadName         Reason = "bad_name"
)

// Decision is the answer to a request.
type Decision struct {
	Outcome Outcome
	Reason  Reason // "" where it was applied
	Text    string // the reason in words
	Record  Record // the job after the decision; zero where there is none
	Ceiling error  // of NoRoom: what the Purse said
	// Released is the job as it was, where the request ended an attempt that still had a reservation: what it used of that nobody has said.
	// Nil: none did.
	Released *Record

	audit bool // to be recorded as an event
}

// OK says whether the job is now as the request wants it.
func (d Decision) OK() bool { return d.Outcome == Applied || d.Outcome == Idempotent }

// Decide says what becomes of a request on a record, nil where there is none, by the clock of the store. It changes nothing and
// looks at nothing else: whether the item has another job and whether a token is new is known to Apply only.
func Decide(record *Record, request Request, now time.Time) Decision {
	if request == nil {
		return *invalid(UnknownRequest, "there is no request")
	}
	return decide(table(), record, request.ask(), now)
}

func decide(rows []row, record *Record, a ask, now time.Time) Decision {
	row, refusal := judge(rows, record, a, now)
	if refusal != nil {
		if record != nil {
			refusal.Record = *record
		}
		return *refusal
	}
	next := Record{ID: a.id, CreatedAt: now}
	if record != nil {
		next = *record
	}
	if row.to != "" {
		next.Status = row.to
	}
	if !row.quiet {
		next.Reason = clip(a.reason)
		next.TransitionSeq++
		next.UpdatedAt = now
	}
	if row.effect != nil {
		row.effect(&next, a)
	}
	decision := Decision{Outcome: Applied, audit: !row.quiet}
	if next.Status != Running && next.Reserved != nil {
		decision.Released, next.Reserved = record, nil
	}
	decision.Record = next
	return decision
}

// clip bounds a reason.
func clip(reason string) string {
	if len(reason) <= MaxReason {
		return reason
	}
	const end = "…"
	return strings.ToValidUTF8(reason[:MaxReason-len(end)], "") + end
}

// judge returns the row to apply, or why none is. Authority comes before status: who may not ask learns nothing of the job.
func judge(rows []row, record *Record, a ask, now time.Time) (*row, *Decision) {
	if a.id == "" {
		return nil, invalid(Incomplete, "the request names no job")
	}
	status := place(record)
	row, known := find(rows, a.name, status)
	switch {
	case known == nil:
		return nil, invalid(UnknownRequest, "there is no request %q", a.name)
	case row == nil && record == nil:
		return nil, refused(NoSuchJob, "there is no job %s", a.id)
	case row == nil && slices.Contains(known.from, none):
		return nil, conflict(JobExists, "job %s exists and is %s", a.id, record.Status)
	}
	if refusal := authorize(known, record, a, now); refusal != nil {
		refusal.audit = refusal.audit && known.signal
		return nil, refusal
	}
	if row == nil {
		return nil, misplaced(known, record.Status, a)
	}
	for _, check := range row.checks {
		if refusal := check(record, a, now); refusal != nil {
			return nil, refusal
		}
	}
	return row, nil
}

// find returns the row for a request and a status, and, also where there is none, a row of the request: all rows of a request
// have the same authorities.
func find(rows []row, request string, status Status) (match, known *row) {
	for i := range rows {
		if rows[i].request != request {
			continue
		}
		known = &rows[i]
		if slices.Contains(known.from, status) {
			return known, known
		}
	}
	return nil, known
}

func authorize(row *row, record *Record, a ask, now time.Time) *Decision {
	if a.by == nil {
		return refused(WrongAuthority, "%s of job %s: no authority given", a.name, a.id)
	}
	proves, ok := row.by[a.by.authority().role]
	if !ok {
		return refused(WrongAuthority, "%s of job %s is not for the %s", a.name, a.id, a.by.authority().role)
	}
	return proves(record, a, now)
}

// misplaced is the answer to a request that the job's status has no row for.
func misplaced(row *row, status Status, a ask) *Decision {
	if !row.signal || !status.Ended() {
		return conflict(WrongStatus, "%s of job %s: it is %s", a.name, a.id, status)
	}
	decision := conflict(AlreadyEnded, "%s of job %s: it has ended as %s", a.name, a.id, status)
	if status == row.to {
		decision.Outcome = Idempotent
	}
	decision.audit = true
	return decision
}

func refused(reason Reason, format string, args ...any) *Decision {
	return &Decision{Outcome: Refused, Reason: reason, Text: fmt.Sprintf(format, args...)}
}

func conflict(reason Reason, format string, args ...any) *Decision {
	return &Decision{Outcome: Conflict, Reason: reason, Text: fmt.Sprintf(format, args...)}
}

func invalid(reason Reason, format string, args ...any) *Decision {
	return &Decision{Outcome: Invalid, Reason: reason, Text: fmt.Sprintf(format, args...)}
}
