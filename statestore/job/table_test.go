package job

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aesop/cost"
	"aesop/tracker"
)

// expected is the contract, written down a second time: what each request, asked with each authority, does to a job in each
// status. "final" is a failed job that is final, "inferred" one of which nobody said that it is complete. A cell is ->STATUS where it is
// applied, = where it is idempotent, else the reason; with a ! where that is recorded.
const expected = `
                        none             pending            running            completed          failed             cancelled          timed_out          final              inferred
create                  ->pending        job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
create/busy             item_busy        job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
create/incomplete       incomplete       job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
create/control          bad_name         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
create/loop             ->pending        job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
create/array            bad_fields       job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
create/reserved         reserved_field   job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
create/type             bad_name         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists         job_exists
claim/token             no_such_job      ->running          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
claim/absent            no_such_job      bad_token          bad_token          bad_token          bad_token          bad_token          bad_token          bad_token          bad_token
claim/short             no_such_job      bad_token          bad_token          bad_token          bad_token          bad_token          bad_token          bad_token          bad_token
claim/spent             no_such_job      token_used         wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
claim/full              no_such_job      ceiling            wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
reserve/token           no_such_job      no_attempt         ->running          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
reserve/nothing         no_such_job      no_attempt         ->running          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
reserve/full            no_such_job      no_attempt         ceiling            wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
reserve/stale           no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
reserve/operator        no_such_job      wrong_status       ->running          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
reserve/staleoperator   no_such_job      stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition
reserve/engine          no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
reserve/gate            no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
reserve/notifier        no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
reserve/absent          no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
progress/token          no_such_job      no_attempt         ->running          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
progress/report         no_such_job      no_attempt         ->running          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
progress/reported       no_such_job      no_attempt         ->running          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
progress/relative       no_such_job      no_attempt         bad_report         wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
progress/stale          no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
progress/absent         no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
progress/reserved       no_such_job      no_attempt         reserved_field     wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
progress/array          no_such_job      no_attempt         bad_fields         wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
progress/large          no_such_job      no_attempt         fields_too_large   wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
complete/token          no_such_job      no_attempt         ->completed        =!                 already_ended!     already_ended!     already_ended!     already_ended!     ->completed
complete/stale          no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
complete/late           no_such_job      no_attempt!        stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!
complete/report         no_such_job      no_attempt         ->completed        =!                 already_ended!     already_ended!     already_ended!     already_ended!     ->completed
complete/relative       no_such_job      no_attempt         bad_report         =!                 already_ended!     already_ended!     already_ended!     already_ended!     bad_report
complete/undigested     no_such_job      no_attempt         bad_report         =!                 already_ended!     already_ended!     already_ended!     already_ended!     bad_report
complete/operator       no_such_job      wrong_status       ->completed        =!                 already_ended!     already_ended!     already_ended!     already_ended!     ->completed
complete/staleoperator  no_such_job      stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!
complete/engine         no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
complete/gate           no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
complete/notifier       no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
complete/absent         no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
fail/token              no_such_job      no_attempt         ->failed           already_ended!     =!                 already_ended!     already_ended!     =!                 ->failed
fail/stale              no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
fail/late               no_such_job      no_attempt!        stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!
fail/report             no_such_job      no_attempt         ->failed           already_ended!     =!                 already_ended!     already_ended!     =!                 ->failed
fail/relative           no_such_job      no_attempt         bad_report         already_ended!     =!                 already_ended!     already_ended!     =!                 bad_report
fail/undigested         no_such_job      no_attempt         bad_report         already_ended!     =!                 already_ended!     already_ended!     =!                 bad_report
fail/operator           no_such_job      wrong_status       ->failed           already_ended!     =!                 already_ended!     already_ended!     =!                 ->failed
fail/staleoperator      no_such_job      stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!
fail/engine             no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
fail/gate               no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
fail/notifier           no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
fail/absent             no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
cancel/token            no_such_job      no_attempt         ->cancelled        already_ended!     already_ended!     =!                 already_ended!     already_ended!     ->cancelled
cancel/stale            no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
cancel/late             no_such_job      no_attempt!        stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!
cancel/operator         no_such_job      ->cancelled        ->cancelled        already_ended!     already_ended!     =!                 already_ended!     already_ended!     ->cancelled
cancel/staleoperator    no_such_job      stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!  stale_transition!
cancel/engine           no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
cancel/gate             no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
cancel/notifier         no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
cancel/absent           no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
infer/gate              no_such_job      no_attempt         ->completed        =!                 already_ended!     already_ended!     already_ended!     already_ended!     =!
infer/report            no_such_job      no_attempt         ->completed        =!                 already_ended!     already_ended!     already_ended!     already_ended!     =!
infer/relative          no_such_job      no_attempt         bad_report         =!                 already_ended!     already_ended!     already_ended!     already_ended!     =!
infer/off               no_such_job      no_attempt         not_inferred       =!                 already_ended!     already_ended!     already_ended!     already_ended!     =!
infer/busy              no_such_job      no_attempt         not_inferred       =!                 already_ended!     already_ended!     already_ended!     already_ended!     =!
infer/optedout          no_such_job      no_attempt         not_inferred       =!                 already_ended!     already_ended!     already_ended!     already_ended!     =!
infer/blind             no_such_job      no_attempt         no_evidence        =!                 already_ended!     already_ended!     already_ended!     already_ended!     =!
infer/stale             no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
infer/late              no_such_job      no_attempt!        stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!     stale_attempt!
infer/absent            no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
timeout/engine          no_such_job      no_attempt         ->timed_out        wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
timeout/early           no_such_job      no_attempt         deadline_ahead     wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
timeout/endless         no_such_job      no_attempt         deadline_ahead     wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
timeout/stale           no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
timeout/absent          no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
requeue/operator        no_such_job      wrong_status       ->pending          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
requeue/staleoperator   no_such_job      stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition
requeue/engine          no_such_job      no_attempt         ->pending          wrong_status       wrong_status       wrong_status       wrong_status       wrong_status       wrong_status
requeue/stale           no_such_job      no_attempt         stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt      stale_attempt
requeue/worker          no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
requeue/gate            no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
requeue/notifier        no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
requeue/absent          no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
redispatch/operator     no_such_job      wrong_status       wrong_status       ->pending          ->pending          ->pending          ->pending          already_final      ->pending
redispatch/engine       no_such_job      wrong_status       wrong_status       ->pending          ->pending          ->pending          ->pending          already_final      ->pending
redispatch/stale        no_such_job      stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition
redispatch/staleengine  no_such_job      stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition
redispatch/replay       no_such_job      wrong_status       wrong_status       old_iteration      old_iteration      old_iteration      old_iteration      already_final      old_iteration
redispatch/exhausted    no_such_job      wrong_status       wrong_status       budget_used_up     budget_used_up     budget_used_up     budget_used_up     already_final      budget_used_up
redispatch/busy         no_such_job      wrong_status       wrong_status       item_busy          item_busy          item_busy          item_busy          already_final      item_busy
redispatch/worker       no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
redispatch/gate         no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
redispatch/notifier     no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
redispatch/absent       no_such_job      wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority    wrong_authority
finalize/operator       no_such_job      wrong_status       ->failed           ->completed        ->failed           ->cancelled        ->timed_out        =!                 ->completed
finalize/stale          no_such_job      stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition
finalize/absent         no_such_job      stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition   stale_transition
finalize/silent         no_such_job      wrong_status       no_reason          no_reason          no_reason          no_reason          no_reason          no_reason          no_reason
settle/notifier         no_such_job      ->pending          ->running          ->completed        ->failed           ->cancelled        ->timed_out        ->failed           ->completed
settle/newer            no_such_job      stale_intent       stale_intent       stale_intent       stale_intent       stale_intent       stale_intent       stale_intent       stale_intent
settle/settled          no_such_job      =                  =                  =                  =                  =                  =                  =                  =
settle/absent           no_such_job      stale_intent       stale_intent       stale_intent       stale_intent       stale_intent       stale_intent       stale_intent       stale_intent
nonsense                unknown_request  unknown_request    unknown_request    unknown_request    unknown_request    unknown_request    unknown_request    unknown_request    unknown_request
`

// outcomes of the reasons.
var outcomes = map[Reason]Outcome{
	UnknownRequest: Invalid, Incomplete: Invalid, BadName: Invalid, BadToken: Invalid, BadFields: Invalid, NoReason: Invalid,
	NoSuchJob: Refused, WrongAuthority: Refused, NoAttempt: Refused, StaleAttempt: Refused, TokenUsed: Refused,
	ReservedField: Refused, NoRoom: Refused, FieldsTooLarge: Refused, DeadlineAhead: Refused, OldIteration: Refused, AlreadyFinal: Refused,
	BudgetUsedUp: Refused, NotInferred: Refused, StaleIntent: Refused, NoEvidence: Invalid, BadReport: Invalid,
	JobExists: Conflict, StaleTransition: Conflict, WrongStatus: Conflict, AlreadyEnded: Conflict, ItemBusy: Conflict,
}

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now   = start.Add(time.Hour)
)

func token(n byte) string {
	token, err := tracker.NewToken(strings.NewReader(strings.Repeat(string(rune('a'+n)), 32)))
	if err != nil {
		panic(err)
	}
	return token
}

// cases are the requests of the matrix, for a job of the attempt of token(0) at transition 7 in iteration 2.
func cases() map[string]ask {
	const id = "j"
	attempt := tracker.AttemptID(token(0))
	operator, staleOperator := Operator{TransitionSeq: 7}, Operator{TransitionSeq: 6}
	create := Create{ID: id, Item: "i", Wave: "w", Seat: "worker", MinEpoch: 3}
	control := create
	control.Item = "i\x00"
	fields := json.RawMessage(`{"b":2,"c":{"d":[]}}`)
	large := json.RawMessage(`{"x":"` + strings.Repeat("x", maxFields-10) + `"}`)
	deadline := now.Add(time.Minute)
	asks := map[string]ask{
		"create":            create.ask(),
		"create/busy":       create.ask(),
		"create/incomplete": Create{ID: id, Item: "i", Wave: "w"}.ask(),
		"create/control":    control.ask(),
		"claim/token":       Claim{ID: id, Token: token(1), Deadline: deadline}.ask(),
		"claim/absent":      Claim{ID: id}.ask(),
		"claim/short":       Claim{ID: id, Token: token(1)[2:]}.ask(),
		"claim/spent":       Claim{ID: id, Token: token(1)}.ask(),
		"claim/full":        Claim{ID: id, Token: token(1)}.ask(),
		"progress/token":    Progress{ID: id, By: Worker{token(0)}, Fields: fields}.ask(),
		"progress/stale":    Progress{ID: id, By: Worker{token(1)}, Fields: fields}.ask(),
		"progress/absent":   Progress{ID: id, Fields: fields}.ask(),
		"progress/reserved": Progress{ID: id, By: Worker{token(0)}, Fields: json.RawMessage(`{"Transition_Seq":1}`)}.ask(),
		"progress/array":    Progress{ID: id, By: Worker{token(0)}, Fields: json.RawMessage(`[]`)}.ask(),
		"progress/large":    Progress{ID: id, By: Worker{token(0)}, Fields: large}.ask(),
		"progress/report":   Progress{ID: id, By: Worker{token(0)}, Fields: fields, Report: newReport()}.ask(),
		"progress/reported": Progress{ID: id, By: Worker{token(0)}, Report: newReport()}.ask(),
		"progress/relative": Progress{ID: id, By: Worker{token(0)}, Report: &Report{Path: "report", SHA256: newReport().SHA256}}.ask(),
		"timeout/engine":    Timeout{ID: id, By: Engine{Attempt: attempt}}.ask(),
		"timeout/early":     Timeout{ID: id, By: Engine{Attempt: attempt}}.ask(),
		"timeout/endless":   Timeout{ID: id, By: Engine{Attempt: attempt}}.ask(),
		"timeout/stale":     Timeout{ID: id, By: Engine{Attempt: tracker.AttemptID(token(1)), TransitionSeq: 7}}.ask(),
		"timeout/absent":    Timeout{ID: id, By: Engine{TransitionSeq: 7}}.ask(),

		"requeue/operator":      Requeue{ID: id, By: operator, Reason: "r"}.ask(),
		"requeue/staleoperator": Requeue{ID: id, By: staleOperator, Reason: "r"}.ask(),
		"requeue/engine":        Requeue{ID: id, By: Engine{Attempt: attempt}}.ask(),
		"requeue/stale":         Requeue{ID: id, By: Engine{Attempt: "0", TransitionSeq: 7}}.ask(),
		"requeue/worker":        Requeue{ID: id, By: Worker{token(0)}}.ask(),
		"requeue/absent":        Requeue{ID: id}.ask(),

		"redispatch/operator":    Redispatch{ID: id, By: operator, Iteration: 3, Reason: "r"}.ask(),
		"redispatch/engine":      Redispatch{ID: id, By: Engine{TransitionSeq: 7}, Iteration: 5}.ask(),
		"redispatch/stale":       Redispatch{ID: id, By: staleOperator, Iteration: 3}.ask(),
		"redispatch/staleengine": Redispatch{ID: id, By: Engine{Attempt: attempt}, Iteration: 3}.ask(),
		"redispatch/replay":      Redispatch{ID: id, By: operator, Iteration: 2}.ask(),
		"redispatch/busy":        Redispatch{ID: id, By: operator, Iteration: 3}.ask(),
		"redispatch/worker":      Redispatch{ID: id, By: Worker{token(0)}, Iteration: 3}.ask(),
		"redispatch/absent":      Redispatch{ID: id, Iteration: 3}.ask(),

		"finalize/operator": Finalize{ID: id, By: operator, Reason: "r"}.ask(),
		"finalize/stale":    Finalize{ID: id, By: staleOperator, Reason: "r"}.ask(),
		"finalize/absent":   Finalize{ID: id, Reason: "r"}.ask(),
		"finalize/silent":   Finalize{ID: id, By: operator, Reason: " "}.ask(),

		"reserve/token":         Reserve{ID: id, By: Worker{token(0)}}.ask(),
		"reserve/nothing":       Reserve{ID: id, By: Worker{token(0)}}.ask(),
		"reserve/full":          Reserve{ID: id, By: Worker{token(0)}}.ask(),
		"reserve/stale":         Reserve{ID: id, By: Worker{token(1)}}.ask(),
		"reserve/operator":      Reserve{ID: id, By: operator}.ask(),
		"reserve/staleoperator": Reserve{ID: id, By: staleOperator}.ask(),
		"reserve/engine":        Reserve{ID: id, By: Engine{Attempt: attempt, TransitionSeq: 7}}.ask(),
		"reserve/absent":        Reserve{ID: id}.ask(),

		"create/loop":     Create{ID: id, Item: "i", Wave: "w", Seat: "worker", Type: "loop", MaxIterations: 3, AutoComplete: true, Fields: fields}.ask(),
		"create/array":    Create{ID: id, Item: "i", Wave: "w", Seat: "worker", Fields: json.RawMessage(`[]`)}.ask(),
		"create/reserved": Create{ID: id, Item: "i", Wave: "w", Seat: "worker", Fields: json.RawMessage(`{"status":"completed"}`)}.ask(),
		"create/type":     Create{ID: id, Item: "i", Wave: "w", Seat: "worker", Type: "a\nb"}.ask(),

		"redispatch/exhausted": Redispatch{ID: id, By: operator, Iteration: 4, Reason: "r"}.ask(),

		"settle/notifier": Settle{ID: id, By: Notifier{Intent: oldIntent}}.ask(),
		"settle/newer":    Settle{ID: id, By: Notifier{Intent: "older"}}.ask(),
		"settle/settled":  Settle{ID: id, By: Notifier{Intent: oldIntent}}.ask(),
		"settle/absent":   Settle{ID: id}.ask(),

		"complete/report":     Complete{ID: id, By: Worker{token(0)}, Reason: "r", Report: newReport()}.ask(),
		"complete/relative":   Complete{ID: id, By: Worker{token(0)}, Report: &Report{Path: "report", SHA256: newReport().SHA256}}.ask(),
		"complete/undigested": Complete{ID: id, By: Worker{token(0)}, Report: &Report{Path: newReport().Path, SHA256: "ab"}}.ask(),
		"fail/report":         Fail{ID: id, By: Worker{token(0)}, Reason: "r", Report: newReport()}.ask(),
		"fail/relative":       Fail{ID: id, By: Worker{token(0)}, Report: &Report{Path: "report", SHA256: newReport().SHA256}}.ask(),
		"fail/undigested":     Fail{ID: id, By: Worker{token(0)}, Report: &Report{Path: newReport().Path, SHA256: "ab"}}.ask(),

		"nonsense": {name: "nonsense", id: id, by: operator},
	}
	for role, by := range map[string]Authority{
		"gate":     Gate{Attempt: attempt, Enabled: true, Quiescent: true, Evidence: "new"},
		"notifier": Notifier{Intent: oldIntent},
	} {
		asks["reserve/"+role] = Reserve{ID: id, By: by}.ask()
		asks["requeue/"+role] = Requeue{ID: id, By: by, Reason: "r"}.ask()
		asks["redispatch/"+role] = Redispatch{ID: id, By: by, Iteration: 3}.ask()
		asks["complete/"+role] = Complete{ID: id, By: by}.ask()
		asks["fail/"+role] = Fail{ID: id, By: by}.ask()
		asks["cancel/"+role] = Cancel{ID: id, By: by}.ask()
	}
	for name, by := range map[string]Gate{
		"gate":     {Attempt: attempt, Enabled: true, Quiescent: true, Evidence: "new"},
		"report":   {Attempt: attempt, Enabled: true, Quiescent: true, Evidence: "new"},
		"relative": {Attempt: attempt, Enabled: true, Quiescent: true, Evidence: "new"},
		"optedout": {Attempt: attempt, Enabled: true, Quiescent: true, Evidence: "new"},
		"off":      {Attempt: attempt, Quiescent: true, Evidence: "new"},
		"busy":     {Attempt: attempt, Enabled: true, Evidence: "new"},
		"blind":    {Attempt: attempt, Enabled: true, Quiescent: true},
		"stale":    {Attempt: tracker.AttemptID(token(1)), Enabled: true, Quiescent: true, Evidence: "new"},
		"late":     {Attempt: tracker.AttemptID(token(1)), Enabled: true, Quiescent: true, Evidence: "new"},
		"absent":   {},
	} {
		request := Infer{ID: id, By: by, Reason: "r"}
		switch name {
		case "report":
			request.Report = newReport()
		case "relative":
			request.Report = &Report{Path: "report", SHA256: newReport().SHA256}
		}
		asks["infer/"+name] = request.ask()
	}
	for name, end := range map[string]func(by Authority) Request{
		"complete": func(by Authority) Request { return Complete{ID: id, By: by, Reason: "r"} },
		"fail":     func(by Authority) Request { return Fail{ID: id, By: by, Reason: "r"} },
		"cancel":   func(by Authority) Request { return Cancel{ID: id, By: by, Reason: "r"} },
	} {
		asks[name+"/token"] = end(Worker{token(0)}).ask()
		asks[name+"/stale"] = end(Worker{token(1)}).ask()
		asks[name+"/late"] = end(Worker{token(1)}).ask()
		asks[name+"/operator"] = end(operator).ask()
		asks[name+"/staleoperator"] = end(staleOperator).ask()
		asks[name+"/engine"] = end(Engine{Attempt: attempt, TransitionSeq: 7}).ask()
		asks[name+"/absent"] = end(nil).ask()
	}
	for name, a := range asks {
		a.epoch = 4
		switch {
		case name == "create/busy", name == "redispatch/busy":
			a.live = "other"
		case strings.HasSuffix(name, "/spent"):
			a.spent = true
		case strings.HasSuffix(name, "/late"):
			a.late = true
		case strings.HasSuffix(name, "/full"):
			a.ceiling = &cost.Refusal{}
		case name == "claim/token", name == "reserve/token", name == "reserve/operator":
			a.granted = newReserve()
		}
		asks[name] = a
	}
	return asks
}

const oldIntent = "intent"

func newReport() *Report {
	return &Report{Path: filepath.Join(filepath.VolumeName(os.TempDir())+string(filepath.Separator), "report"), SHA256: strings.Repeat("0a", 32)}
}

func oldReserve() *Reservation { return &Reservation{Model: "m", Amount: cost.Amount{Tokens: 100}} }
func newReserve() *Reservation { return &Reservation{Model: "m", Amount: cost.Amount{Money: 7}} }

// job is the record in the column of a status, or nil.
func jobIn(column, name string) *Record {
	if column == "none" {
		return nil
	}
	r := &Record{
		ID: "j", Item: "i", Wave: "w", Seat: "worker", Status: Status(column), Reason: "old", Iteration: 2, Epoch: 4, TransitionSeq: 7,
		Progress: json.RawMessage(`{"a":1,"b":1}`), CreatedAt: start, UpdatedAt: start, MaxIterations: 5, AutoComplete: true, Intent: oldIntent,
		Report: &Report{Path: "old"},
	}
	switch column {
	case "final":
		r.Status, r.Final = Failed, true
	case "inferred":
		r.Status, r.Evidence = Completed, "old"
	}
	if r.Status != Pending {
		r.Attempt, r.Deadline = tracker.AttemptID(token(0)), now
	}
	if r.Status == Running {
		r.Reserved = oldReserve()
	}
	switch name {
	case "timeout/early":
		r.Deadline = now.Add(time.Nanosecond)
	case "timeout/endless":
		r.Deadline = time.Time{}
	case "redispatch/exhausted":
		r.MaxIterations = 3
	case "infer/optedout":
		r.AutoComplete = false
	case "settle/settled":
		r.Intent = ""
	}
	r.Explicit = r.Status.Ended() && r.Status != TimedOut && column != "inferred"
	return r
}

// applied is what a request makes of a record, written down a second time.
func applied(name string, before *Record, to Status) Record {
	request, _, _ := strings.Cut(name, "/")
	if request == "create" {
		r := Record{ID: "j", Item: "i", Wave: "w", Seat: "worker", Status: Pending, Iteration: 1, Epoch: 5, TransitionSeq: 1,
			CreatedAt: now, UpdatedAt: now}
		if name == "create/loop" {
			r.Type, r.MaxIterations, r.AutoComplete, r.Progress = "loop", 3, true, json.RawMessage(`{"b":2,"c":{"d":[]}}`)
		}
		return r
	}
	if request == "settle" {
		r := *before
		r.Intent = ""
		return r
	}
	r := *before
	r.Status, r.TransitionSeq, r.UpdatedAt, r.Reason = to, 8, now, "r"
	if to != Running {
		r.Reserved = nil
	}
	switch request {
	case "claim":
		r.Attempt, r.Deadline, r.Reason, r.Reserved = tracker.AttemptID(token(1)), now.Add(time.Minute), "", newReserve()
	case "reserve":
		r.Reason, r.Reserved = "", newReserve()
		if name == "reserve/nothing" {
			r.Reserved = nil
		}
	case "progress":
		r.Reason = ""
		if name != "progress/reported" {
			r.Progress = json.RawMessage(`{"a":1,"b":2,"c":{"d":[]}}`)
		}
		if name != "progress/token" {
			r.Report = newReport()
		}
	case "timeout":
		r.Reason = ""
	case "complete", "fail", "cancel":
		r.Explicit = true
		if strings.HasSuffix(name, "/report") {
			r.Report = newReport()
		}
	case "infer":
		r.Evidence = "new"
		if name == "infer/report" {
			r.Report = newReport()
		}
	case "requeue", "redispatch":
		r.Attempt, r.Deadline, r.Report = "", time.Time{}, nil
		switch name {
		case "requeue/engine":
			r.Reason = ""
		case "redispatch/engine":
			r.Reason, r.Iteration, r.Explicit, r.Evidence = "", 5, false, ""
		case "redispatch/operator":
			r.Iteration, r.Explicit, r.Evidence = 3, false, ""
		}
	case "finalize":
		r.Final = true
		r.Explicit = r.Explicit || before.Status == Running
	}
	return r
}

// compare runs all cells on a table and yields what is not as expected.
func compare(rows []row, asks map[string]ask) iter.Seq[string] {
	return func(yield func(string) bool) {
		lines := strings.Split(strings.TrimSpace(expected), "\n")
		columns := strings.Fields(lines[0])
		for _, line := range lines[1:] {
			cells := strings.Fields(line)
			name := cells[0]
			for i, cell := range cells[1:] {
				before := jobIn(columns[i], name)
				d := decide(rows, before, asks[name], now)
				problem := compareCell(name, cell, before, d)
				if problem != "" && !yield(fmt.Sprintf("%s on %s: %s", name, columns[i], problem)) {
					return
				}
			}
		}
	}
}

func compareCell(name, cell string, before *Record, d Decision) string {
	cell, audit := strings.CutSuffix(cell, "!")
	if to, ok := strings.CutPrefix(cell, "->"); ok {
		if d.Outcome != Applied || d.Reason != "" || d.audit == strings.HasPrefix(name, "settle") {
			return fmt.Sprintf("%s %s (recorded: %t), want it applied", d.Outcome, d.Reason, d.audit)
		}
		if left := before != nil && before.Reserved != nil && d.Record.Status != Running; left != (d.Released != nil) || left && !reflect.DeepEqual(d.Released, before) {
			return fmt.Sprintf("it releases %v", d.Released)
		}
		return diff(applied(name, before, Status(to)), d.Record)
	}
	want, reason := outcomes[Reason(cell)], Reason(cell)
	if cell == "=" {
		want, reason = Idempotent, AlreadyEnded
		switch request, _, _ := strings.Cut(name, "/"); request {
		case "finalize":
			reason = AlreadyFinal
		case "settle":
			reason = AlreadySettled
		}
	}
	if (d.Ceiling != nil) != (reason == NoRoom) {
		return fmt.Sprintf("its ceiling is %v", d.Ceiling)
	}
	if d.Outcome != want || d.Reason != reason || d.audit != audit || d.Text == "" {
		return fmt.Sprintf("%s %s (recorded: %t) %q, want %s %s (recorded: %t)", d.Outcome, d.Reason, d.audit, d.Text, want, reason, audit)
	}
	var unchanged Record
	if before != nil {
		unchanged = *before
	}
	return diff(unchanged, d.Record)
}

// diff is cmp.Diff, but quick where there is none.
func diff(want, got Record) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func TestTable(t *testing.T) {
	for problem := range compare(table(), cases()) {
		t.Error(problem)
	}
	if lines := strings.Count(strings.TrimSpace(expected), "\n"); lines != len(cases()) {
		t.Errorf("%d lines are expected and %d cases made", lines, len(cases()))
	}
}

// same are the changes that change nothing.
var same = []string{
	`create: flip signal`,               // an id that is taken is refused before
	`settle: flip signal`,               // it has a row for all ends
	`progress: make it go to "running"`, // where it comes from
	`reserve: make it go to "running"`,  // likewise
	`progress: add from "pending"`,      // which has no attempt
	`timeout: add from "pending"`,       //
	`infer: add from "pending"`,         //
}

// TestTableMutations changes one thing of one row at a time and demands that TestTable would notice.
func TestTableMutations(t *testing.T) {
	asks := cases()
	mutate := func(i int, name string, change func(r *row)) {
		rows := table()
		rows[i].by = maps.Clone(rows[i].by) // rows share them
		name = rows[i].request + ": " + name
		change(&rows[i])
		noticed := false
		for range compare(rows, asks) {
			noticed = true
			break
		}
		if noticed == slices.Contains(same, name) {
			t.Errorf("row %d, %s: noticed is %t", i, name, noticed)
		}
	}
	statuses := []Status{none, Pending, Running, Completed, Failed, Cancelled, TimedOut, inferred}
	for i, r := range table() {
		mutate(i, "drop it", func(r *row) { r.request = "dropped" })
		mutate(i, "flip signal", func(r *row) { r.signal = !r.signal })
		mutate(i, "flip quiet", func(r *row) { r.quiet = !r.quiet })
		for _, to := range append(statuses, "other") {
			if to != r.to {
				mutate(i, fmt.Sprintf("make it go to %q", to), func(r *row) { r.to = to })
			}
		}
		for _, s := range statuses {
			if j := slices.Index(r.from, s); j >= 0 {
				mutate(i, fmt.Sprintf("drop from %q", s), func(r *row) { r.from = slices.Delete(slices.Clone(r.from), j, j+1) })
			} else if s != none && !(r.request == "finalize" && s != Pending) {
				mutate(i, fmt.Sprintf("add from %q", s), func(r *row) { r.from = append(slices.Clone(r.from), s) })
			}
		}
		for who := range r.by {
			mutate(i, "keep out the "+string(who), func(r *row) { delete(r.by, who) })
			if r.request != "create" {
				mutate(i, "believe the "+string(who), func(r *row) { r.by[who] = unproven })
			}
		}
		for _, who := range []role{worker, operator, engine, gate, notifier} {
			if r.by[who] == nil && r.request != "create" && r.request != "claim" && r.request != "progress" &&
				r.request != "timeout" && r.request != "finalize" && r.request != "infer" && r.request != "settle" { // of which the authority is a type
				mutate(i, "let in the "+string(who), func(r *row) { r.by[who] = unproven })
			}
		}
		for j := range r.checks {
			mutate(i, fmt.Sprintf("drop check %d", j), func(r *row) { r.checks = slices.Delete(slices.Clone(r.checks), j, j+1) })
			mutate(i, fmt.Sprintf("let check %d refuse all", j), func(r *row) {
				r.checks = slices.Clone(r.checks)
				r.checks[j] = func(*Record, ask, time.Time) *Decision { return refused("other", "no") }
			})
		}
		if r.effect != nil {
			mutate(i, "drop the effect", func(r *row) { r.effect = nil })
		}
	}
}

func TestReservedNamesCoverTheRecord(t *testing.T) {
	data, err := json.Marshal(jobIn("final", ""))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	if len(fields) < 15 {
		t.Fatalf("the record shows %d fields only", len(fields))
	}
	for name := range fields {
		for _, form := range []string{name, strings.ToUpper(name), "_" + name} {
			if !reserved(form) {
				t.Errorf("%s is not reserved", form)
			}
		}
	}
	if !reserved("token") || reserved("note") {
		t.Error("token must be reserved and note must not")
	}
}

func TestDecideOfNothing(t *testing.T) {
	if d := Decide(nil, nil, now); d.Outcome != Invalid || d.Reason != UnknownRequest {
		t.Errorf("no request: %+v", d)
	}
	if d := Decide(nil, Create{Item: "i", Wave: "w", Seat: "s"}, now); d.Outcome != Invalid || d.Reason != Incomplete {
		t.Errorf("no id: %+v", d)
	}
	d := Decide(nil, Create{ID: "j", Item: "i", Wave: "w", Seat: "s"}, now)
	if d.Outcome != Applied || d.Record.Epoch != 1 || !d.OK() {
		t.Errorf("a first job: %+v", d)
	}
}
