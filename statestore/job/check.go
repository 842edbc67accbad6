package job

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"aesop/tracker"
)

// maxFields bounds what a job carries as progress, in bytes of JSON: the files that it comes from are an agent's.
const maxFields = 64 << 10

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
		return refused(NoAttempt, "%s of job %s: it has no attempt", a.name, a.id)
	case attempt:
		return nil
	}
	return refused(StaleAttempt, "%s of job %s: its attempt is %s and not that of the request", a.name, a.id, r.Attempt)
}

func sawTransition(r *Record, a ask, _ time.Time) *Decision {
	if seen := a.by.authority().seq; seen != r.TransitionSeq {
		return conflict(StaleTransition, "%s of job %s: expected transition %d, is %d", a.name, a.id, seen, r.TransitionSeq)
	}
	return nil
}

// What else must hold.

func named(_ *Record, a ask, _ time.Time) *Decision {
	for _, name := range []string{a.id, a.create.Item, a.create.Wave, a.create.Seat} {
		if name == "" {
			return invalid(Incomplete, "create of job %s: item, wave and seat are required", a.id)
		}
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return invalid(BadName, "create of job %q: the name %q has characters that cannot be kept", a.id, name)
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
	var members map[string]json.RawMessage
	if err := json.Unmarshal(a.fields, &members); err != nil || members == nil {
		return invalid(BadFields, "progress of job %s: the fields are not a JSON object", a.id)
	}
	for name := range members {
		if reserved(name) {
			return refused(ReservedField, "progress of job %s: the field %q is not for progress", a.id, name)
		}
	}
	if size := len(merge(r.Progress, a.fields)); size > maxFields {
		return refused(FieldsTooLarge, "progress of job %s: it would be %d bytes, and %d are kept", a.id, size, maxFields)
	}
	return nil
}

// reserved says whether a name could be taken for one of the record's own, however it is written, or for the token.
func reserved(name string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	return slices.Contains([]string{
		"id", "item", "wave", "seat", "status", "reason", "attempt", "iteration", "epoch", "transitionseq", "deadline", "final",
		"explicit", "reserved", "progress", "createdat", "updatedat", "token",
	}, plain)
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
