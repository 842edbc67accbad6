package testcount

import (
	"regexp"
	"strings"
)

// pytest reads the line that ends a session, such as "== 3 passed, 1 skipped in 0.02s ==".
type pytest struct{ result tally }

func (*pytest) name() string { return "pytest" }

var (
	pytestEnd   = regexp.MustCompile(`^(?:=+ )?(.+) in \d+\.\d\ds(?: \(\d+:\d\d:\d\d\))?(?: =+)?$`)
	pytestNone  = regexp.MustCompile(`^no tests (ran|collected)( \(\d+ deselected\))?$`)
	pytestFound = regexp.MustCompile(`^\d+(/\d+)? tests? collected( \(\d+ deselected\))?$`) // and not run
)

func (p *pytest) line(text string) {
	if !strings.Contains(text, " in ") {
		return // most lines, without the cost of a pattern
	}
	match := pytestEnd.FindStringSubmatch(text)
	if match == nil {
		return
	}
	if pytestNone.MatchString(match[1]) || pytestFound.MatchString(match[1]) {
		p.result.seen = true
		return
	}
	executed := map[string]bool{"passed": true, "failed": true, "xfailed": true, "xpassed": true,
		"skipped": false, "deselected": false, "error": false, "errors": false, "warning": false, "warnings": false, "rerun": false}
	if n, ok := sum(strings.Split(match[1], ", "), executed); ok {
		p.result.seen = true
		p.result.tests += n
	}
}

func (p *pytest) tally() tally { return p.result }
