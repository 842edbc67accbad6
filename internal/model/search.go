package model

import (
	"fmt"
	"slices"
)

// Rules are the rules of the protocol that can be turned off, to see what they are for.
type Rules struct {
	ItemRef          bool // a push moves the item refs, each from where its sender saw it
	Adopt            bool // an item whose ref is not at the recorded shipment has shipped, and is not shipped again
	RecordUnderClaim bool // the recorded shipment is that of the row that was claimed, not that of the plan before it
	YieldPushed      bool // a resumed wave gives up a lost claim on what it may have pushed, though it could claim it afresh
}

// AllRules is the protocol.
func AllRules() Rules {
	return Rules{ItemRef: true, Adopt: true, RecordUnderClaim: true, YieldPushed: true}
}

// Config bounds a search.
type Config struct {
	Rules
	Items      int // 1 or 2
	Crashes    int
	Reopenings int
	MaxStates  int // more is an error: the search would not be exhaustive
}

// Property is something that must hold.
type Property string

// The properties.
const (
	OneShipment Property = "the remote takes at most one shipment per item and reopening"
	NothingLost Property = "without more crashes an end can be reached in which every item is shipped and done, as often as people wanted it"
	Agreement   Property = "no end in which tracker, store and remote disagree about what shipped"
)

// Violation is a shortest way to a state in which a property does not hold.
type Violation struct {
	Property Property
	Trace    []Move
}

// Result is what a search found.
type Result struct {
	States     int
	Ends       int          // states in which everybody has finished
	Moves      map[Step]int // transitions by what happened
	Crashes    map[Step]int // those that are crashes, by the step that the wave was about to do
	Lapses     map[Step]int // leases found to have run out, by the step that their holder was about to do
	Orphans    int          // pushes that landed after their sender had died
	Violations []Violation  // at most one of each property, in the order of the properties
}

// search is a breadth-first search, so that the first way to a state is a shortest one.
type search struct {
	Config
	seen   map[state]int32
	states []state
	parent []int32
	by     []Move
	edges  [][2]int32 // to, from: without crashes and reopenings
	result Result
}

// Explore visits every state that can be reached.
func Explore(c Config) (Result, error) {
	if c.Items < 1 || c.Items > maxItems {
		return Result{}, fmt.Errorf("explore %d items: the model has 1 to %d", c.Items, maxItems)
	}
	x := search{Config: c, seen: map[state]int32{}, result: Result{Moves: map[Step]int{}, Crashes: map[Step]int{}, Lapses: map[Step]int{}}}
	x.visit(state{crashes: uint8(c.Crashes), reopens: uint8(c.Reopenings)}, -1, Move{})
	for at := 0; at < len(x.states); at++ {
		if len(x.states) > c.MaxStates {
			return Result{}, fmt.Errorf("explore: more than %d states", c.MaxStates)
		}
		x.moves(x.states[at], func(m Move, next state) {
			to := x.visit(next, int32(at), m)
			if m.Do != Crash && m.Do != Reopen {
				x.edges = append(x.edges, [2]int32{to, int32(at)})
			}
			x.count(m)
		})
	}
	x.judge()
	return x.result, nil
}

func (x *search) visit(s state, parent int32, by Move) int32 {
	if at, ok := x.seen[s]; ok {
		return at
	}
	at := int32(len(x.states))
	x.seen[s] = at
	x.states, x.parent, x.by = append(x.states, s), append(x.parent, parent), append(x.by, by)
	return at
}

func (x *search) count(m Move) {
	x.result.Moves[m.Do]++
	for _, l := range m.Lapsed {
		if l.holder != 0 {
			x.result.Lapses[l.at]++
		}
	}
	switch m.Do {
	case Crash:
		x.result.Crashes[m.At]++
	case Land:
		if m.At == Resume || m.At == Ended {
			x.result.Orphans++
		}
	}
}

// judge looks for the first state that violates each property.
func (x *search) judge() {
	x.result.States = len(x.states)
	hopeful := x.canEndWell()
	x.find(OneShipment, func(at int) bool { return x.oneShipment(&x.states[at]) })
	x.find(NothingLost, func(at int) bool { return hopeful[at] })
	x.find(Agreement, func(at int) bool { return !x.states[at].finished() || x.agree(&x.states[at]) })
}

func (x *search) find(p Property, holds func(at int) bool) {
	for at := range x.states {
		if holds(at) {
			continue
		}
		var trace []Move
		for i := int32(at); x.parent[i] >= 0; i = x.parent[i] {
			trace = append(trace, x.by[i])
		}
		slices.Reverse(trace)
		x.result.Violations = append(x.result.Violations, Violation{p, trace})
		return
	}
}

// canEndWell goes backwards from the good ends.
func (x *search) canEndWell() []bool {
	slices.SortFunc(x.edges, func(a, b [2]int32) int { return int(a[0]) - int(b[0]) })
	good := make([]bool, len(x.states))
	var todo []int32
	for at := range x.states {
		if s := &x.states[at]; s.finished() {
			x.result.Ends++
			if x.agree(s) && x.complete(s) {
				good[at], todo = true, append(todo, int32(at))
			}
		}
	}
	for len(todo) > 0 {
		to := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		first, _ := slices.BinarySearchFunc(x.edges, to, func(e [2]int32, to int32) int { return int(e[0]) - int(to) })
		for _, e := range x.edges[first:] {
			if e[0] != to {
				break
			}
			if !good[e[1]] {
				good[e[1]], todo = true, append(todo, e[1])
			}
		}
	}
	return good
}

func (x *search) oneShipment(s *state) bool {
	for i := range x.Items {
		if s.accepted[i] > 1+s.reopened[i] {
			return false
		}
	}
	return true
}

// complete says that every item is done as often as people wanted it. One that was reopened after the last wave had chosen its
// items may also wait in the backlog for the next, where everybody can see it.
func (x *search) complete(s *state) bool {
	for i := range x.Items {
		switch again := s.reopened[i]; {
		case s.rows[i].status == done && s.accepted[i] >= 1+again:
		case s.rows[i].status == todo && again > 0 && s.accepted[i] >= again:
		default:
			return false
		}
	}
	return true
}

func (x *search) agree(s *state) bool {
	for i := range x.Items {
		at := s.remote.item[i]
		if s.rows[i].shipped != at || at != 0 && s.jobs[i].recorded&(1<<at) == 0 {
			return false
		}
	}
	return true
}
