package reads

import (
	"fmt"
	"slices"
	"strings"
)

// Names is the fact that a variable or field holds a path of these files.
type Names struct{ Files []string }

// AFact makes Names a fact.
func (*Names) AFact() {}

func (n *Names) String() string { return "names " + strings.Join(n.Files, ", ") }

// Summary is the fact of what a function does with paths.
type Summary struct {
	Returns []string // files whose path may be returned
	Passes  []Input  // what may be in a result
	Reaches []Reach
	Stores  []Store
}

// Input is an argument of a function, or a field in it.
type Input struct {
	Param int    // 0 is the receiver
	Field string // its key; "" is the argument itself
}

// Reach says that an input is a path of something that is touched.
type Reach struct {
	Input Input
	Op    string   // such as os.ReadFile
	Owned []string // files that may be touched so, for it is their owner that does it
}

// Store says that an input may be left in a field.
type Store struct {
	Input Input
	Field string
}

// AFact makes Summary a fact.
func (*Summary) AFact() {}

func (s *Summary) String() string {
	return fmt.Sprintf("returns %v, passes %v, reaches %v, stores %v", s.Returns, s.Passes, s.Reaches, s.Stores)
}

func (s *Summary) empty() bool {
	return len(s.Returns)+len(s.Passes)+len(s.Reaches)+len(s.Stores) == 0
}

// reach adds a Reach that no known one implies, in the place of those that it implies; it says whether it did.
func (s *Summary) reach(more Reach) bool {
	implies := func(a, b Reach) bool { // what is owned in a is owned in b
		return a.Input == b.Input && !slices.ContainsFunc(a.Owned, func(name string) bool { return !slices.Contains(b.Owned, name) })
	}
	if slices.ContainsFunc(s.Reaches, func(known Reach) bool { return implies(known, more) }) {
		return false
	}
	s.Reaches = slices.DeleteFunc(s.Reaches, func(known Reach) bool { return implies(more, known) })
	s.Reaches = append(s.Reaches, more)
	return true
}

// add appends what is not there yet, and says whether it did.
func add[T comparable](to *[]T, more T) bool {
	if slices.Contains(*to, more) {
		return false
	}
	*to = append(*to, more)
	return true
}
