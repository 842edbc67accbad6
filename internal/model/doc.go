// Package model is an executable description of how waves take items and ship them, small enough that every state of it can be
// visited. It is not used by the engine; its test checks the protocol that the engine is to carry out.
//
// # The protocol
//
// A fact has one owner. The remote owns what is shipped: each item has a ref there, refs/aesop/items/ID. The tracker owns what
// people want: an item's status, who has claimed it, and its recorded shipment, the commit with which it was last done. The store
// owns jobs and the journals of waves. The kernel owns who is alive: a wave's process holds the wave's lock, and whoever gets the
// lock of a wave knows its process to be dead. Between two owners there is no transaction, so each step below writes to one of
// them, and a crash can come between any two steps.
//
//	plan              store    which items the wave wants
//	claim job         store    one live job per item; a second one is refused
//	claim in tracker  tracker  compare and swap under a fresh token, all items or none; a refusal cancels the job
//	read item ref     remote
//	adopt             store    a ref that is not at the recorded shipment: the item has shipped, and leaves the wave
//	build             store    agent, commit, tests; the verified commit is in the journal and never made again
//	push intent       store    what the push is going to move
//	push              remote   branch and item refs in one atomic push, each only from the value that was seen
//	ask remote        remote   read the item refs, since an answer to a push can be lost or come late
//	terminals         store    own commit seen: shipped; another than the recorded: adopt; neither: push again
//	settle            tracker  done with the commit, by the token of the claim
//	report                     let go of the lock
//
// A lease runs out by time alone. Its holder may be dead, or only paused, and then goes on as if nothing had happened: a third
// party can always have claimed, built and shipped what it works on. Leases therefore keep two waves from doing the same work
// most of the time, and nothing depends on them. What keeps a second shipment out is the remote, which moves an item ref only
// from the recorded shipment, together with the rule of adoption, by which a loser takes what it finds instead of pushing over it.
//
// A wave that crashed is resumed under its lock. It takes back what the tracker still shows as its own, under new tokens, and
// walks through the steps again; the journal has its commit and its intent, and the remote says what became of its push. A claim
// that has gone to another wave is not taken back once a push may have begun: that work may have been adopted, settled, and
// reopened by a person since. For the same reason the recorded shipment is the one in the row that was claimed: between plan and
// claim another wave can have shipped the item, and a person have reopened it.
//
// # The model
//
// There are two waves and one or two items. Whenever a wave has a step to do, its process may die instead; every look at another's
// lease may find that it has run out; a push lands or is refused at any time after it was sent, also when its sender is dead; a
// person may reopen an item that is done. A pause is that the others move. A renewal shows only where a
// holder learns by it that its claim is lost: a lapsed claim that is renewed is as it was, and a look at it may find either.
//
// The model permits more than the engine where that costs nothing: a job's lease lapses like a claim's, and a wave whose job
// another has taken goes on while the tracker still names it. Left out is what does not touch the question who ships: agents that
// fail, tests that are red, people who edit an item's text, the remote's refs being moved by others.
//
// Explore visits all states breadth first and checks three properties. Each of the Rules can be turned off, and then a shortest
// trace shows what the rule is for.
package model
