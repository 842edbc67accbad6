package redact

// longestStep is how far a step goes that has no bound of its own and is not the last. What is longer is not a token.
const longestStep = 16 << 10

// match matches the pattern from at on. The last step goes on in the tail when it has no bound.
func (p *pattern) match(t *text, at int) (end int, rest tail, o outcome) {
	if p.word && !t.begins(at) {
		return 0, tail{}, no
	}
	i := at
	for k := range p.steps {
		s := &p.steps[k]
		open := s.max < 0 && k == len(p.steps)-1
		limit := s.max
		if open {
			limit = s.min
		} else if limit < 0 {
			limit = longestStep
		}
		n := 0
		for n < limit && i+n < len(t.b) && s.class[t.b[i+n]] {
			n++
		}
		if i+n == len(t.b) && n < limit && !t.done {
			return 0, tail{}, more
		}
		if n < s.min {
			return 0, tail{}, no
		}
		i += n
		if open {
			rest.class = s.class
		}
	}
	return i, rest, yes
}

// isDigest says whether this can be a digest's or a commit's, in lower case as they are mostly written.
func isDigest(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
