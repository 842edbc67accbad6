package redact

import "strings"

// inURL is the pattern of the same text as a value in a query, where what is neither a letter nor a digit may be %2F.
func (p pattern) inURL() (in pattern, changed bool) {
	in.word = p.word
	for i, s := range p.steps {
		b, _, one := s.class.single()
		switch {
		case one && b == '=' && s.min != s.max && i == len(p.steps)-1 && i > 0: // of base64; what is before it goes on
			last := &in.steps[len(in.steps)-1]
			last.class, changed = last.class.and("%="), true
			continue
		case one && s.min == s.max && !isWord(b) && strings.IndexByte("-._~", b) < 0:
			for range s.min {
				in.steps = append(in.steps, exactly('%', 0), exactly("0123456789ABCDEF"[b>>4], 0), exactly("0123456789ABCDEF"[b&15], 0x20))
			}
			changed = true
			continue
		case !one && s.class.has(":/+=@?&#%"):
			s.class = s.class.and("%")
			changed = true
		}
		in.steps = append(in.steps, s)
	}
	return in, changed && in.check() == nil
}

// exactly is a step of one byte, or of either case of a letter.
func exactly(b, other byte) step {
	c := classOf(string([]byte{b}))
	if isLetter(b) {
		c[b|other] = true
	}
	return step{c, 1, 1}
}
