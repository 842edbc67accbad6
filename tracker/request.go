package tracker

import (
	"slices"
	"time"
)

// Request is what can be asked of an item.
type Request string

// The requests. ClaimItem wants a free item, Reclaim the attempt id of its claim; Renew to Release are the holder's, by the
// token. Reopen and Finalize are an operator's, on an item without a live claim; Block is a holder's and an operator's.
const (
	ClaimItem Request = "claim"
	Reclaim   Request = "reclaim"
	Renew     Request = "renew"
	Complete  Request = "complete"
	Fail      Request = "fail"
	Block     Request = "block"
	Release   Request = "release"
	Reopen    Request = "reopen"
	Finalize  Request = "finalize"
)

// Authority is the standing of who asks. It is never a name: AuthorityOf compares attempt ids.
type Authority string

// The authorities.
const (
	ByHolder   Authority = "holder"   // has the token of the item's claim, or for Reclaim its attempt id
	ByStranger Authority = "stranger" // has nothing that the item's claim knows
	ByOperator Authority = "operator" // can open the backlog and speaks for no claim
)

// AuthorityOf says how the bearer of an attempt id stands to the item.
func AuthorityOf(item Item, attempt string) Authority {
	if attempt != "" && item.Claim != nil && item.Claim.Attempt == attempt {
		return ByHolder
	}
	return ByStranger
}

// Decision is the answer to a request.
type Decision struct {
	Allowed bool
	To      Status         // of the item afterwards, for an allowed request; Finalize goes where its order says
	Stands  bool           // the item keeps its status, and the reason of it
	Refusal ConflictReason // of a refused request: held or not_claimable; a holder's request by another is lost
}

// rule is one row of the table. What no row allows is refused.
type rule struct {
	request Request
	by      Authority
	from    []Status
	claim   claimNeed
	to      Status // "": unchanged
}

// claimNeed is what a rule asks of the item's claim.
type claimNeed int

const (
	noLiveClaim claimNeed = iota // none, or a lapsed one
	lapsedClaim
	anyClaim // the holder's own, live or lapsed
)

// unknownStatus stands in the table for every status that is not known.
const unknownStatus Status = "?"

// rules is the table. A person's done, failed or blocked on an item that is claimed stands: the holder can only let go of the
// claim, except that Complete wins, since what the remote holds outranks what anybody wrote. Renew is then refused, by which
// the holder learns of it.
func rules() []rule {
	var (
		open    = []Status{Todo, InProgress, unknownStatus}
		settled = []Status{Done, Failed, Blocked}
		every   = slices.Concat(open, settled)
	)
	return []rule{
		{ClaimItem, ByStranger, []Status{Todo}, noLiveClaim, InProgress},
		{ClaimItem, ByStranger, []Status{InProgress}, lapsedClaim, InProgress}, // without a claim it is a person's
		{Reclaim, ByHolder, []Status{Todo, InProgress}, anyClaim, InProgress},
		{Renew, ByHolder, open, anyClaim, ""},
		{Complete, ByHolder, every, anyClaim, Done},
		{Fail, ByHolder, open, anyClaim, Failed},
		{Fail, ByHolder, settled, anyClaim, ""},
		{Block, ByHolder, open, anyClaim, Blocked},
		{Block, ByHolder, settled, anyClaim, ""},
		{Release, ByHolder, open, anyClaim, Todo},
		{Release, ByHolder, settled, anyClaim, ""},
		{Reopen, ByOperator, []Status{Todo, Failed, Blocked, Done}, noLiveClaim, Todo}, // of todo: forgets the attempts
		{Block, ByOperator, []Status{Todo, InProgress, Failed, Blocked}, noLiveClaim, Blocked},
		{Finalize, ByOperator, every, noLiveClaim, ""},
	}
}

// Decide says whether a request may be carried out on the item at the moment now. It is pure and looks at nothing but status
// and claim; fingerprints, defects and the fields that a request brings are its caller's to check.
func Decide(item Item, request Request, by Authority, now time.Time) Decision {
	status := item.Status
	if !status.known() {
		status = unknownStatus
	}
	for _, r := range rules() {
		if r.request != request || r.by != by || !slices.Contains(r.from, status) || !r.claim.met(item.Claim, now) {
			continue
		}
		if r.to == "" {
			return Decision{Allowed: true, To: item.Status, Stands: true}
		}
		return Decision{Allowed: true, To: r.to}
	}
	if item.Claim.Live(now) {
		return Decision{Refusal: ConflictHeld}
	}
	return Decision{Refusal: ConflictNotClaimable}
}

func (n claimNeed) met(claim *ClaimState, now time.Time) bool {
	switch n {
	case noLiveClaim:
		return !claim.Live(now)
	case lapsedClaim:
		return claim != nil && !claim.Live(now)
	}
	return claim != nil
}
