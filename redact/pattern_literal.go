package redact

import "slices"

// spelled are the patterns for each member of the first small class, where the literals alone are too short to search for.
func (p pattern) spelled() []pattern {
	const small = 22
	if word, _, _ := p.literal(); len(word) >= gramSize {
		return []pattern{p}
	}
	for i, s := range p.steps {
		members := s.class.members()
		if len(members) == 1 {
			continue
		}
		if s.min == 0 || len(members) > small {
			break
		}
		rest := []step{{s.class, s.min - 1, max(s.max-1, -1)}}
		if s.max == 1 {
			rest = nil
		}
		var all []pattern
		for _, c := range members {
			first := step{classOf(string([]byte{c})), 1, 1}
			all = append(all, pattern{p.word, slices.Concat(p.steps[:i], []step{first}, rest, p.steps[i+1:])}.spelled()...)
		}
		return all
	}
	return []pattern{p}
}

// literal is the longest word at a fixed place: all its bytes are one byte, or the two cases of one letter.
func (p pattern) literal() (word string, place int, fold bool) {
	at := 0
	for i := 0; i < len(p.steps); {
		s := p.steps[i]
		run, folded, begin := []byte{}, false, at
		for ; i < len(p.steps) && p.steps[i].min == p.steps[i].max; i++ {
			c, both, ok := p.steps[i].class.single()
			if !ok {
				break
			}
			folded = folded || both
			for range p.steps[i].min {
				run = append(run, c)
			}
			at += p.steps[i].min
		}
		if len(run) > len(word) {
			word, place, fold = string(run), begin, folded
		}
		if len(run) == 0 {
			if s.min != s.max {
				break
			}
			at += s.min
			i++
		}
	}
	return word, place, fold
}

// spaced says whether any of the first n bytes that a pattern matches, whose count is fixed, may be white space.
func (p pattern) spaced(n int) bool {
	for _, s := range p.steps {
		if n <= 0 {
			return false
		}
		if s.class.has(" \t\n\v\f\r") {
			return true
		}
		n -= s.min
	}
	return false
}
