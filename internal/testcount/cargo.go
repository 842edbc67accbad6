package testcount

import (
	"regexp"
	"strings"
)

// cargo reads what each test binary says: "running 3 tests", and in the end "test result: ok. 2 passed; 0 failed; …".
type cargo struct {
	result  tally
	running bool
}

func (*cargo) name() string { return "cargo" }

var (
	cargoBegin = regexp.MustCompile(`^running \d+ tests?$`)
	cargoEnd   = regexp.MustCompile(`^test result: (?:ok|FAILED)\. (\d+ passed; \d+ failed); \d+ ignored; \d+ measured; \d+ filtered out`)
)

func (c *cargo) line(text string) {
	if strings.HasPrefix(text, "running ") && cargoBegin.MatchString(text) {
		c.result.doubt = c.result.doubt || c.running // one that has no end
		c.running = true
		return
	}
	if !strings.HasPrefix(text, "test result: ") {
		return
	}
	match := cargoEnd.FindStringSubmatch(text)
	if match == nil {
		return
	}
	n, ok := sum(strings.Split(match[1], "; "), map[string]bool{"passed": true, "failed": true})
	c.result.seen = true
	c.result.tests += n
	c.result.doubt = c.result.doubt || !ok || !c.running
	c.running = false
}

// tally doubts a run without an end only beside one that has one: the words that begin it are too common.
func (c *cargo) tally() tally {
	c.result.doubt = c.result.doubt || c.running
	return c.result
}
