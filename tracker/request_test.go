package tracker

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestDecideEveryTriple states the answer for every status, request, authority and state of the claim. A line is what is
// allowed from one status; everything that is not on it must be refused.
func TestDecideEveryTriple(t *testing.T) {
	const (
		holderOpen    = "reclaim:in_progress renew:= complete:done fail:failed block:blocked release:todo"
		holderSettled = "complete:done fail:= block:= release:="
	)
	allowed := map[string]string{
		"todo stranger none":   "claim:in_progress",
		"todo stranger lapsed": "claim:in_progress",
		"todo holder lapsed":   holderOpen,
		"todo holder live":     holderOpen,
		"todo operator none":   "reopen:todo block:blocked finalize:=",
		"todo operator lapsed": "reopen:todo block:blocked finalize:=",

		"in_progress stranger lapsed": "claim:in_progress",
		"in_progress holder lapsed":   holderOpen,
		"in_progress holder live":     holderOpen,
		"in_progress operator none":   "block:blocked finalize:=",
		"in_progress operator lapsed": "block:blocked finalize:=",

		"done holder lapsed":   holderSettled,
		"done holder live":     holderSettled,
		"done operator none":   "reopen:todo finalize:=",
		"done operator lapsed": "reopen:todo finalize:=",

		"failed holder lapsed":   holderSettled,
		"failed holder live":     holderSettled,
		"failed operator none":   "reopen:todo block:blocked finalize:=",
		"failed operator lapsed": "reopen:todo block:blocked finalize:=",

		"blocked holder lapsed":   holderSettled,
		"blocked holder live":     holderSettled,
		"blocked operator none":   "reopen:todo block:blocked finalize:=",
		"blocked operator lapsed": "reopen:todo block:blocked finalize:=",

		"wip holder lapsed":   strings.Replace(holderOpen, "reclaim:in_progress ", "", 1),
		"wip holder live":     strings.Replace(holderOpen, "reclaim:in_progress ", "", 1),
		"wip operator none":   "finalize:=",
		"wip operator lapsed": "finalize:=",
	}
	claims := map[string]*ClaimState{
		"none": nil, "lapsed": {Attempt: "a", LeaseUntil: lapse}, "live": {Attempt: "a", LeaseUntil: lapse.Add(time.Second)},
	}
	requests := []Request{ClaimItem, Reclaim, Renew, Complete, Fail, Block, Release, Reopen, Finalize, "", "shipped"}
	seen := 0
	for _, status := range []Status{Todo, InProgress, Done, Failed, Blocked, "wip"} {
		for _, by := range []Authority{ByStranger, ByHolder, ByOperator, ""} {
			for state, claim := range claims {
				key := fmt.Sprintf("%s %s %s", status, by, state)
				line := allowed[key]
				for _, request := range requests {
					got := Decide(Item{Status: status, Claim: claim}, request, by, lapse)
					want := expected(line, request, status, state)
					if got != want {
						t.Errorf("%s %s: %+v, want %+v", key, request, got, want)
					}
					if got.Allowed {
						seen++
					}
				}
			}
		}
	}
	total := 0
	for _, line := range allowed {
		total += len(strings.Fields(line))
	}
	if seen != total {
		t.Errorf("%d requests were allowed, the table names %d", seen, total)
	}
}

func expected(line string, request Request, status Status, claim string) Decision {
	for _, entry := range strings.Fields(line) {
		name, to, _ := strings.Cut(entry, ":")
		if Request(name) != request {
			continue
		}
		if to == "=" {
			return Decision{Allowed: true, To: status, Stands: true}
		}
		return Decision{Allowed: true, To: Status(to)}
	}
	if claim == "live" {
		return Decision{Refusal: ConflictHeld}
	}
	return Decision{Refusal: ConflictNotClaimable}
}

func TestAuthorityOf(t *testing.T) {
	held := Item{Claim: &ClaimState{Attempt: AttemptID("token"), Owner: "ann"}}
	for _, tt := range []struct {
		item    Item
		attempt string
		want    Authority
	}{
		{held, AttemptID("token"), ByHolder}, {held, "token", ByStranger}, {held, "ann", ByStranger}, {held, "", ByStranger},
		{Item{}, AttemptID("token"), ByStranger}, {Item{Claim: &ClaimState{}}, "", ByStranger},
	} {
		if got := AuthorityOf(tt.item, tt.attempt); got != tt.want {
			t.Errorf("%q on %+v is %s", tt.attempt, tt.item.Claim, got)
		}
	}
}

// TestAPersonsWordStands: who marks a claimed item by hand is not overruled by the holder's failure, but by a shipment.
func TestAPersonsWordStands(t *testing.T) {
	item := Item{Status: Blocked, StatusReason: "wait", Claim: &ClaimState{Attempt: AttemptID("t"), LeaseUntil: lapse}}
	got, held := item.settled(Settlement{Token: "t", Request: Fail, Reason: "red"}, lapse)
	if !held || got.Status != Blocked || got.StatusReason != "wait" || got.Claim != nil || got.Attempts != 1 {
		t.Errorf("failed as %+v", got)
	}
	got, held = item.settled(Settlement{Token: "t", Request: Complete, Shipped: &Shipped{Commit: "c"}}, lapse)
	if !held || got.Status != Done || got.StatusReason != "" || got.Claim != nil || got.Shipped == nil {
		t.Errorf("completed as %+v", got)
	}
}
