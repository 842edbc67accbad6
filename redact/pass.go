package redact

import (
	"slices"
	"strings"
)

// pass is one reading of a text from left to right. Passes follow each other, and each sees the markers that those before it left. It
// does not change once it is made.
type pass struct {
	set     grams
	index   [1 << 15]uint16 // by three bytes: the place in anchors
	anchors [][]anchor
	at      look     // at each @; nil: none
	reach   int      // how far before the place where it is found a match may begin
	wide    int      // how much of the end of a text waits whatever is in it
	spaced  []anchor // those with white space before the end of their three bytes
}

// anchor is a word that stands in every text that a look can match.
type anchor struct {
	word string
	fold bool // whatever the case; word is lower case
	off  int  // of the three bytes in word
	back int  // how far before word a match may begin
	look look // at the beginning of word
}

func newPass(reach int) *pass { return &pass{anchors: make([][]anchor, 1), reach: reach} }

func (p *pass) add(word string, fold bool, back int, look look) {
	off := rarest(word)
	p.reach = max(p.reach, off+back+escapes)
	gram := gramOf(word[off:])
	if !p.set[gram] {
		p.set[gram], p.index[gram] = true, uint16(len(p.anchors))
		p.anchors = append(p.anchors, nil)
	}
	at := p.index[gram]
	a := anchor{word, fold, off, back, look}
	p.anchors[at] = append(p.anchors[at], a)
	if strings.ContainsFunc(word[:off+gramSize], func(c rune) bool { return c < 0x80 && isSpace(byte(c)) }) {
		p.spaced = append(p.spaced, a)
	}
}

// copy is a pass to which anchors can be added while others read the first.
func (p *pass) copy() *pass {
	other := *p
	other.spaced = slices.Clip(p.spaced)
	other.anchors = make([][]anchor, len(p.anchors))
	for n, anchors := range p.anchors {
		other.anchors[n] = slices.Clip(anchors)
	}
	return &other
}

// sorted puts the anchors of a place in an order in which no match hides a longer one.
func (p *pass) sorted() *pass {
	longer := func(a, b anchor) int { return len(b.word) - len(a.word) }
	for n, anchors := range p.anchors {
		if !slices.IsSortedFunc(anchors, longer) {
			p.anchors[n] = slices.Clone(anchors)
			slices.SortStableFunc(p.anchors[n], longer)
		}
	}
	return p
}

// next is the first match whose anchor is at or after from. Else place is where to go on once there is more text; with more, the match
// may begin at m.start.
func (p *pass) next(t *text, from int) (m match, place int, o outcome) {
	if len(p.anchors) == 1 && p.at == nil { // there is nothing to look for
		return match{}, len(t.b), no
	}
	i := p.nextHit(t, from)
	for {
		if p.at != nil {
			at := t.nextAt(from)
			if at < len(t.b) && (at <= i || t.done && i+gramSize > len(t.b)) {
				switch m, o := p.at(t, at); o {
				case yes:
					return m, at, yes
				case more:
					return match{start: at - context}, at, more
				}
				from = at + 1
				continue
			}
		}
		if i+gramSize > len(t.b) {
			return match{}, max(from, i), no
		}
		anchors := p.anchors[p.index[gramAt(t.b, i)]]
		for n := range anchors {
			start := i - anchors[n].off
			switch m, o := anchors[n].try(t, start); o {
			case yes:
				return m, i, yes
			case more:
				return match{start: start - anchors[n].back - escapes}, i, more
			}
		}
		from = i + 1
		i = p.nextHit(t, from)
	}
}

// nextHit is the first place at or after from that needs a look.
func (p *pass) nextHit(t *text, from int) int {
	if t.hit < from {
		t.hit = p.set.next(t.b, from)
	}
	return t.hit
}

func (a *anchor) try(t *text, start int) (match, outcome) {
	if start < t.edge {
		return match{}, no
	}
	n := a.common(t.b[start:])
	switch {
	case n == len(a.word):
		return a.look(t, start)
	case start+n == len(t.b) && !t.done:
		return match{}, more
	}
	return match{}, no
}

// common is how much of the word b begins with.
func (a *anchor) common(b []byte) (n int) {
	for n < len(a.word) && n < len(b) {
		c := b[n]
		if a.fold {
			c = lower(c)
		}
		if c != a.word[n] {
			break
		}
		n++
	}
	return n
}

// hold is how much of the end of a text must wait, since an anchor that is still to come may make it part of a match.
func (p *pass) hold(b []byte) int {
	n, most := min(p.wide, len(b)), p.reach+2
	if p.at != nil {
		most = max(most, context)
	}
	for n < len(b) && n < most && !isSpace(b[len(b)-1-n]) {
		n++
	}
	for _, a := range p.spaced {
		for k := min(a.off+gramSize-1, len(b)); k > n; k-- {
			if a.common(b[len(b)-k:]) == k {
				n = min(k+escapes, len(b))
			}
		}
	}
	return n
}

// reading is how far a pass has come in a text.
type reading struct {
	text
	from int // where it goes on looking
	sent int // what is before is handed on, or taken out
	tail tail
}

// read appends to dst what can be handed on. note, unless nil, hears of each match, and where in dst its marker stands.
func (p *pass) read(r *reading, dst []byte, note func(m match, marker int)) []byte {
	for {
		if !r.tail.none() {
			n, ended := r.tail.eat(r.b[r.sent:], r.done)
			r.sent += n
			r.from, r.edge, r.counted = r.sent, r.sent, r.sent
			if note != nil {
				note(match{end: r.sent}, 0)
			}
			if !ended {
				return dst
			}
			r.tail = tail{}
		}
		m, place, o := p.next(&r.text, r.from)
		if o != yes {
			r.from = place
			upto := len(r.b)
			if o == more {
				upto = max(m.start, 0)
			}
			if o == more || !r.done {
				upto -= p.hold(r.b[:upto]) // of which an anchor to come may still be a part
			}
			if upto > r.sent {
				dst = append(dst, r.b[r.sent:upto]...)
				r.sent = upto
			}
			return dst
		}
		dst = append(dst, r.b[r.sent:m.start]...)
		if note != nil {
			note(m, len(dst))
		}
		dst = append(dst, m.rule.marker...)
		r.takeOut(m)
	}
}

// takeOut goes over a match. What is counted and seen of the text before is from now on what is handed on.
func (r *reading) takeOut(m match) {
	r.count(m.start)
	r.kept = append(append(r.kept, r.b[max(r.edge, m.start-context, 0):m.start]...), m.rule.marker...)
	if n := len(r.kept) - context; n > 0 {
		r.kept = r.kept[:copy(r.kept, r.kept[n:])]
	}
	r.sent, r.from, r.edge, r.counted, r.tail = m.end, m.end, m.end, m.end, m.tail
}
