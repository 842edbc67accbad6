package redact

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
)

// pattern is a sequence of classes that one look forward matches.
type pattern struct {
	word  bool // must begin where a word can
	steps []step
}

// step is a byte of a class, so many times. It takes all it can get, up to max; max -1 is no bound.
type step struct {
	class    *class
	min, max int
}

// compile reads an expression in RE2 syntax as the patterns that it stands for, one for each choice of its alternations.
func compile(expr string) ([]pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	word := false
	if tree.Op == syntax.OpConcat && tree.Sub[0].Op == syntax.OpWordBoundary {
		word, tree.Sub = true, tree.Sub[1:]
	}
	choices, err := expand(tree)
	if err != nil {
		return nil, fmt.Errorf("pattern %s: %w", expr, err)
	}
	var all []pattern
	for _, steps := range choices {
		p := pattern{word, joined(steps)}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("pattern %s: %w", expr, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// check refuses what only going back could match: a step that takes what the next one needs.
func (p pattern) check() error {
	if len(p.steps) == 0 {
		return errors.New("matches nothing")
	}
	for i, s := range p.steps[:len(p.steps)-1] {
		if s.min == s.max {
			continue
		}
		for c := range s.class {
			if s.class[c] && p.steps[i+1].class[c] {
				return fmt.Errorf("a part of no fixed length is followed by what it can take itself, such as %q", rune(c))
			}
		}
	}
	return nil
}

// expand are the sequences of steps that an expression stands for.
func expand(e *syntax.Regexp) ([][]step, error) {
	switch e.Op {
	case syntax.OpEmptyMatch:
		return [][]step{nil}, nil
	case syntax.OpLiteral:
		var steps []step
		for _, r := range e.Rune {
			c, err := ranges([]rune{r, r}, e.Flags&syntax.FoldCase != 0)
			if err != nil {
				return nil, err
			}
			steps = append(steps, step{c, 1, 1})
		}
		return [][]step{steps}, nil
	case syntax.OpCharClass:
		c, err := ranges(e.Rune, false)
		return [][]step{{{c, 1, 1}}}, err
	case syntax.OpConcat:
		all := [][]step{nil}
		for _, sub := range e.Sub {
			next, err := expand(sub)
			if err != nil {
				return nil, err
			}
			var longer [][]step
			for _, head := range all {
				for _, rest := range next {
					longer = append(longer, slices.Concat(head, rest))
				}
			}
			all = longer
		}
		return all, nil
	case syntax.OpAlternate:
		var all [][]step
		for _, sub := range e.Sub {
			next, err := expand(sub)
			if err != nil {
				return nil, err
			}
			all = append(all, next...)
		}
		return all, nil
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return repeated(e)
	case syntax.OpCapture:
		return nil, errors.New("has a capturing group; write (?:…)")
	}
	return nil, fmt.Errorf("has %s, which one look forward cannot decide", e)
}

func repeated(e *syntax.Regexp) ([][]step, error) {
	low, high := e.Min, e.Max
	switch e.Op {
	case syntax.OpStar:
		low, high = 0, -1
	case syntax.OpPlus:
		low, high = 1, -1
	case syntax.OpQuest:
		low, high = 0, 1
	}
	inner, err := expand(e.Sub[0])
	if err != nil {
		return nil, err
	}
	if len(inner) == 1 && len(inner[0]) == 1 && inner[0][0].min == 1 && inner[0][0].max == 1 {
		return [][]step{{{inner[0][0].class, low, high}}}, nil
	}
	if low == 0 && high == 1 {
		return append([][]step{nil}, inner...), nil
	}
	if low == high && len(inner) == 1 {
		return [][]step{slices.Repeat(inner[0], low)}, nil
	}
	return nil, fmt.Errorf("repeats %s, which is more than a class", e.Sub[0])
}

// ranges is the class of pairs of runes. Beyond ASCII there is none.
func ranges(pairs []rune, fold bool) (*class, error) {
	var c class
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] > 0x7f {
			return nil, fmt.Errorf("has %q, which is not ASCII", pairs[i])
		}
		for r := pairs[i]; r <= min(pairs[i+1], 0x7f); r++ {
			c[r] = true
			if fold && isLetter(byte(r)) {
				c[r^0x20] = true
			}
		}
	}
	return &c, nil
}

// joined makes one step of neighbours of the same class and a fixed count.
func joined(steps []step) []step {
	var all []step
	for _, s := range steps {
		if n := len(all); n > 0 && *all[n-1].class == *s.class && all[n-1].min == all[n-1].max {
			all[n-1].min += s.min
			if all[n-1].max = s.max; s.max >= 0 {
				all[n-1].max = all[n-1].min - s.min + s.max
			}
			continue
		}
		all = append(all, s)
	}
	return all
}
