package testcount

import (
	"bytes"
	"strings"
)

const junitName = "junit"

// report reads JUnit XML that stands in a stream: documents whose root is testsuites or testsuite. It is a scanner of tags, not a
// parser of XML: what it cannot follow ends in doubt. It keeps one tag at most.
type report struct {
	state   reportState
	tag     []byte // between < and >, the beginning of it
	quote   byte   // that an attribute's value ends with, or 0
	recent  [3]byte
	depth   int // of open elements; 0: outside a document
	cases   int
	idle    int  // that were skipped
	inCase  int  // depth of the case that is open, or 0
	caseRan bool // of that one: nothing says yet that it did not
	result  tally
}

type reportState int

const (
	inText reportState = iota
	inTag
	inComment
	inData // CDATA
)

// tagHead is how much of a tag is looked at: its name, and the attributes that say what became of a case.
const tagHead = 4 << 10

func (r *report) write(p []byte) {
	for i := 0; i < len(p); i++ {
		switch r.state {
		case inText:
			next := bytes.IndexByte(p[i:], '<')
			if next < 0 {
				return
			}
			i += next
			r.state, r.tag, r.quote = inTag, r.tag[:0], 0
		case inTag:
			r.inTag(p[i])
		case inComment, inData:
			r.recent = [3]byte{r.recent[1], r.recent[2], p[i]}
			if r.state == inComment && r.recent == [3]byte{'-', '-', '>'} || r.state == inData && r.recent == [3]byte{']', ']', '>'} {
				r.state, r.recent = inText, [3]byte{}
			}
		}
	}
}

func (r *report) inTag(c byte) {
	switch {
	case c == '<' && r.depth == 0: // a lesser-than sign, and perhaps now a tag
		r.tag, r.quote = r.tag[:0], 0
		return
	case r.quote != 0:
		if c == r.quote {
			r.quote = 0
		}
	case (c == '"' || c == '\'') && (r.depth > 0 || rootTag(r.tag)):
		r.quote = c
	case c == '>':
		r.state = inText
		r.end(string(r.tag))
		return
	}
	if len(r.tag) < tagHead {
		r.tag = append(r.tag, c)
	}
	switch {
	case r.depth == 0:
		if !bytes.HasPrefix([]byte("testsuites"), r.tag[:min(len(r.tag), len("testsuite"))]) {
			r.state = inText // no root of ours
		}
	case string(r.tag) == "!--":
		r.state = inComment
	case string(r.tag) == "![CDATA[":
		r.state = inData
	}
}

// rootTag says whether a tag's name is that of a root.
func rootTag(tag []byte) bool {
	name := tagName(string(tag))
	return name == "testsuites" || name == "testsuite"
}

func tagName(tag string) string {
	end := strings.IndexAny(tag, " \t\r\n/")
	if end < 0 {
		return tag
	}
	return tag[:end]
}

// end takes a whole tag, without its brackets.
func (r *report) end(tag string) {
	switch {
	case r.depth == 0 && !rootTag([]byte(tag)), strings.HasPrefix(tag, "!"), strings.HasPrefix(tag, "?"):
		return
	case strings.HasPrefix(tag, "/"):
		r.close()
		return
	}
	r.result.seen = true
	r.depth++
	switch name := tagName(tag); {
	case name == "testcase" && r.inCase > 0: // cases hold no cases
		r.result.doubt = true
	case name == "testcase":
		r.cases++
		r.inCase, r.caseRan = r.depth, true
		for _, status := range []string{"notrun", "skipped", "disabled"} { // as googletest and others say it
			if strings.Contains(tag, ` status="`+status+`"`) {
				r.didNotRun()
			}
		}
	case r.inCase > 0 && (name == "skipped" || name == "disabled"):
		r.didNotRun()
	}
	if strings.HasSuffix(tag, "/") {
		r.close()
	}
}

func (r *report) didNotRun() {
	if r.caseRan {
		r.idle++
		r.caseRan = false
	}
}

func (r *report) close() {
	if r.depth == r.inCase {
		r.inCase = 0
	}
	r.depth--
}

// tally doubts a document that has no end.
func (r *report) tally() tally {
	r.result.tests = r.cases - r.idle
	r.result.doubt = r.result.doubt || r.depth > 0
	return r.result
}
