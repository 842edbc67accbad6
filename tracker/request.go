package tracker

// Request is what can be asked of an item.
type Request string

// The requests. The first seven need the holder's token or a free item, the last three an operator and no live claim (Block
// is both).
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
