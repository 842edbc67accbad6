package testcount

import (
	"regexp"
	"strconv"
	"strings"
)

// tap reads the Test Anything Protocol, versions 12 to 14, with nested tests. Only numbered points count, and only where their number
// is the one that was planned.
type tap struct {
	version bool
	plans   int
	planned int
	points  int
	parents int // points that hold others, or are a file
	idle    int // points that are skipped or todo
	bail    bool
	nested  [maxNesting + 1]bool // by depth: points one deeper came since the last point
}

// maxNesting is how deep nested tests are followed; each level is four spaces.
const maxNesting = 32

func (*tap) name() string { return "tap" }

var (
	tapPlan  = regexp.MustCompile(`^1\.\.(\d{1,9})( *#.*)?$`)
	tapPoint = regexp.MustCompile(`^(?:not )?ok \d+(?: (.*))?$`)
	tapIdle  = regexp.MustCompile(`(?i)(^|[^\\])# *(skip|todo)`)
	tapFile  = regexp.MustCompile(`^(/|[A-Za-z]:\\).*\.[cm]?[jt]sx?$`) // node's word for a whole file
)

func (t *tap) line(text string) {
	word := strings.TrimLeft(text, " ")
	depth := (len(text) - len(word)) / 4
	switch {
	case strings.HasPrefix(text, "Bail out!"):
		t.bail = true
	case word == "TAP version 13" || word == "TAP version 14":
		t.version = true
	case word == "}":
		t.nested[min(depth+1, maxNesting)] = false
	case strings.HasPrefix(word, "1.."):
		if match := tapPlan.FindStringSubmatch(word); match != nil {
			n, err := strconv.Atoi(match[1])
			t.bail = t.bail || err != nil
			t.plans++
			t.planned = min(t.planned+n, maxTests)
		}
	case strings.HasPrefix(word, "ok ") || strings.HasPrefix(word, "not ok "):
		if match := tapPoint.FindStringSubmatch(word); match != nil {
			t.point(depth, strings.TrimPrefix(match[1], "- "))
		}
	}
}

func (t *tap) point(depth int, description string) {
	t.points++
	if depth >= maxNesting {
		t.bail = true
		return
	}
	// The points that a point holds come before it, or in braces after it.
	parent := t.nested[depth+1] || strings.HasSuffix(description, "{") || tapFile.MatchString(description)
	t.nested[depth+1] = false
	t.nested[depth] = true
	switch {
	case parent:
		t.parents++
	case tapIdle.MatchString(description):
		t.idle++
	}
}

func (t *tap) tally() tally {
	return tally{seen: t.version || t.plans > 0 && t.points > 0, tests: t.points - t.parents - t.idle,
		doubt: t.bail || t.plans == 0 || t.planned != t.points}
}
