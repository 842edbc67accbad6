package redact

import "bytes"

// value is what is assigned to a secret's name, and what can be seen of it. A long one goes on in rest.
type value struct {
	assignment
	t    *text
	text []byte
	end  int
	long bool
	rest tail
}

// seen is how much of a value is judged. What has more is no word of code.
const seen = 256

// bare is what a value without quotes may have in it, inRow the same where a line has nothing else.
func bare() *class {
	var c class
	for i := range c {
		c[i] = i > ' ' && i != 0x7f
	}
	return c.but("\"'`;&,<>|}")
}

func inRow() *class { return bare().and(";&,<>|}") }

// read finds the end of a value.
func (v *value) read(set *class) outcome {
	if v.quote != 0 {
		v.rest = tail{quote: v.quote, depth: v.depth, within: v.quote != '"' && v.t.quoted(v.opens)}
	} else {
		v.rest = tail{class: set, escapes: true}
	}
	upto := min(len(v.t.b), v.value+seen)
	n, ended := v.rest.eat(v.t.b[v.value:upto], v.t.done && upto == len(v.t.b))
	if !ended && upto == len(v.t.b) && !v.t.done && upto < v.value+seen {
		return more
	}
	v.end, v.long = v.value+n, !ended
	v.text = v.t.b[v.value:v.end]
	if ended {
		v.rest = tail{}
	}
	return yes
}

// last says whether the line, or the text in quotes that it is in, ends after the value.
func (v *value) last() bool {
	return v.end == len(v.t.b) || bytes.IndexByte([]byte("\n\r\\\"'`"), v.t.b[v.end]) >= 0
}

// first says whether nothing but indentation, a list's dash or a command that sets variables stands before the name on its line.
func (v *value) first() bool {
	before := v.t.b[v.t.back(v.begin):v.begin]
	if n := bytes.LastIndexByte(before, '\n'); n >= 0 {
		before = before[n+1:]
	} else if v.t.back(v.begin) > 0 {
		return false
	}
	word := bytes.TrimSpace(before)
	switch string(word) {
	case "", "-", "+", "export", "ENV", "ARG", "set", ">", "<":
		return true
	}
	return false
}

// outside says whether the quote before the value is the end of the JSON string that the name is in.
func (v *value) outside() bool {
	return v.quote == '"' && v.depth%2 == 0 && v.t.quoted(v.opens)
}
