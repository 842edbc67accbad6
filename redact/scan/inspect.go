package scan

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"unicode/utf8"

	"aesop/redact"
)

const (
	window = 4 << 20  // how much of a text is judged at a time
	around = 64 << 10 // and how much before and behind it is looked at with it: no secret is longer, nor what tells that it is one
)

// spot is a finding in a text, wherever that stands.
type spot struct {
	redact.Finding
	line, column int
	fingerprint  string
}

// content is what is to be known of a text that was read.
type content struct {
	spots  []spot
	sum    string          // SHA-256 in hex
	public bool            // it holds a certificate or a public key, and no private one
	at     map[string]bool // paths at which it was reported
}

// inspect reads a text to its end, whatever its size and whatever bytes it has.
func (r *run) inspect(from io.Reader) (*content, int64, error) {
	c, hash, at, size := &content{at: map[string]bool{}}, sha256.New(), position{line: 1}, int64(0)
	from = io.TeeReader(from, hash)
	text, begin, private := r.buffer[:0], 0, false // begin is where what is not judged yet begins
	for {
		n, err := fill(&text, from)
		size += int64(n)
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		end := len(text)
		if err == nil {
			end -= around // what begins behind it is judged when more is here
		}
		last := begin
		for _, s := range r.spots(text) {
			if s.Start < begin || s.Start >= end {
				continue
			}
			at.pass(text[last:s.Start])
			last = s.Start
			s.line, s.column = at.line, at.column+1
			c.spots = append(c.spots, s)
		}
		at.pass(text[last:end])
		private = private || bytes.Contains(text, []byte("PRIVATE KEY"))
		c.public = c.public || bytes.Contains(text, []byte("-----BEGIN "))
		if err == io.EOF {
			break
		}
		keep := end - around
		text = text[:copy(text, text[keep:])]
		begin = around
	}
	r.buffer = text
	c.public = c.public && !private
	c.sum = hex.EncodeToString(hash.Sum(nil))
	return c, size, nil
}

// spots are what is to be reported of a text, also where it is UTF-16, in the order of its place.
func (r *run) spots(text []byte) []spot {
	all := r.spotsIn(text)
	narrow, runs := narrowed(text)
	if runs == nil {
		return all
	}
	for _, s := range r.spotsIn(narrow) {
		s.Start, s.End = runs.wide(s.Start), runs.wide(s.End-1)+1
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b spot) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

func (r *run) spotsIn(text []byte) (all []spot) {
	for _, f := range r.explain(text) {
		if !harmless(text, f) {
			all = append(all, spot{Finding: f, fingerprint: r.fingerprint(text[f.Start:f.End])})
		}
	}
	return all
}

// fill reads until text is a window with what is around it. At the end of the input the error is io.EOF.
func fill(text *[]byte, from io.Reader) (int, error) {
	const full = window + 2*around
	read := 0
	for len(*text) < full {
		if len(*text) == cap(*text) {
			grown := make([]byte, len(*text), min(full, max(64<<10, 2*cap(*text))))
			copy(grown, *text)
			*text = grown
		}
		n, err := from.Read((*text)[len(*text):min(cap(*text), full)])
		*text = (*text)[:len(*text)+n]
		read += n
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

// inspectText is inspect for what is in memory.
func (r *run) inspectText(text string) (*content, error) {
	c, _, err := r.inspect(bytes.NewReader([]byte(text)))
	return c, err
}

func (r *run) fingerprint(secret []byte) string {
	mac := hmac.New(sha256.New, r.key)
	mac.Write(secret)
	return hex.EncodeToString(mac.Sum(nil)[:5])
}

// position is a place in a text.
type position struct {
	line   int
	column int // characters before it on its line; a byte that is no character counts as one
}

func (p *position) pass(text []byte) {
	if n := bytes.Count(text, []byte("\n")); n > 0 {
		p.line += n
		p.column = 0
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.column += utf8.RuneCount(text)
}
